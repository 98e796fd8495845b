"""Runs in the layouts that trainers, loggers and schedulers write."""

import csv
import os
import struct
import zlib
from pathlib import Path

import pytest

from loganalyst.errors import SourceError
from loganalyst.opening import LEADS_OUT
from loganalyst.sources.discovery.runs import Found, discover, runs

CORPUS = Path(__file__).parents[3] / "../shared/corpus/runs"
EVENTS = "events.out.tfevents"
LOG = "".join(f"epoch {i} step {i} loss {1 / (i + 1):.3f}\n" for i in range(9))
STEPS = "step,loss\n0,1\n1,0.5\n2,0.2\n"
# files of a tree -> the runs in it, in the order they come
LAYOUTS = {
    "lightning": (
        "lightning_logs/version_0/metrics.csv lightning_logs/version_0/hparams.yaml"
        " lightning_logs/version_1/metrics.csv",
        "lightning_logs/version_0 lightning_logs/version_1",
    ),
    "lightning with a sub-folder for its events": (
        f"tb/exp/version_0/hparams.yaml tb/exp/version_0/fit/{EVENTS}.1.h.1.0 tb/exp/version_1/fit/{EVENTS}.2.h.2.0",
        "tb/exp/version_0 tb/exp/version_1",
    ),
    "wandb": (
        "wandb/debug.log wandb/offline-run-20240101_000000-aaa/run-aaa.wandb"
        " wandb/offline-run-20240101_000000-aaa/files/output.log"
        " wandb/run-20240102_000000-bbb/files/output.log wandb/run-20240102_000000-bbb/files/config.yaml",
        "wandb/offline-run-20240101_000000-aaa wandb/run-20240102_000000-bbb",
    ),
    "wandb without its own file": (
        "wandb/run-20240102_000000-bbb/files/wandb-summary.json wandb/run-20240102_000000-bbb/files/config.yaml"
        " wandb/run-20240103_000000-ccc/files/wandb-summary.json",
        "wandb/run-20240102_000000-bbb wandb/run-20240103_000000-ccc",
    ),
    "histories of W&B's server, and data sets": (
        "a/artifacts/run-xyz-history:v0/0000.parquet a/artifacts/run-xyz-history:v0/0001.parquet"
        " b/train_history.parquet c/data/0000.parquet c/train-00000-of-00001.parquet c/catalog.parquet d/metrics.csv",
        "a/artifacts/run-xyz-history:v0 b d",
    ),
    "wandb in a run": (
        "exp/train.log exp/config.yaml exp/wandb/run-20240101_000000-aaa/run-aaa.wandb other/metrics.csv", "exp other",
    ),
    "hydra": (
        "outputs/2024-01-01/10-00-00/.hydra/config.yaml outputs/2024-01-01/10-00-00/train.log"
        " outputs/2024-01-01/10-00-00/ckpt/last.ckpt outputs/2024-01-02/11-00-00/.hydra/config.yaml"
        " outputs/2024-01-02/11-00-00/train.log",
        "outputs/2024-01-01/10-00-00 outputs/2024-01-02/11-00-00",
    ),
    "hydra multirun": (
        "multirun/2024-01-01/10-00-00/multirun.yaml multirun/2024-01-01/10-00-00/0/.hydra/config.yaml"
        " multirun/2024-01-01/10-00-00/0/a.log multirun/2024-01-01/10-00-00/1/a.log",
        "multirun/2024-01-01/10-00-00/0 multirun/2024-01-01/10-00-00/1",
    ),
    "hugging face": (
        "out/trainer_state.json out/checkpoint-500/trainer_state.json out/checkpoint-500/model.safetensors"
        f" out/runs/Nov21_10-00-00_host/{EVENTS}.1.h.1.0 out2/checkpoint-10/trainer_state.json",
        "out out2",
    ),
    "keras": (
        f"a/logs/train/{EVENTS}.1.h.1.0.v2 a/logs/validation/{EVENTS}.2.h.1.1.v2 b/logs/train/{EVENTS}.3.h.2.0.v2",
        "a b",
    ),
    "ray tune": (
        "exp/experiment_state-2024.json exp/basic-variant-state-2024.json exp/tuner.pkl"
        f" exp/trial_a_0/result.json exp/trial_a_0/progress.csv exp/trial_a_0/params.json exp/trial_a_0/{EVENTS}.1.h"
        " exp/trial_a_1/result.json exp/trial_a_1/params.json",
        "exp/trial_a_0 exp/trial_a_1",
    ),
    "mlflow": (
        "mlruns/0/meta.yaml mlruns/0/aa/meta.yaml mlruns/0/aa/metrics/train/loss mlruns/0/aa/params/lr"
        " mlruns/0/aa/tags/mlflow.user mlruns/0/aa/artifacts/model/metrics.csv mlruns/0/bb/meta.yaml mlruns/0/bb/tags/x"
        " mlruns/0/models/m-1/meta.yaml mlruns/0/models/m-1/metrics/loss mlruns/.trash/0/cc/metrics/loss",
        "mlruns/0/aa mlruns/0/bb",
    ),
    "stable baselines": (
        f"tb/PPO_1/{EVENTS}.1.h.1.0 tb/PPO_2/{EVENTS}.2.h.2.0 logs/run_1/progress.csv logs/run_2/progress.csv",
        "logs/run_1 logs/run_2 tb/PPO_1 tb/PPO_2",
    ),
    "detectron2": (
        "output/metrics.json output/log.txt output/log.txt.rank1 output/inference/results.json x/metrics.csv",
        "output x",
    ),
    "mmdetection": (
        "work_dirs/a/20240101_100000.log work_dirs/a/20240101_100000.log.json work_dirs/b/20240101_110000.log"
        " work_dirs/b/20240101_120000.log",
        "work_dirs/a work_dirs/b",
    ),
    "mmengine": (
        "work_dirs/a/20240101_100000/20240101_100000.log work_dirs/a/20240101_100000/vis_data/scalars.json"
        " work_dirs/a/20240101_100000/vis_data/config.py work_dirs/b/20240101_100000/vis_data/scalars.json",
        "work_dirs/a/20240101_100000 work_dirs/b/20240101_100000",
    ),
    "yolo": (
        "runs/detect/train/results.csv runs/detect/train/args.yaml runs/detect/train/weights/best.pt"
        " runs/detect/train2/results.csv runs/detect/train2/args.yaml runs/detect/val/confusion_matrix.png",
        "runs/detect/train runs/detect/train2",
    ),
    "torch's add_scalars": (
        f"runs/a/{EVENTS}.1.host.77.0 runs/a/loss_train/{EVENTS}.2.host.77.1 runs/a/loss_val/{EVENTS}.2.host.77.2"
        f" runs/Nov21_10-00-00_host/{EVENTS}.9.host.78.0",
        "runs/Nov21_10-00-00_host runs/a",
    ),
    "a sweep below the settings of TensorBoard's hparams": (
        f"tuning/{EVENTS}.1.host.7.0.v2 tuning/run-0/{EVENTS}.2.host.7.1.v2"
        f" tuning/run-1/{EVENTS}.3.host.7.2.v2",
        "tuning/run-0 tuning/run-1",
    ),
    "torchrun": (
        "job/none_x1/attempt_0/0/stdout.log job/none_x1/attempt_0/1/stdout.log job/none_x1/attempt_0/1/stderr.log"
        " job/none_x2/attempt_0/0/stdout.log",
        "job/none_x1 job/none_x2",
    ),
    "ranks and nodes": ("a/rank_0.log a/rank_1.log b/node0/train.log b/node1/train.log", "a b"),
    "runs below a folder with files of its own": (
        "output/metrics/quantitative_metrics.json output/summary.csv output/base/losses.csv output/modified/losses.csv",
        "output/base output/modified",
    ),
    "slurm logs": (
        "slurm-1.out slurm-2.out slurm-3_0.out slurm-3_1.out", "slurm-1.out slurm-2.out slurm-3_0.out slurm-3_1.out",
    ),
    "slurm logs with two streams": (
        "slurm_logs/1234-a.err slurm_logs/1234-a.out slurm_logs/1235-b.err slurm_logs/1235-b.out train.py",
        "slurm_logs/1234-a.out slurm_logs/1235-b.out",
    ),
    "slurm logs in a run": (
        "exp/metrics.csv exp/slurm-1.out exp/slurm_logs/slurm-2.out other/metrics.csv", "exp other",
    ),
    "slurm logs beside runs": ("a/metrics.csv b/metrics.csv slurm-1.out slurm-2.out sacct.psv",
                               "a b slurm-1.out slurm-2.out"),
    "submitit": ("12345_0_log.out 12345_0_log.err 12345_1_log.out 12346_0_log.out", "12345_0_log.out 12346_0_log.out"),
    "logs of one program": ("train.log stderr.txt nohup.out", "."),
    "logs of several programs": ("f66d43d7.log 0a1b2c3d.log", "0a1b2c3d.log f66d43d7.log"),
    "logs of several programs and a job": ("a.log slurm-7.out z.log", "a.log slurm-7.out z.log"),
    "a program's log and its job's": ("x/ddp.log x/slurm-7.out y/metrics.csv", "x y"),
    "notes on trainings": ("n/gru.md n/lstm.md n/README.md", "n/gru.md n/lstm.md"),
    "tables in text": ("a/progress.txt b/scores.txt c/plan/progress.txt d/points.txt", "a/progress.txt b/scores.txt"),
    "data": ("data/train.csv data/test.csv data/labels.csv exp/metrics.csv", "exp"),
    "a table of another name": ("a/numbers.csv b/prices.csv c/metrics.csv", "a c"),
    "what is not walked": (
        ".git/logs/x.log .ipynb_checkpoints/metrics.csv __pycache__/a.log a/metrics.csv a/._metrics.csv venv/x/a.log",
        "a",
    ),
}  # fmt: skip


