"""The rules and patterns in force. The commands are tested in test_rules_command.py and test_own_patterns.py."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from loganalyst import rulecatalogue, rulefiles
from loganalyst.errors import RuleError
from loganalyst.model import Features
from loganalyst.settings import Settings
from tests.commandline import called

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


def test_patterns_of_the_user_are_counted_and_tested(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the tests of rules; those of our own take a minute and are run elsewhere."""
    monkeypatch.setattr(rulecatalogue, "check_rules", lambda *_: [])

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


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A run, and an empty cache folder of the user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.csv").write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(99)))
    rulefiles.compiled.cache_clear()
    yield tmp_path / "run"
    rulefiles.compiled.cache_clear()


def test_the_compiled_catalogue_is_kept_once(uncompiled: Path, tmp_path: Path) -> None:
    """After a diagnosis, which it does not change; later ones use the file and leave it alone."""
    first = called("diagnose", uncompiled)
    kept = list((tmp_path / "cache" / "loganalyst").glob("*.msgpack"))
    made = kept[0].stat()
    again = called("diagnose", uncompiled)

    assert len(kept) == 1
    assert (kept[0].stat().st_ino, kept[0].stat().st_mtime_ns) == (made.st_ino, made.st_mtime_ns)
    assert rulefiles.compiled() is not None
    assert again == first


def test_the_search_for_literals_is_kept_beside_it(uncompiled: Path, tmp_path: Path) -> None:
    """Each of two fresh processes answers the same; the second one compiles nothing and leaves the file alone."""
    (uncompiled / "train.log").write_text("start\nRuntimeError: CUDA out of memory\n")
    command = [sys.executable, "-m", "loganalyst.cli", "diagnose", "--exit-zero", str(uncompiled)]
    first, made = subprocess.run(command, capture_output=True, check=True), []
    for _ in range(2):
        made += [path.stat().st_mtime_ns for path in (tmp_path / "cache" / "loganalyst").glob("*.literals")]
        again = subprocess.run(command, capture_output=True, check=True)

    assert made == made[:1] * len(made)
    assert len(made) == (2 if find_spec("hyperscan") else 0)
    assert (again.stdout, again.stderr) == (first.stdout, b"")


@pytest.mark.parametrize("place", ["run", "run/deeper/cache", "marked/cache"])
def test_nothing_is_kept_in_a_run(
    uncompiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Neither in the one that was read, nor in a folder that a logger marked as one."""
    (tmp_path / "marked").mkdir()
    (tmp_path / "marked" / "events.out.tfevents.1700000000.host.1.0").write_bytes(b"x" * 50)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / place))
    before = sorted(tmp_path.rglob("*"))

    assert called("diagnose", uncompiled).err == ""
    assert sorted(tmp_path.rglob("*")) == before
