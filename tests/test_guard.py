"""Nothing is ever written into a run: every option that writes, and every way to name a file of a run."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer
from typer.models import OptionInfo

import loganalyst as la
from loganalyst import guard, pipeline
from loganalyst.cli import complete
from loganalyst.errors import LogAnalystError
from loganalyst.mcp.manyruns import ManyRuns
from loganalyst.model import Run
from tests.commandline import Told, called

pytestmark = pytest.mark.usefixtures("workers_here")
RUN = Path(__file__).parents[1] / "fixtures" / "runs" / "nan-lr"
# Options with a path that is only read
READS = {"--config", "--rules", "--context", "--baseline", "--checkpoint", "--history"}

# Every option that writes, as `loganalyst COMMAND … OPTION TARGET` with {run}, the run's {checkpoint} and a {store}
# that knows the run. A command that names no run is refused by the signs of a logger alone.
FILES = {
    "diagnose -o": "diagnose {run} -o",
    "audit -o": "audit {run} -o",
    "compare -o": "compare {run} -o",
    "compare --plot": "compare {run} --plot",
    "scan -o": "scan {run} --store {new} -o",
    "scan --prometheus": "scan {run} --store {new} --prometheus",
    "check -o": "check {run} -o",
    "verify -o": "verify {run} {run} -o",
    "replay -o": "replay {run} -o",
    "replay --plot": "replay {run} --plot",
    "inspect -o": "inspect {checkpoint} -o",
    "inspect --plot": "inspect {checkpoint} --plot",
    "show --plot": "show {run} --plot",
    "show -o": "show {run} --anonymous -o",
    "query -o": "query SELECT+1 --store {store} -o",
    "script -o": "script memory -o",
}
FOLDERS = {
    "diagnose --artifacts": "diagnose {run} --artifacts",
    "diagnose --scripts": "diagnose {run} --scripts",
    "audit --store": "audit {run} --store",
    "audit --reports": "audit {run} --reports",
    "compare --store": "compare {run} --store",
    "scan --store": "scan {run} --store",
    "verify --store": "verify {run} {run} --store",
    "ingest --store": "ingest {run} --store",
    "confirm --store": "confirm {run} none --store",
    "query --store": "query SELECT+1 --store",
    "rules new -o": "rules new mine -o",
    "reference add -o": "reference add {store} -o",
}
IN_PYTHON = {"mcp --store"}  # the server writes when an audit is asked for: see below


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run with a checkpoint, and a store that knows it."""
    folder = tmp_path_factory.mktemp("known")
    shutil.copytree(RUN, folder / "w1")
    (folder / "w1" / "step=10.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    la.Store(folder / "store").ingest([folder / "w1"])
    return folder / "w1", folder / "store"


def state(folder: Path) -> dict[str, tuple[Any, ...]]:
    """All that can be seen of a folder's files: bytes, time of change, inode, permissions."""
    return {
        str(path.relative_to(folder)): (
            path.is_file() and path.read_bytes(),
            *(getattr(path.lstat(), name) for name in ("st_mtime_ns", "st_ino", "st_mode")),
        )
        for path in [folder, *folder.rglob("*")]
    }


def asked(words: str, run: Path, store: Path, folder: Path, target: Path) -> Told:
    names = {"run": run, "checkpoint": run / "step=10.safetensors", "store": store, "new": folder / "new-store"}
    return called(*(word.format(**names).replace("+", " ") for word in words.split()), target)


def ways(run: Path, folder: Path, suffix: str) -> dict[str, Path]:
    """Names of the run's log, and of files that would be new in the run."""
    (folder / f"soft{suffix}").symlink_to(run / "train.log")
    (folder / f"dangling{suffix}").symlink_to(run / f"new{suffix}")
    os.link(run / "train.log", folder / f"hard{suffix}")
    (folder / "link").symlink_to(run, target_is_directory=True)
    return {
        "the log": run / "train.log",
        "new": run / f"new{suffix}",
        "below": run / "plots" / f"new{suffix}",
        "a way around": run / ".." / run.name / f"new{suffix}",
        "soft": folder / f"soft{suffix}",
        "dangling": folder / f"dangling{suffix}",
        "hard": folder / f"hard{suffix}",
        "linked folder": folder / "link" / f"new{suffix}",
    }


@pytest.mark.parametrize("option", FILES)
def test_no_option_writes_a_file_into_a_run(option: str, store: tuple[Path, Path], tmp_path: Path) -> None:
    run, kept = store
    suffix = ".png" if option.endswith("--plot") else ".md"
    names = ways(run, tmp_path, suffix)
    before, around = state(run), {path.name for path in tmp_path.iterdir()}

    for way, target in names.items():
        told = asked(FILES[option], run, kept, tmp_path, target)

        assert (told.code, told.out) == (2, ""), (way, told)
        assert told.err.startswith(f"loganalyst: {target}: "), (way, told.err)
        if not (option == "script -o" and way in {"hard", "the log"}) and target.suffix == suffix:
            assert str(run) in told.err, (way, told.err)
    assert state(run) == before
    assert {path.name for path in tmp_path.iterdir()} == around


@pytest.mark.parametrize("option", FOLDERS)
def test_no_option_makes_a_folder_in_a_run(option: str, store: tuple[Path, Path], tmp_path: Path) -> None:
    run, kept = store
    (tmp_path / "link").symlink_to(run, target_is_directory=True)
    before = state(run)

    for target in (run / "new", run / "a" / "b", tmp_path / "link" / "new", tmp_path / "link", run):
        told = asked(FOLDERS[option], run, kept, tmp_path, target)

        assert told.code == 2, told
        assert told.err.startswith("loganalyst: ")
    assert state(run) == before
    assert os.listdir(tmp_path) == ["link"]


def options(group: typer.Typer, words: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """The options of all commands that take a path."""
    for inner in group.registered_groups:
        yield from options(inner.typer_instance, (*words, inner.name))
    for command in group.registered_commands:
        name = " ".join([*words, command.name or command.callback.__name__])
        for kind in get_type_hints(command.callback, include_extras=True).values():
            for told in getattr(kind, "__metadata__", ()):
                if isinstance(told, OptionInfo) and "Path" in str(kind):
                    yield name, next(n for n in (told.default, *told.param_decls) if n)


def test_every_option_that_writes_is_tried_above() -> None:
    """A new option with a path is either read only, or in the tables of this file."""
    found = {f"{command} {name}" for command, name in options(complete()) if name not in READS}

    assert found == {*FILES, *FOLDERS, *IN_PYTHON}


@pytest.mark.parametrize(
    "write",
    [
        lambda run, inside: la.diagnose(run).plot(inside / "x.png"),
        lambda run, inside: la.Store(inside).ingest([run]),
        lambda run, inside: la.Store(inside / "store").keep("truths", la.Store(inside).truths.collect()),
        lambda run, inside: la.audit([run], inside / "store", jobs=1),
        lambda run, inside: la.audit([run], jobs=1, reports=inside / "reports"),
        lambda run, inside: la.audit([run], jobs=1, writes=[inside / "x.html"]),
        lambda run, inside: la.compare([run], inside / "store", jobs=1),
        lambda run, inside: la.confirm(run, "none", store=inside / "store"),
        lambda run, inside: la.verify(run, run, store=inside / "store"),
        lambda run, inside: pipeline.new_rule("mine", folder=inside),
        lambda run, inside: ManyRuns(inside / "store").audit([str(run)]),
    ],
)
def test_the_api_refuses_too(write: Any, tmp_path: Path) -> None:
    run = shutil.copytree(RUN, tmp_path / "w1")
    before = state(run)

    with pytest.raises(LogAnalystError, match=f"lies inside the run {run}"):
        write(run, run / "sub")
    assert state(run) == before


def log(path: Path) -> Path:
    """A training's log, and nothing else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"step {i} loss {2 / (i + 1):.4f}\n" for i in range(50)))
    return path


def test_a_report_may_lie_next_to_runs(tmp_path: Path) -> None:
    """Beside a run that is a file, and in the folder of many runs, also a store and the folder of reports."""
    for name in ("a", "b"):
        shutil.copytree(RUN, tmp_path / "experiments" / name)
    home = tmp_path / "experiments"
    for _ in range(2):  # over the reports of the first time, too
        assert called("audit", home, "--jobs", 1, "--store", home / "store", "-o", home / "report.html").code == 1
    assert called("audit", home, "--jobs", 1, "--reports", home / "reports").code == 1
    assert sorted(os.listdir(home)) == ["a", "b", "report.html", "reports", "store"]

    alone = log(tmp_path / "alone" / "train.log")
    for _ in range(2):
        assert called("diagnose", alone, "-o", alone.with_name("report.md")).code == 0
    events = next(shutil.copytree(RUN, tmp_path / "c").glob("*tfevents*"))
    (tmp_path / "one").mkdir()
    assert called("diagnose", shutil.move(events, tmp_path / "one"), "-o", tmp_path / "one/report.md").code == 1


def test_a_folder_of_runs_keeps_its_own_files(tmp_path: Path) -> None:
    """A folder that is a run by what lies in itself, and holds others: only its files are refused."""
    for name in ("a", "b"):
        shutil.copytree(RUN, tmp_path / name)
    table = tmp_path / "metrics.csv"
    table.write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(50)))
    before = table.read_bytes()

    assert called("audit", tmp_path, "--jobs", 1, "--store", tmp_path / "store", "-o", tmp_path / "r.html").code == 1
    assert called("audit", tmp_path, "--jobs", 1, "-o", table).code == 2
    assert called("audit", tmp_path, "--jobs", 1, "-o", tmp_path / "a" / "r.html").code == 2
    assert table.read_bytes() == before


@pytest.mark.parametrize(
    "command", ["diagnose {0} {0}/train.log", "diagnose {0} --config {0}/mine.yaml", "audit {0} {0}/sub {0}/train.log"]
)
def test_a_run_stays_one_when_something_in_it_is_named_too(command: str, tmp_path: Path) -> None:
    """Its parts make no folder of several runs of it."""
    run = tmp_path / "w1"
    log(run / "train.log")
    log(run / "sub" / "train.log")
    (run / "mine.yaml").write_text("roles: {}\n")
    before = state(run)

    told = called(*command.format(run).split(), "-o", run / "report.md")
    assert (told.code, state(run)) == (2, before)
    assert f"lies inside the run {run}" in told.err


def test_a_log_that_is_joined_to_a_run_is_of_the_run(tmp_path: Path) -> None:
    """It lies outside, and is refused under its name and others; so are the settings above a run."""
    run = shutil.copytree(RUN, tmp_path / "logs" / "version_0")
    (run.parent / "hparams.yaml").write_text("lr: 1.0\n")
    (run / "config.yaml").write_text("SLURM_JOB_ID: 4711\n")
    job = log(tmp_path / "logs" / "slurm-4711.out")
    os.link(job, tmp_path / "again.md")
    (run / "more.jsonl").symlink_to(log(tmp_path / "far" / "more.jsonl"))
    before = state(tmp_path)

    for target in (job, tmp_path / "again.md", run.parent / "hparams.yaml"):
        for command in (["diagnose", run], ["audit", run, "--jobs", 1]):
            told = called(*command, "-o", target)

            assert told.code == 2, told
            assert f"{target}: is the file" in told.err
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    "name", ["a.ckpt", "model.safetensors", "events.out.tfevents.1.host.1.0", "x.wandb", "mlflow.db"]
)
def test_what_a_training_wrote_is_no_report(name: str, tmp_path: Path) -> None:
    """Files of runs that were not named, recognised by names that no report has. A new file may have such a name."""
    source, other = log(tmp_path / "train.log"), tmp_path / "other" / name
    other.parent.mkdir()
    other.write_bytes(b"weights")

    assert called("diagnose", source, "-o", other).code == 2
    assert other.read_bytes() == b"weights"


def test_devices_and_pipes_are_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """No file is harmed by them, wherever their name lies."""
    source = log(tmp_path / "train.log")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)

    assert called("diagnose", source, "-o", "/dev/null").code == 0
    assert called("diagnose", source, "-o", "/dev/stdout").code == 0
    assert capfd.readouterr().out.startswith("✓ train.log")
    assert called("diagnose", source, "-o", tmp_path / "pipe").code == 0
    assert os.read(reader, 1 << 16).decode().startswith("✓ train.log")
    os.close(reader)
    told = called("diagnose", source, "-o", "/dev/full")
    assert told == (2, "", "loganalyst: /dev/full: cannot be written (No space left on device); -o takes a file\n")


def test_change_logs_of_a_database_belong_to_the_run(tmp_path: Path) -> None:
    """SQLite keeps changes in a file of its own."""
    database, changes = tmp_path / "mlflow.db", tmp_path / "mlflow.db-wal"
    for file in (database, changes):
        file.write_bytes(b"x")

    with pytest.raises(LogAnalystError, match=r"is the file .*mlflow\.db-wal"):
        guard.check([changes], [guard.Read(f"{database}#1", (f"{database}#1",))])


def test_what_was_read_of_a_run_is_known_from_the_run(tmp_path: Path) -> None:
    run = la.read_run(shutil.copytree(RUN, tmp_path / "w1"))

    assert isinstance(run, Run)
    assert set(guard.of_run(run).files) == {str(path) for path in run.path.iterdir()}