CONTENT = {
    "gru.md": LOG,
    "lstm.md": LOG,
    "README.md": LOG,
    "numbers.csv": STEPS,
    "prices.csv": "day,eur\n1,2\n2,3\n",
    f"{EVENTS}.1.host.7.0.v2": "_hparams_/experiment",
}


TABLE = "Epoch\tAverageEpRet\tTotalEnvInteracts\n" + "".join(f"{e}\t{20 + e}\t{4000 * e}\n" for e in range(1, 9))
CONTENT |= {"a/progress.txt": TABLE, "b/scores.txt": TABLE, "d/points.txt": TABLE}


def make(root: Path, *files: str) -> None:
    """Write files whose content is their path, except those of CONTENT (by path or name)."""
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(CONTENT.get(file, CONTENT.get(Path(file).name, file)))


def named(root: Path) -> list[str]:
    return [found.root.relative_to(root).as_posix() for found in runs(root)]


def inside(found: Found) -> list[str]:
    return [os.path.relpath(file, found.root) for file in found.files]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_runs_of_a_layout(tmp_path: Path, layout: str) -> None:
    """Every run is found separately, and nothing else."""
    files, expected = LAYOUTS[layout]
    make(tmp_path, *files.split())

    assert named(tmp_path) == expected.split()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_run_is_the_same_however_it_is_found(tmp_path: Path, layout: str) -> None:
    """Naming a run gives the same root and files as the walk from above."""
    make(tmp_path, *LAYOUTS[layout][0].split())
    for found in runs(tmp_path):
        if found.root.is_dir():
            assert (discover(found.root).root, discover(found.root).files) == (found.root, found.files)


