"""The user's loganalyst.yaml for each run, and the folders in which it is the user's."""

import os
from pathlib import Path

import pytest

from loganalyst.store.corrections import Corrections, Nearest, folders


def test_a_changed_file_changes_the_stamp(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    (tmp_path / "a").mkdir()
    assert Nearest([root]).corrections(f"{root}/a") == Corrections()
    file = tmp_path / "loganalyst.yaml"
    file.write_text("ignore: [{rule: lr-too-high}]\n")
    first = Nearest([root]).corrections(f"{root}/a")
    file.write_text("ignore: [{rule: lr-too-low}]\n")
    second = Nearest([root]).corrections(f"{root}/a")

    assert first.chosen.file == f"{root}/loganalyst.yaml"
    assert (first.patterns, first.rules) == ("", ())
    assert len({first.stamp, second.stamp, ""}) == 3


def test_an_invalid_file_still_has_a_stamp(tmp_path: Path) -> None:
    """The run is judged again when the file is corrected."""
    root = os.path.realpath(tmp_path)
    (tmp_path / "loganalyst.yaml").write_text("nonsense: 1\n")
    found = Nearest([root]).corrections(f"{root}/a")

    assert found.stamp
    assert found.rules == ()


@pytest.mark.parametrize(
    ("named", "roots", "folder"),
    [
        ("experiments", ["experiments/a", "experiments/b"], "experiments"),
        ("experiments", ["experiments/a"], "experiments"),
        ("experiments/a", ["experiments/a"], "experiments"),  # a run: what lies in it came with it
        ("work", ["work/wandb/run-1"], "."),  # the working directory of a single run
    ],
)
def test_folders_of_the_user(tmp_path: Path, named: str, roots: list[str], folder: str) -> None:
    for root in roots:
        (tmp_path / root).mkdir(parents=True, exist_ok=True)

    assert folders({str(tmp_path / named): [str(tmp_path / root) for root in roots]}) == [
        os.path.normpath(tmp_path / folder)
    ]
