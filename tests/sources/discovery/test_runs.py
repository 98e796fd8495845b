"""The files that make a run."""

import json
import os
from pathlib import Path

import pytest

from loganalyst.errors import SourceError
from loganalyst.opening import LEADS_OUT
from loganalyst.sources.discovery.runs import discover, runs


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


def names(root: Path) -> list[str]:
    return [f.relative_to(root).as_posix() for f in discover(root).files]


def test_logs_and_configs_are_taken_and_the_rest_left(tmp_path: Path) -> None:
    """Metrics, logs and settings belong to the run; readmes, vocabularies and trackers' own debug logs do not."""
    touch(tmp_path, "metrics.csv", "config.yaml", "train.log", "README.md", "vocab.txt", "debug-internal.log", "a.py")

    assert names(tmp_path) == ["config.yaml", "metrics.csv", "train.log"]


def test_phases_are_one_run(tmp_path: Path) -> None:
    """`train/` and `validation/` siblings are two parts of one run."""
    touch(tmp_path, "train/events.out.tfevents.1.a", "validation/events.out.tfevents.2.a")

    assert len(names(tmp_path)) == 2


def test_several_runs_are_named(tmp_path: Path) -> None:
    """A folder of runs is refused, and the runs in it are named."""
    touch(tmp_path, "version_0/metrics.csv", "version_1/metrics.csv")

    with pytest.raises(SourceError, match=r"holds 2 runs; name one of them: version_0, version_1"):
        discover(tmp_path)


def test_checkpoint_histories_count_once(tmp_path: Path) -> None:
    """Hugging Face writes a copy into each checkpoint: only the top one is read, and the others are reported."""
    touch(tmp_path, "trainer_state.json", "checkpoint-500/trainer_state.json", "checkpoint-1000/trainer_state.json")
    found = discover(tmp_path)

    assert [f.parent for f in found.files] == [tmp_path]
    assert len(found.ignored) == 2


def test_latest_checkpoint_history_without_a_top_one(tmp_path: Path) -> None:
    """Without a history at the top, that of the latest checkpoint is the longest."""
    touch(tmp_path, "checkpoint-500/trainer_state.json", "checkpoint-1000/trainer_state.json")

    assert names(tmp_path) == ["checkpoint-1000/trainer_state.json"]


def test_links_out_of_the_run_are_not_followed(tmp_path: Path) -> None:
    """A link that leads out of the run is a gap, not read; linked folders (W&B's latest-run) are not walked."""
    outside, run = tmp_path / "outside.csv", tmp_path / "run"
    touch(tmp_path, "outside.csv", "run/metrics.csv", "elsewhere/other.csv")
    (run / "link.csv").symlink_to(outside)
    (run / "latest-run").symlink_to(tmp_path / "elsewhere")
    found = discover(run)

    assert [f.name for f in found.files] == ["metrics.csv"]
    assert found.unread == ((run / "link.csv", LEADS_OUT),)
    assert found.ignored == (f"{run / 'latest-run'}: {LEADS_OUT}",)


def test_symlink_loop_ends(tmp_path: Path) -> None:
    """A folder that links to itself is walked once."""
    touch(tmp_path, "metrics.csv")
    (tmp_path / "loop").symlink_to(tmp_path)

    assert names(tmp_path) == ["metrics.csv"]


def test_missing_path_names_the_nearest(tmp_path: Path) -> None:
    """The error for a missing path has the nearest existing name."""
    touch(tmp_path, "exp42/metrics.csv")

    with pytest.raises(SourceError, match=r"exp24: no such file or directory; did you mean 'exp42'\?"):
        discover(tmp_path / "exp24")


def test_empty_directory(tmp_path: Path) -> None:
    """The error for an empty directory lists the formats that can be read."""
    with pytest.raises(SourceError, match="is an empty directory; readable are TensorBoard"):
        discover(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_directory_without_permission(tmp_path: Path) -> None:
    """A directory that may not be read is one clear error."""
    (tmp_path / "run").mkdir(mode=0)

    with pytest.raises(SourceError, match="permission"):
        discover(tmp_path / "run")


def test_checkpoints_are_listed_not_read(tmp_path: Path) -> None:
    """Weights are listed with the run."""
    touch(tmp_path, "metrics.csv", "step=100.ckpt", "model.safetensors")
    found = discover(tmp_path)

    assert sorted(f.name for f in found.checkpoints) == ["model.safetensors", "step=100.ckpt"]


LISTS = json.dumps({"train_losses": [2.0, 1.5, 1.0], "val_losses": [2.1, 1.7, 1.4]})


def test_the_only_file_with_curves_of_a_named_folder(tmp_path: Path) -> None:
    """Its name says nothing. The reason is stated."""
    touch(tmp_path, "model.py")
    (tmp_path / "lists.json").write_text(LISTS)
    (tmp_path / "words.json").write_text('["a", "b"]')
    found = discover(tmp_path)

    assert names(tmp_path) == ["lists.json"]
    assert found.root == tmp_path
    assert found.basis == ("lists.json: the only file of the folder that holds curves, by its content",)
    assert not [*runs(tmp_path)]  # an audit takes no such file for a run
    with pytest.raises(SourceError, match="name the file itself"):
        discover(tmp_path, by_content=False)


def test_several_files_with_curves_or_many_files_are_not_searched(tmp_path: Path) -> None:
    for folder, files in (("two", ["a.json", "b.json"]), ("many", [f"{i}.py" for i in range(10)] + ["a.json"])):
        (tmp_path / folder).mkdir()
        for name in files:
            (tmp_path / folder / name).write_text(LISTS if name.endswith(".json") else "pass\n")
        with pytest.raises(SourceError, match=r"no known log format|name one of them: a.json, b.json"):
            discover(tmp_path / folder)