def test_corpus() -> None:
    """From the top of the labelled corpus every labelled run is found as a run of its own, and nothing else is."""
    if not (CORPUS / "labels.csv").exists():
        pytest.skip("the corpus is not here")
    found = list(runs(CORPUS))
    owners = []
    for row in csv.DictReader((CORPUS / "labels.csv").open()):
        read = CORPUS / row["read_first"]
        owners += [f.root for f in found if any(read == file or read in file.parents for file in f.files)]

    assert sorted(owners) == sorted({f.root for f in found})
    assert len(owners) == 50


def test_runs_come_while_walking(tmp_path: Path) -> None:
    """The first run is yielded before the rest of the tree is walked."""
    make(tmp_path, "a/metrics.csv", "b/metrics.csv", "c/metrics.csv")
    walk = runs(tmp_path)
    first = next(walk)
    make(tmp_path, "c/metrics.jsonl")

    assert first.root == tmp_path / "a"
    assert [len(found.files) for found in walk] == [1, 2]


def test_parts_are_of_their_run(tmp_path: Path) -> None:
    """Logs of ranks, phases, checkpoints and Hydra's settings are read with the run above them."""
    make(tmp_path, "run/.hydra/config.yaml", "run/train.log", "run/logs/rank_1/x.log", "run/val/metrics.csv")
    make(tmp_path, "run/checkpoint-5/trainer_state.json", "run/checkpoint-5/model.safetensors")
    found = discover(tmp_path / "run")

    assert inside(found) == [
        ".hydra/config.yaml", "checkpoint-5/trainer_state.json", "logs/rank_1/x.log", "train.log", "val/metrics.csv",
    ]  # fmt: skip
    assert [file.name for file in found.checkpoints] == ["model.safetensors"]


