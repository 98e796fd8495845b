"""Job logs that belong to a run directory although they lie elsewhere. A wrong join is worse than none."""

import json
import os
from pathlib import Path

import pytest

from loganalyst.errors import SourceError
from loganalyst.sources.discovery.joining import Joiner
from loganalyst.sources.discovery.runs import discover
from loganalyst.sources.ingest import ingest
from loganalyst.store import Store

METRICS = "step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(30))
OOM = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
START = 1_704_106_800  # 2024-01-01 11:00:00 UTC


def write(file: Path, text: str = "x\n") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def run(folder: Path, job: str | None = None, **more: str) -> Path:
    """A W&B run, whose metadata names its job (and cluster, task …)."""
    write(folder / "metrics.csv", METRICS)
    slurm = {key: value for key, value in {"job_id": job, **more}.items() if value}
    write(folder / "wandb-metadata.json", json.dumps({"host": "n1", "slurm": slurm} if slurm else {"host": "n1"}))
    return folder


def basis(folder: Path) -> tuple[str, ...]:
    return Joiner().join(discover(folder)).basis


def suggested(folder: Path) -> tuple[str, ...]:
    return Joiner().join(discover(folder)).suggested


@pytest.mark.parametrize(
    ("log", "folder"),
    [
        ("slurm-4711.out", "exp"),
        ("logs/slurm-4711.out", "exp"),
        ("slurm_logs/4711-train.out", "outputs/2024-01-01/10-00-00"),
        ("train-4711.err", "lightning_logs/version_0"),
        ("train.o4711", "exp"),
    ],
)
def test_a_run_names_its_job(tmp_path: Path, log: str, folder: str) -> None:
    """The log named after the run's job is read with it, wherever it lies near, and the reason is reported."""
    run(tmp_path / folder, "4711")
    write(tmp_path / log, OOM)
    write(tmp_path / "slurm-4712.out", OOM)
    found = ingest(tmp_path / folder)
    place = os.path.relpath(tmp_path / log, tmp_path / folder)

    assert found.basis == (f"{place}: job id 4711 is in wandb-metadata.json",)
    assert {source.format for source in found.sources} == {"csv", "config", "text"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("env.txt", "PATH=/bin\nSLURM_JOB_ID=4711\n"),
        ("config.yaml", "lr: 1\nslurm_job_id: 4711\n"),
        ("train.log", "args\nSLURM_JOBID: '4711'\n"),
        ("hparams.json", '{"slurm": {"SLURM_JOB_ID": "4711"}}'),
    ],
)
def test_files_that_name_the_job(tmp_path: Path, name: str, text: str) -> None:
    """Settings, a dumped environment and the program's own log are searched."""
    write(tmp_path / "exp/metrics.csv", METRICS)
    write(tmp_path / "exp" / name, text)
    write(tmp_path / "slurm-4711.out")

    assert basis(tmp_path / "exp") == (f"../slurm-4711.out: job id 4711 is in {name}",)


def test_a_wandb_file_names_its_job(tmp_path: Path) -> None:
    """If W&B writes no metadata next to its file (offline, new versions), the file itself is searched."""
    write(tmp_path / "wandb/offline-run-20240101_110000-abcd1234/run-abcd1234.wandb")
    folder = tmp_path / "wandb/offline-run-20240101_110000-abcd1234"
    (folder / "run-abcd1234.wandb").write_bytes(b":W&B\xe1\xbe\x00..\n\x0e\n\x06job_id\x12\x044711\n\x05x\x12\x015")
    write(tmp_path / "slurm-4711.out")
    write(tmp_path / "slurm-47115.out")

    assert basis(folder) == ("../../slurm-4711.out: job id 4711 is in run-abcd1234.wandb",)


def test_both_streams_are_joined(tmp_path: Path) -> None:
    """Standard error belongs where standard output does."""
    run(tmp_path / "exp", "4711")
    write(tmp_path / "4711-a.out")
    write(tmp_path / "4711-a.err")

    assert [told.split(":")[0] for told in basis(tmp_path / "exp")] == ["../4711-a.err", "../4711-a.out"]


def test_a_log_without_an_id_in_its_name(tmp_path: Path) -> None:
    """A single id in the log itself counts; several ids do not."""
    run(tmp_path / "exp", "4711")
    write(tmp_path / "train.out", "SLURM_JOB_ID=4711\n")
    write(tmp_path / "all.out", "SLURM_JOB_ID=4711\nSLURM_JOB_ID=4712\n")
    write(tmp_path / "submit.out", "Submitted batch job 4711\n")

    assert basis(tmp_path / "exp") == ("../train.out: job id 4711 is in wandb-metadata.json",)


def test_tasks_of_an_array(tmp_path: Path) -> None:
    """Each task gets its own log, not that of another task or of the whole array."""
    for task in (3, 4):
        variables = f"SLURM_ARRAY_JOB_ID=100\nSLURM_ARRAY_TASK_ID={task}\nSLURM_JOB_ID=10{task}\n"
        write(run(tmp_path / f"exp{task}") / "env.txt", variables)
        write(tmp_path / f"slurm-100_{task}.out")
    write(tmp_path / "slurm-100.out")

    assert basis(tmp_path / "exp3") == ("../slurm-100_3.out: job id 100_3 is in env.txt",)


