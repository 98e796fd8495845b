"""The checked rules as msgpack are the same rules again, wherever the folder lies."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from loganalyst.diagnosis import compiledrules, load_catalogue
from loganalyst.diagnosis.catalogue import entries
from loganalyst.diagnosis.catalogueentries import Entries
from loganalyst.features import declared
from loganalyst.rulefiles import rules_dir
from tests.diagnosis.test_notes import HOT


@pytest.fixture(scope="module")
def checked() -> Entries:
    return entries(declared(), rules_dir())


def test_they_are_the_same_again(checked: Entries) -> None:
    """Each rule, symptom, note and experiment, with the types of all values."""
    again = compiledrules.decoded(compiledrules.encoded(checked))

    assert again == checked
    assert repr(again) == repr(checked)


def test_the_catalogue_made_of_them_is_the_same(checked: Entries) -> None:
    """Also the fitted weights, and the SQL of each question."""
    ours = compiledrules.decoded(compiledrules.encoded(checked))
    parsed = load_catalogue(declared(), [rules_dir()])
    made = load_catalogue(declared(), [rules_dir()], ours=ours)

    assert made == parsed
    assert [ask.sql for ask in made.questions] == [ask.sql for ask in parsed.questions]
    assert made.unanswered == replace(parsed, settled={}).unanswered


def test_a_rule_of_the_user_is_checked_against_them(checked: Entries, tmp_path: Path) -> None:
    """A taken id is refused, with the place of ours."""
    ours = compiledrules.decoded(compiledrules.encoded(checked))
    (tmp_path / "own").mkdir()
    text = (rules_dir() / "optimisation/lr-too-high.yaml").read_text().replace("family: optimisation", "family: own")
    (tmp_path / "own" / "lr-too-high.yaml").write_text(text)
    found = load_catalogue(declared(), [rules_dir(), tmp_path], ours=ours)

    assert found.rules["lr-too-high"].path == rules_dir() / "optimisation/lr-too-high.yaml"
    assert [problem for problem in found.problems if "is taken by" in problem] != []


def test_the_entries_of_the_user_are_not_added_to_ours(checked: Entries, tmp_path: Path) -> None:
    """Ours are loaded once for all folders of users."""
    (tmp_path / "notes.yaml").write_text(HOT)
    found = load_catalogue(declared(), [rules_dir(), tmp_path], ours=checked)

    assert "hot" in found.notes
    assert "hot" not in checked.notes


def test_no_path_of_this_machine_is_in_them(checked: Entries) -> None:
    """A wheel is built in one place and installed in another."""
    assert str(rules_dir()).encode() not in compiledrules.encoded(checked)


def test_others_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        compiledrules.decoded(msgspec.msgpack.encode({"rules": {"x": {"id": 1}}}))