def test_settings_above_a_run(tmp_path: Path) -> None:
    """The hparams file of the folder above belongs to each run in it."""
    make(tmp_path, "exp/hparams.yaml", "exp/a/metrics.csv", "exp/b/metrics.csv", "c/metrics.csv")

    assert [inside(found) for found in runs(tmp_path)] == [
        ["metrics.csv"], ["metrics.csv", "../hparams.yaml"], ["metrics.csv", "../hparams.yaml"],
    ]  # fmt: skip


def test_several_streams_of_a_job_are_one_run(tmp_path: Path) -> None:
    """Standard output and error of a job are read together."""
    make(tmp_path, "7001-a.err", "7001-a.out", "7002-b.out")

    assert [inside(found) for found in runs(tmp_path)] == [["../7001-a.err", "."], ["."]]


def test_blanks_and_other_alphabets(tmp_path: Path) -> None:
    """Names may hold anything."""
    make(tmp_path, "my runs/Versuch ä 1/metrics.csv", "my runs/试 2/metrics.csv", "my runs/#3/metrics.csv")

    assert named(tmp_path) == ["my runs/#3", "my runs/Versuch ä 1", "my runs/试 2"]


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """A file whose name is not UTF-8 is reported; a folder with such a name is a normal run."""
    make(tmp_path, "a/metrics.csv")
    with open(os.fsencode(tmp_path / "a") + b"/b\xff.csv", "w") as file:
        file.write(STEPS)
    os.mkdir(os.fsencode(tmp_path) + b"/c\xff")
    with open(os.fsencode(tmp_path) + b"/c\xff/metrics.csv", "w") as file:
        file.write(STEPS)
    first, second = runs(tmp_path)

    assert [why for _, why in first.unread] == ["its name is not valid UTF-8"]
    assert [file.name for file in second.files] == ["metrics.csv"]


def test_links(tmp_path: Path) -> None:
    """A link to a log that is read itself is left out, and so are links out of the tree and to folders; settings and
    what lies in a hidden folder are read by their links; one that leads nowhere is for the reader to tell.
    """
    make(tmp_path / "t", "a/metrics.csv", "b/metrics.jsonl", "base/config.yaml", ".annex/x.csv")
    make(tmp_path, "secret.csv")
    for link, target in {
        "a/config.yaml": "../base/config.yaml",
        "b/metrics.csv": "../a/metrics.csv",
        "b/out.csv": "../../secret.csv",
        "b/history.csv": "../.annex/x.csv",
        "b/gone.csv": "nowhere.csv",
        "b/loop": "..",
        "latest-run": "a",
    }.items():
        (tmp_path / "t" / link).symlink_to(target)
    first, second = runs(tmp_path / "t")

    assert inside(first) == ["config.yaml", "metrics.csv"]
    assert inside(second) == ["gone.csv", "history.csv", "metrics.jsonl"]
    assert [os.path.relpath(told, second.root) for told in second.ignored] == [
        "loop: a link to another folder",
        f"metrics.csv: a link to {tmp_path / 't/a/metrics.csv'}",
    ]
    assert second.unread == ((tmp_path / "t/b/out.csv", LEADS_OUT),)