def test_the_same_id_on_another_cluster(tmp_path: Path) -> None:
    """Equal ids are distinguished by the cluster if both name it, else by times that are days apart."""
    run(tmp_path / "a/exp", "4711", cluster_name="big")
    write(tmp_path / "a/slurm-4711.out", "SLURM_CLUSTER_NAME=small\n")
    write(run(tmp_path / "b/exp", "4711") / f"events.out.tfevents.{START}.h.1.0")
    write(tmp_path / "b/slurm-4711.out", "2023-06-01 10:00:00 start\n2023-06-01 12:00:00 end\n")

    assert basis(tmp_path / "a/exp") == basis(tmp_path / "b/exp") == ()
    assert suggested(tmp_path / "a/exp") == suggested(tmp_path / "b/exp") == ()


def test_clocks_that_differ_by_hours(tmp_path: Path) -> None:
    """A log in another time zone is not taken for one of another day."""
    write(run(tmp_path / "exp", "4711") / f"events.out.tfevents.{START}.h.1.0")
    write(tmp_path / "slurm-4711.out", "2024-01-01 22:00:00 start\n2024-01-01 23:00:00 end\n")

    assert len(basis(tmp_path / "exp")) == 1


def test_two_runs_of_one_job_and_copies_of_a_run(tmp_path: Path) -> None:
    """A job's log belongs to every run that names the job."""
    for name in ("first", "second", "first_copy"):
        run(tmp_path / name, "4711")
    write(tmp_path / "slurm-4711.out")

    store = Store(tmp_path / "store")

    assert len(store.ingest([tmp_path])) == 3
    assert store.runs.select("basis").collect()["basis"].list.len().to_list() == [1, 1, 1]


def test_a_restarted_job(tmp_path: Path) -> None:
    """The logs of all jobs that a run names are its own, not that of the next job in the queue."""
    folder = run(tmp_path / "exp", "4711")
    write(folder / "train.log", "SLURM_JOB_ID=4711\nstep 1\nSLURM_JOB_ID=4720\nstep 2\n")
    for job in (4711, 4715, 4720):
        write(tmp_path / f"slurm-{job}.out")

    assert [told.split(":")[0] for told in basis(folder)] == ["../slurm-4711.out", "../slurm-4720.out"]


WANDB = "wandb/offline-run-20240101_110000-abcd1234"


@pytest.mark.parametrize(
    "line",
    [
        "wandb: Run data is saved locally in {run}",
        "wandb: 🚀 View run at https://wandb.ai/me/project/runs/abcd1234",
        "wandb: wandb sync ./wandb/offline-run-20240101_110000-abcd1234",
    ],
)
def test_the_log_prints_the_wandb_id(tmp_path: Path, line: str) -> None:
    """W&B's lines in a log name the run, whatever the log is called."""
    folder = run(tmp_path / WANDB)
    write(tmp_path / "other.out", "View run at https://wandb.ai/me/project/runs/zzzz9999\n")
    write(tmp_path / "job.out", line.format(run=folder) + "\n")

    assert basis(folder) == ("../../job.out: prints the run's W&B id abcd1234",)


@pytest.mark.parametrize(
    ("line", "joins"),
    [
        ("saving to {run}/last.ckpt", True),
        ("output: outputs/2024-01-01/10-00-00", False),  # two dates, but not the run's
        ("output: 2024-01-01/11-00-00", True),
        ("saving to {run}0/last.ckpt", False),
        ("saving to {run}.old/last.ckpt", False),
        ("resuming from {run}/last.ckpt", False),
        ("loading checkpoint {run}/last.ckpt", False),
    ],
)
def test_the_log_prints_the_path(tmp_path: Path, line: str, joins: bool) -> None:
    """The run's own path counts, not that of a neighbour, and not where it is only loaded."""
    folder = run(tmp_path / "outputs/2024-01-01/11-00-00")
    write(tmp_path / "job.out", line.format(run=folder) + "\n")

    assert bool(basis(folder)) is joins


def test_a_path_does_not_outweigh_another_job(tmp_path: Path) -> None:
    """A later job that evaluates the run prints its path too, but has another id."""
    folder = run(tmp_path / "exp", "4711")
    write(tmp_path / "slurm-4999.out", f"evaluating {folder}/last.ckpt\n")

    assert basis(folder) == suggested(folder) == ()


def test_the_only_log_next_to_the_only_run(tmp_path: Path) -> None:
    """Joined if its times span the run's start, else only suggested."""
    for name, hours in {"now": (10, 12), "later": (12, 14)}.items():
        write(run(tmp_path / name / "exp") / f"events.out.tfevents.{START}.h.1.0")
        write(tmp_path / name / "slurm-9.out", "".join(f"2024-01-01 {hour}:00:00 x\n" for hour in hours))

    assert basis(tmp_path / "now/exp") == ("../slurm-9.out: the only job log next to the run, and it spans its start",)
    assert basis(tmp_path / "later/exp") == ()
    assert suggested(tmp_path / "later/exp") == ("../slurm-9.out (the only job log next to it)",)


