"""One folder of a walk: its files by kind, and the marks of loggers."""

import os
from pathlib import Path

import pytest

from loganalyst.opening import LEADS_OUT
from loganalyst.sources.discovery.folder import Folder, encodable, scan, writers


def scanned(path: Path, links: set[str] | None = None) -> Folder:
    real = os.path.realpath(path)
    return scan(str(path), path.name, 0, "", real_root=real, links=set() if links is None else links)


def touch(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return root


def test_files_by_kind(tmp_path: Path) -> None:
    found = scanned(touch(tmp_path, "metrics.csv", "a.out", "config.yaml", "a.ckpt", "notes.txt", "m.db", "x.py"))
    group = found.group

    assert [os.path.basename(path) for path, _ in group.curves] == ["metrics.csv"]
    assert [os.path.basename(p) for p in (*group.logs, *group.settings, *group.checkpoints)] == [
        "a.out",
        "config.yaml",
        "a.ckpt",
    ]
    assert [os.path.basename(p) for p in (*found.notes, *found.databases)] == ["notes.txt", "m.db"]
    assert sorted(map(os.path.basename, group.files())) == ["a.out", "config.yaml", "metrics.csv"]


def test_hidden_and_foreign_folders_are_not_walked(tmp_path: Path) -> None:
    touch(tmp_path, "b/x", "a/x", ".git/x", ".hydra/x", "node_modules/x", "latest-run/x")

    assert scanned(tmp_path).inner == ["latest-run", "b", "a", ".hydra"]  # the last one is walked first


@pytest.mark.parametrize(
    ("files", "marked"),
    [
        (["metrics.csv"], False),
        (["run-3f9a.wandb"], True),
        (["params.json", "result.json"], True),
        (["args.yaml", "results.csv"], True),
        (["trainer_state.json"], True),
        ([".hydra/config.yaml"], True),
        (["meta.yaml", "metrics/loss"], True),
    ],
)
def test_marks_of_loggers(tmp_path: Path, files: list[str], marked: bool) -> None:
    assert scanned(touch(tmp_path, *files)).marked is marked


def test_links(tmp_path: Path) -> None:
    touch(tmp_path, "run/logs/b.log", "outside/a.log", "outside/data/x")
    run, links = tmp_path / "run", set[str]()
    (run / "config.yaml").symlink_to("logs/b.log")
    (run / "b.log").symlink_to("logs/b.log")
    (run / "a.log").symlink_to("../outside/a.log")
    (run / "data").symlink_to("../outside/data")
    (run / "train").symlink_to("../outside")
    group = scanned(run, links).group

    assert links == {str(run / "config.yaml")}
    assert group.settings == [str(run / "config.yaml")]
    assert sorted(group.unread) == [(str(run / name), LEADS_OUT) for name in ("a.log", "data", "train")]
    assert group.ignored == [f"{run}/b.log: a link to {os.path.realpath(run)}/logs/b.log"]


def test_a_link_to_data_is_no_gap_of_a_run(tmp_path: Path) -> None:
    """A link to a part of the run is one."""
    touch(tmp_path, "run/metrics.csv", "outside/x")
    for name in ("data", "train"):
        (tmp_path / "run" / name).symlink_to("../outside")
    group = scanned(tmp_path / "run").group

    assert group.unread == [(str(tmp_path / "run/train"), LEADS_OUT)]
    assert group.ignored == [f"{tmp_path}/run/data: {LEADS_OUT}"]


def test_an_empty_result_of_ray_is_no_reason_to_leave_the_table_out(tmp_path: Path) -> None:
    touch(tmp_path, "params.json", "result.json", "progress.csv")
    assert scanned(tmp_path).group.ignored == [f"{tmp_path}/progress.csv: the rows of {tmp_path}/result.json once more"]
    (tmp_path / "result.json").write_text("")

    assert scanned(tmp_path).group.ignored == []


def test_writers(tmp_path: Path) -> None:
    touch(tmp_path, "events.out.tfevents.1.h.7.0", "events.out.tfevents.2.h.7.1", "metrics.csv")

    assert writers(scanned(tmp_path).group) == {"h.7"}


def test_encodable() -> None:
    assert encodable("metrics-é.csv")
    assert not encodable("metrics-\udce9.csv")
