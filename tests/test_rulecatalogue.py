"""The rules and patterns in force. The commands are tested in test_rules_command.py and test_own_patterns.py."""

from pathlib import Path

import pytest

from loganalyst import rulecatalogue
from loganalyst.errors import RuleError
from loganalyst.model import Features
from loganalyst.settings import Settings

PATTERN = """family: site
patterns:
  - id: site-error
    label: config_error
    part: root
    literals: ["SITE ERROR"]
    regex: '^SITE ERROR \\d+'
    tests:
      match: ["SITE ERROR 7"]
      no_match: ["SITE ERROR none"]
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A folder with one rule and one pattern of the user's."""
    folder = tmp_path / "rules"
    rulecatalogue.new_rule("my-cause", folder=folder)
    (folder / "text").mkdir()
    (folder / "text/site.yaml").write_text(PATTERN)
    return folder


def test_rules_of_the_user_are_in_force(rules: Path) -> None:
    known = rulecatalogue.catalogue((rules,))

    assert known.problems == ()
    assert known.rules["my-cause"].path == rules / "own/my-cause.yaml"
    assert "my-cause" not in rulecatalogue.catalogue().rules
    assert rulecatalogue.explain("my-cause", [rules])["id"] == "my-cause"


def test_an_unknown_rule_names_the_nearest() -> None:
    with pytest.raises(RuleError, match="did you mean 'lr-too-high'"):
        rulecatalogue.explain("lr-to-high")


@pytest.mark.parametrize(("id_", "why"), [("lr-too-high", "is a rule of ours"), ("my-cause", "exists already")])
def test_a_new_rule_replaces_nothing(rules: Path, id_: str, why: str) -> None:
    with pytest.raises(RuleError, match=why):
        rulecatalogue.new_rule(id_, folder=rules)


def test_patterns_of_the_user_are_counted_and_tested(rules: Path) -> None:
    def no_run(_: Path) -> Features:
        return Features({})

    assert rulecatalogue.pattern_count([rules]) == rulecatalogue.pattern_count() + 1
    assert rulecatalogue.pattern_faults([rules]) == ()
    outcomes = [outcome for outcome in rulecatalogue.rule_tests((), [rules], no_run) if outcome.rule == "site-error"]
    assert [outcome.passed for outcome in outcomes] == [True] * len(outcomes) != []


def test_faults_of_a_foreign_folder_quote_nothing(rules: Path) -> None:
    (rules / "text/site.yaml").write_text(PATTERN.replace("part: root", "part: s3cret"))

    assert "s3cret" not in "".join(rulecatalogue.pattern_faults((), [rules]))
    assert rulecatalogue.pattern_faults([rules]) != ()


def test_files_that_have_a_say_are_listed(rules: Path, tmp_path: Path) -> None:
    corrected = Settings(roles={"x": "train_loss"}, path=tmp_path / "loganalyst.yaml")
    found = rulecatalogue.obeyed(corrected, rulecatalogue.catalogue((rules,)), [rules])

    assert [(file.file, file.what) for file in found] == [
        (str(tmp_path / "loganalyst.yaml"), "1 role"),
        (str(rules), "1 rule and 1 pattern of log lines"),
    ]
