"""loganalyst.yaml: the user's corrections."""

from datetime import date
from pathlib import Path

import pytest

from loganalyst.errors import RuleError, SourceError
from loganalyst.settings import Ignore, Settings, find


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "loganalyst.yaml").write_text(text)
    (folder / "run").mkdir(exist_ok=True)
    return folder


def test_all_keys(tmp_path: Path) -> None:
    """Every correction is read with its type."""
    write(
        tmp_path,
        "roles: {x: train_loss}\nloss_terms: {'phys_*': 0.1}\ndirection: {score: down}\n"
        "ignore: [{rule: loss-spikes, runs: 'exp*', reason: known, until: 2030-01-31}]\nrules: [mine]\n",
    )
    found = find(tmp_path / "run")

    assert found.roles == {"x": "train_loss"}
    assert found.corrections() == {"phys_*": "loss_component", "x": "train_loss"}
    assert found.direction == {"score": "down"}
    assert found.ignore == (Ignore("loss-spikes", "exp*", "known", date(2030, 1, 31)),)
    assert found.rules == (tmp_path / "mine",)


def test_the_nearest_wins(tmp_path: Path) -> None:
    """A file hides those above it; one in the run itself counts only where it is trusted."""
    write(tmp_path, "direction: {x: up}")
    write(tmp_path / "exp", "direction: {x: down}")

    assert find(tmp_path / "exp" / "run").direction == {"x": "down"}
    assert find(tmp_path / "exp").direction == {"x": "up"}
    assert find(tmp_path / "exp", trusted=True).direction == {"x": "down"}


def test_nothing_found_is_no_correction(tmp_path: Path) -> None:
    """Without a file nothing is corrected."""
    assert find(tmp_path / "run") == Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("role: {}", r"loganalyst.yaml:1: unknown key 'role'; did you mean 'roles'\?"),
        ("direction: {x: sideways}", r"loganalyst.yaml:1: x is 'sideways'; up or down"),
        ("loss_terms: {x: much}", r"loganalyst.yaml:1: x is 'much'; a number"),
        ("roles: [x]", r"loganalyst.yaml:1: roles is a list; a mapping"),
        ("\nignore: [{runs: x}]", r"loganalyst.yaml:2: missing rule"),
        ("ignore: [{rule: x, until: soon}]", r"until is 'soon'; a date"),
        ("roles: {x: y}\nroles: {}", r"loganalyst.yaml:2: key 'roles' stands twice"),
        ("roles: {", r"loganalyst\.yaml:2: not valid YAML"),
    ],
)
def test_an_invalid_file_is_reported_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    """Errors name file, line, what was found and what is allowed."""
    write(tmp_path, text)

    with pytest.raises(RuleError, match=message):
        find(tmp_path / "run")


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    """--config with a missing file is an error, not silence."""
    with pytest.raises(SourceError, match=r"no such file; --config takes a loganalyst\.yaml"):
        find(tmp_path, tmp_path / "other.yaml")


@pytest.mark.parametrize(
    ("entry", "accepted"),
    [
        (Ignore("oom"), "oom: accepted, says s.yaml"),
        (Ignore("oom", runs="*/sweep/*", reason="known"), "oom: known, says s.yaml"),
        (Ignore("oom", runs="a", until=date(2026, 5, 2)), "oom: accepted (until 2026-05-02), says s.yaml"),
        (Ignore("oom", until=date(2026, 4, 30)), None),
        (Ignore("oom", runs="*/other/*"), None),
    ],
)
def test_accepted_rules_of_a_run(entry: Ignore, accepted: str | None) -> None:
    """By path or name, until a day."""
    found = Settings(ignore=(entry,), path=Path("s.yaml")).accepted(Path("/x/sweep/a"), "a", date(2026, 5, 1))

    assert found.get("oom") == accepted


def test_ignored_rules_that_do_not_exist() -> None:
    settings = Settings(ignore=(Ignore("oom-gpu"), Ignore("s3cret")), path=Path("s.yaml"))

    assert list(settings.unknown_ignores(["oom-gpu", "secret"], quoted=True)) == [
        "s.yaml: ignore names 's3cret', which is no rule; did you mean 'secret'?"
    ]
    assert list(settings.unknown_ignores(["oom-gpu"], quoted=False)) == ["s.yaml: ignore names what is no rule"]