def test_a_copied_run_counts_once(tmp_path: Path) -> None:
    """W&B's latest-run as a real folder, a copy of an event file, a hard link: each counts once, and is reported."""
    make(tmp_path, "wandb/run-20240101_000000-aa/run-aa.wandb", f"tb/a/{EVENTS}.5.h.1.0", "x/metrics.csv")
    for copy, original in {
        "wandb/latest-run/run-aa.wandb": "wandb/run-20240101_000000-aa/run-aa.wandb",
        f"tb/b/{EVENTS}.5.h.1.0": f"tb/a/{EVENTS}.5.h.1.0",
    }.items():
        make(tmp_path, copy)
        (tmp_path / copy).write_bytes((tmp_path / original).read_bytes())
    make(tmp_path, "y/progress.csv")
    os.link(tmp_path / "x/metrics.csv", tmp_path / "y/metrics.csv")
    found = {f.root.relative_to(tmp_path).as_posix(): f for f in runs(tmp_path)}

    assert list(found) == ["tb/a", "wandb/run-20240101_000000-aa", "x", "y"]
    assert inside(found["y"]) == ["progress.csv"]
    assert [told.rpartition(": ")[2] for told in found["y"].ignored] == [f"a copy of {tmp_path / 'x/metrics.csv'}"]


def test_same_name_other_content_is_no_copy(tmp_path: Path) -> None:
    """Event files of one name in the folders of one run are two files."""
    make(tmp_path, f"train/{EVENTS}.5.h", f"validation/{EVENTS}.5.h")

    assert len(discover(tmp_path).files) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_reported(tmp_path: Path) -> None:
    """It is reported with the run it lies in, or separately at the end."""
    make(tmp_path, "a/metrics.csv", "b/metrics.csv")
    (tmp_path / "closed").mkdir(mode=0)
    *_, last = runs(tmp_path)

    assert (last.files, last.unread) == ((), ((tmp_path / "closed", "cannot be read (Permission denied)"),))


def test_ray_writes_its_rows_twice(tmp_path: Path) -> None:
    """One of result.json and progress.csv is read; an empty result.json does not count."""
    make(tmp_path, "a/result.json", "a/progress.csv", "a/params.json", "b/progress.csv", "b/params.json")
    (tmp_path / "b/result.json").touch()
    first, second = runs(tmp_path)

    assert inside(first) == ["params.json", "result.json"]
    assert "progress.csv" in inside(second)


def test_deep_trees_and_many_runs_below_one_name(tmp_path: Path) -> None:
    """Depth does not matter; the error of a folder with several runs has their number and the first names."""
    make(tmp_path, "/".join(["d"] * 300) + "/metrics.csv")
    assert len(named(tmp_path)) == 1
    make(tmp_path, *(f"run_{i:04}/metrics.csv" for i in range(1200)))

    with pytest.raises(SourceError, match=r"holds 1,201 runs; name one of them: d/.*, run_0000, run_0001, …"):
        discover(tmp_path)


def test_wandb_files_without_metrics(tmp_path: Path) -> None:
    """If a run's own file was never filled, the other files with its metrics are read."""
    run = tmp_path / "run-20240101_000000-aa"
    make(run, "run-aa.wandb", "files/wandb-summary.json", "artifacts/run-aa-history:v0/0000.parquet")
    (run / "run-aa.wandb").write_bytes(b":W&B\xe1\xbe\x00")
    found = discover(tmp_path)

    assert [file.name for file in found.files] == ["0000.parquet", "wandb-summary.json", "run-aa.wandb"]
    assert found.ignored == ()


@pytest.mark.parametrize("id_", ["aa", "bb"])
def test_wandb_says_it_once(tmp_path: Path, id_: str) -> None:
    """With the run's own file, its summary and the history of the same run are not read; another run's history is."""
    run = tmp_path / "run-20240101_000000-aa"
    history = f"artifacts/run-{id_}-history:v0/0000.parquet"
    make(run, "run-aa.wandb", "files/wandb-summary.json", "files/output.log", history)
    step = b"\x01\x12\x0b\x0a\x09\x0a\x03acc\x82\x01\x011"  # a row of the history
    (run / "run-aa.wandb").write_bytes(b":W&B\xe1\xbe\x00" + struct.pack("<IH", zlib.crc32(step), len(step) - 1) + step)
    found = discover(tmp_path)
    again = id_ == "aa"

    assert [file.name for file in found.files] == [*["0000.parquet"][again:], "output.log", "run-aa.wandb"]
    assert found.ignored == (f"{run / history}: the history of the .wandb file once more",)[: int(again)]
