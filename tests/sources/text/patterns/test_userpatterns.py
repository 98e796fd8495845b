"""Patterns in a user's folder of rules."""

import re
from pathlib import Path

import pytest

from loganalyst.sources.text.patterns import catalogue, userpatterns

CATALOGUE = catalogue.catalogue()


ONE = """family: own
patterns:
  - id: own-fault
    label: code_exception
    part: root
    literals: ["fault"]
    regex: 'own (?P<kind>\\w+) fault'
    tests:
      match: ["own big fault"]
      no_match: ["no fault"]
"""


def written(folder: Path, text: str) -> Path:
    (folder / "text").mkdir()
    (folder / "text" / "own.yaml").write_text(text)
    return folder


def test_a_users_pattern_is_loaded(tmp_path: Path) -> None:
    """A user's pattern goes before ours of the same part."""
    written(tmp_path, ONE)
    (mine,) = set(userpatterns.known(userpatterns.find([tmp_path]))) - set(CATALOGUE)

    assert (mine.id, mine.label, mine.part, mine.literals) == ("own-fault", "code_exception", "root", ("fault",))
    assert next(p for p in userpatterns.known(userpatterns.find([tmp_path])) if p.part == "root") is mine
    assert userpatterns.faults(userpatterns.find([tmp_path])) == ()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("own (?P<kind>\\w+) fault", "own (?=big) fault"), r"own\.yaml:7: not a regex: .*look-around"),
        (("own (?P<kind>\\w+) fault", "own (big fault"), r"own\.yaml:7: not a regex: .*unclosed group"),
        (("    regex:", "    regexp:"), r"own\.yaml:7: unknown key 'regexp'; did you mean 'regex'"),
        (("code_exception", "code_exeption"), r"own\.yaml:4: label is 'code_exeption'; did you mean 'code_exc"),
        (("part: root", "part: rout"), r"own\.yaml:5: part is 'rout'; did you mean 'root'"),
        (('["fault"]', "[]"), r"own\.yaml:6: no literals"),
        (("      no_match:", "      nomatch:"), r"unknown key 'nomatch'; did you mean 'no_match'"),
    ],
)
def test_a_bad_pattern_is_refused(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    """The error names the place of the mistake and the nearest allowed word."""
    (fault,) = userpatterns.faults(userpatterns.find([written(tmp_path, ONE.replace(*change))]))

    assert re.search(f"(?s){expected}", str(fault))
    assert userpatterns.known(userpatterns.find([tmp_path])) == CATALOGUE


def test_an_id_is_unique(tmp_path: Path) -> None:
    """Two patterns of one id are refused, naming both places."""
    doubled = ONE + ONE.split("patterns:\n")[1]

    (fault,) = userpatterns.faults(userpatterns.find([written(tmp_path, doubled)]))

    assert re.search(r"own\.yaml:11: pattern 'own-fault' is defined twice; first at .*own\.yaml:3", str(fault))
    assert len(userpatterns.known(userpatterns.find([tmp_path]))) == len(CATALOGUE) + 1