def test_a_log_next_to_several_runs_is_not_joined(tmp_path: Path) -> None:
    """Neither joined nor suggested: any of them may be its run."""
    for name in ("a", "b"):
        write(run(tmp_path / name) / f"events.out.tfevents.{START}.h.1.0")
    write(tmp_path / "slurm-9.out", "2024-01-01 10:00:00 x\n2024-01-01 12:00:00 x\n")

    assert basis(tmp_path / "a") == suggested(tmp_path / "a") == ()


def test_accounting_near_the_run(tmp_path: Path) -> None:
    """`sacct` output that lists the run's job says how it ended."""
    run(tmp_path / "exp", "4711")
    head = "JobID|JobName|State|ExitCode|Start|End|Elapsed|Timelimit\n"
    times = "2024-01-01T10:00:00|2024-01-01T12:00:00|02:00:00|02:00:00"
    write(tmp_path / "sacct.psv", f"{head}4711|train|TIMEOUT|0:0|{times}\n4712|x|COMPLETED|0:0|{times}\n")
    write(tmp_path / "sacct-old.psv", f"{head}14711|train|FAILED|1:0|{times}\n")
    found = ingest(tmp_path / "exp")

    assert found.basis == ("../sacct.psv: accounts for the run's job",)
    assert found.status == "timeout"


def test_separate_keeps_everything_apart(tmp_path: Path) -> None:
    """No logs are searched; named ones are still read."""
    run(tmp_path / "exp", "4711")
    log = write(tmp_path / "slurm-4711.out", OOM)

    assert ingest(tmp_path / "exp", separate=True).basis == ()
    assert ingest(tmp_path / "exp", [log], separate=True).basis == (f"{log}: named with the run",)


def test_a_log_is_read_once_and_the_run_keeps_its_id(tmp_path: Path) -> None:
    """Naming a log that is joined anyway, or one in the run, adds nothing; joining changes no id."""
    folder = run(tmp_path / "exp", "4711")
    inner = write(folder / "slurm-4711.out", OOM)
    apart = ingest(folder, separate=True)
    log = write(tmp_path / "slurm-4711.out", OOM)
    found = ingest(folder, [log, inner])

    assert found.id == apart.id
    assert len(found.sources) == len(apart.sources) + 1
    assert len(found.basis) == 1


def test_not_above_a_repository(tmp_path: Path) -> None:
    """Files above the folder with .git belong to another project."""
    run(tmp_path / "repo/exp", "4711")
    write(tmp_path / "repo/.git/HEAD")
    write(tmp_path / "slurm-4711.out")

    assert basis(tmp_path / "repo/exp") == ()


def test_a_tree_of_runs_and_logs(tmp_path: Path) -> None:
    """Logs anywhere in the tree find their run by its job id; the others are runs; each file is in one place, also when
    nothing changed, and a log that comes later is noticed.
    """
    run(tmp_path / "tree/team/a/exp1", "4711")
    run(tmp_path / "tree/team/a/exp2", "4712")
    for job in (4712, 4713):
        for stream in ("out", "err"):
            write(tmp_path / f"tree/cluster/joblogs/x/slurm-{job}.{stream}")
    store, tree = Store(tmp_path / "store"), tmp_path / "tree"
    first, second = (store.ingest([tree]) for _ in range(2))
    write(tmp_path / "tree/cluster/joblogs/x/slurm-4711.out")
    third = store.ingest([tree])

    names = ["team/a/exp1", "team/a/exp2", "cluster/joblogs/x/slurm-4713.out"]
    assert first == {f"{tree}/{name}": "read" for name in names}
    assert second == dict.fromkeys(first, "unchanged")
    assert third == second | {f"{tree}/{names[0]}": "read"}
    files = store.sources.group_by("run_id").len().collect()
    assert store.runs.collect().join(files, on="run_id").sort("path")["len"].to_list() == [2, 3, 4]


def test_a_run_among_hundreds_of_logs(tmp_path: Path) -> None:
    """The log named after the run's job is found, however many lie before it."""
    for job in range(1000, 1300):
        write(tmp_path / f"slurm-{job}.out")
    folder = run(tmp_path / "exp", "1290")

    assert basis(folder) == ("../slurm-1290.out: job id 1290 is in wandb-metadata.json",)


def test_the_console_next_to_a_wandb_file(tmp_path: Path) -> None:
    """W&B's copy of the console is read with its file, unless `separate`."""
    file = tmp_path / "run-20240101_110000-aa/run-aa.wandb"
    file.parent.mkdir()
    file.write_bytes(b":W&B\xe1\xbe\x00")
    write(file.parent / "files/output.log", OOM)
    found = ingest(file)

    assert found.basis == ("files/output.log: W&B's copy of the run's console",)
    assert [source.path for source in found.sources] == ["run-aa.wandb", "files/output.log"]
    assert found.lines.height == 1
    with pytest.raises(SourceError, match=r"nothing could be read \(run-aa\.wandb"):
        ingest(file, separate=True)
