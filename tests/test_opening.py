"""Files of a run are opened in one place, and what a link puts outside of what was named is not read."""

import ast
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import loganalyst as la
from loganalyst import opening
from loganalyst.errors import SourceError
from loganalyst.opening import LEADS_OUT, OutsideError
from loganalyst.sources.config.settingplaces import places
from tests.commandline import called

PACKAGE = Path(__file__).parents[1] / "loganalyst"
RUNS = Path(__file__).parents[1] / "fixtures" / "runs"
SECRET = "hunter2-nobody-may-read-this"
# Functions of the standard library and of others that open a file by its path
OPENERS = {
    "open", "read_bytes", "read_text", "read_csv", "read_parquet", "read_json", "read_ndjson", "read_ipc", "scan_csv",
    "scan_parquet", "scan_ndjson", "scan_ipc", "connect", "ZipFile", "mmap", "memmap", "fromfile", "fdopen",
}  # fmt: skip
# What opens files of ours, or a path that `opening.checked` let through before: file, function, why
ELSEWHERE = {
    ("sources/files/compressed.py", "_written"): "writes what it unpacks",
    ("sources/text/lines/wrapped.py", "unwrapped"): "writes what it unwraps",
    ("sources/text/lines/powershell.py", "printed"): "writes what it joins",
    ("sources/files/sqliteguard.py", "opened_database"): "writes a copy; sqlite opens what was checked",
    ("sources/files/compressed.py", "_end_with_a_line"): "a file of ours",
    ("sources/files/sparse.py", "_copied"): "writes what it copies",
    ("sources/files/rowspool.py", "frames"): "parses bytes",
    ("sources/text/lines/tablespool.py", "_columns"): "parses bytes",
    ("sources/mlflow/reader.py", "_at_once"): "parses bytes",
    ("sources/tables/parquettable.py", "_scan"): "polars opens what was checked",
    ("sources/tables/csvuniform.py", "_frame"): "parses bytes",
    ("sources/files/rowspool.py", "slices"): "files of ours",
    ("sources/wandb/console.py", "add"): "writes what was printed",
    ("sources/tables/npyarrays.py", "arrays"): "zipfile reads bytes",
    ("sources/tables/npyarrays.py", "_member"): "a member of an open archive",
    ("sources/files/zips.py", "records"): "zipfile reads bytes, and a member of an open archive",
    ("checkpoint/torchfile.py", "_check_archive"): "zipfile opens what was checked",
    ("checkpoint/dcpcheckpoint.py", "_data_offset"): "a part of an open file",
}


def openings(file: Path) -> set[str]:
    """The functions of a file in which something is opened by other means than `loganalyst.opening`."""
    found = set()
    for outer in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(outer, ast.FunctionDef):
            for node in ast.walk(outer):
                if isinstance(node, ast.Call):
                    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                    if name in OPENERS or name.startswith("copyfile"):
                        found.add(outer.name)
    return found


def test_nothing_else_opens_files_of_a_run() -> None:
    """No reader and nothing that looks at checkpoints, code or configs opens a path by itself."""
    files = [f for part in ("sources", "checkpoint", "baseline", "features") for f in (PACKAGE / part).rglob("*.py")]
    files += [PACKAGE / "contextfile.py", PACKAGE / "replaying" / "stateloading.py"]
    found = {(f.relative_to(PACKAGE).as_posix(), name) for f in files for name in openings(f)}

    assert found <= ELSEWHERE.keys(), found - ELSEWHERE.keys()


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    """By itself, by a folder on the way, by many links; within the bounds, and without any, it is opened."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.log").write_text("x")
    (tmp_path / "in" / "x.log").symlink_to("../out/x.log")
    (tmp_path / "in" / "folder").symlink_to("../out")
    (tmp_path / "in" / "again.log").symlink_to("x.log")
    (tmp_path / "in" / "mine.log").write_text("y")
    (tmp_path / "in" / "same.log").symlink_to("mine.log")

    assert opening.whole(tmp_path / "in" / "x.log") == b"x"
    with opening.within(opening.bounds([tmp_path / "in"])):
        for name in ("x.log", "folder/x.log", "again.log"):
            with pytest.raises(OutsideError, match=LEADS_OUT):
                opening.opened(tmp_path / "in" / name)
            with pytest.raises(OutsideError):
                opening.checked(tmp_path / "in" / name)
        assert opening.whole(tmp_path / "in" / "same.log") == b"y"
    assert opening.here() is None


def test_single_files_may_be_read_but_not_through_a_link(tmp_path: Path) -> None:
    """A file that was joined from elsewhere is one only as long as it is no link."""
    (tmp_path / "run").mkdir()
    (tmp_path / "job.out").write_text("x")
    (tmp_path / "secret").write_text("s")
    with opening.within(opening.bounds([tmp_path / "run"], [tmp_path / "job.out"])):
        assert opening.whole(tmp_path / "job.out") == b"x"
        (tmp_path / "job.out").unlink()
        (tmp_path / "job.out").symlink_to("secret")
        with pytest.raises(OutsideError):
            opening.whole(tmp_path / "job.out")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe and a folder are no regular files; the pipe has no writer."""
    os.mkfifo(tmp_path / "pipe.log")

    with pytest.raises(OSError, match="is no regular file"):
        opening.opened(tmp_path / "pipe.log")
    with pytest.raises(IsADirectoryError):
        opening.whole(tmp_path)


def test_our_own_temporary_files_may_be_read(tmp_path: Path) -> None:
    """What is unpacked lies elsewhere, for as long as it is there."""
    with opening.within(opening.bounds([tmp_path])), opening.temporary() as folder:
        (folder / "x").write_text("x")
        assert opening.whole(folder / "x") == b"x"
    assert not folder.exists()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file outside that reads as a log, as settings, and as a table."""
    file = tmp_path / "outside" / "secret.yaml"
    file.parent.mkdir()
    file.write_text(f"password_hint: {SECRET}\nlearning_rate: 0.123456\n# RuntimeError: {SECRET}\n")
    return file


def run_at(folder: Path) -> Path:
    """A copy of a recorded run (TensorBoard, config, log)."""
    shutil.copytree(RUNS / "nan-lr", folder)
    return folder


def link(place: Path, to: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(os.path.relpath(to, place.parent))


LINKS = ["hparams.yaml", "config.yaml", "train.log", "logs/other.log", "metrics.csv", "args.json", "sacct.txt"]


@pytest.mark.parametrize("name", LINKS)
def test_a_link_of_any_name_is_a_gap(tmp_path: Path, secret: Path, name: str) -> None:
    """Links to possible settings, logs, tables or accounting are not read, and reported in `gaps`."""
    run = run_at(tmp_path / "run")
    link(run / name, secret)
    found = la.diagnose(run)

    assert SECRET not in found.to_json() + found.to_markdown() + found.to_html()
    assert (name, LEADS_OUT) in {
        (file.split("/run/")[-1], why) for file, why in found.run.gaps.select("file", "why").rows()
    }


def test_settings_above_a_run_may_be_no_link_out(tmp_path: Path, secret: Path) -> None:
    """`hparams.yaml` in the folder above is read as a file, and not as a link to elsewhere; also by an audit."""
    run = run_at(tmp_path / "top" / "version_0")
    for name in ("config.yaml", "hparams.yaml"):
        (run / name).unlink(missing_ok=True)
    link(tmp_path / "top" / "hparams.yaml", secret)
    found = la.read_run(run)

    assert SECRET not in str(found.config.rows())
    assert [why for file, why in found.gaps.select("file", "why").rows() if file.endswith("hparams.yaml")] == [
        f"cannot be read ({LEADS_OUT})"
    ]
    assert SECRET not in called("show", run).out
    store = la.Store(tmp_path / "store")
    store.ingest([tmp_path / "top"])
    assert SECRET not in str(store.config.collect().rows())

    (tmp_path / "top" / "hparams.yaml").unlink()
    shutil.copy(secret, tmp_path / "top" / "hparams.yaml")
    assert SECRET in str(la.read_run(run).config.rows())


def test_the_console_of_a_wandb_file_may_be_no_link_out(tmp_path: Path, secret: Path) -> None:
    """Neither the file nor its folder, and then what W&B's own file holds of it is read; a link within is followed."""
    folder = tmp_path / "run"
    shutil.copytree(next((RUNS / "divergence-lr").rglob("*.wandb")).parent, folder)
    (wandb,) = folder.glob("*.wandb")
    link(folder / "files" / "output.log", secret)
    for _ in range(2):
        found = la.diagnose(wandb)
        assert SECRET not in found.to_json()
        assert [s.path for s in found.run.sources] == [wandb.name]
        assert found.run.gaps.select("file", "why").rows() == [("files/output.log", LEADS_OUT)]
        shutil.rmtree(folder / "files", ignore_errors=True)
        (secret.parent / "output.log").write_text(f"RuntimeError: {SECRET}\n")
        link(folder / "files", secret.parent)  # the second time the folder

    (folder / "files").unlink()
    (folder / "console.txt").write_text("ValueError: bad\n")
    link(folder / "files" / "output.log", folder / "console.txt")
    assert [s.path for s in la.read_run(wandb).sources] == [wandb.name, "files/output.log"]


def test_change_logs_of_a_database_may_be_no_link_out(tmp_path: Path) -> None:
    """SQLite's change log is copied only if it lies next to the database."""
    from loganalyst.sources.files.address import CHANGE_LOGS

    file, outside = tmp_path / "run" / "mlflow.db", tmp_path / "outside"
    file.parent.mkdir()
    outside.write_bytes(SECRET.encode() * 100)
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE runs (run_uuid TEXT)")
    for end in CHANGE_LOGS:
        assert opening.sibling(file, file.name + end) is None
        file.with_name(file.name + end).symlink_to(outside)
        assert opening.sibling(file, file.name + end) is None
        file.with_name(file.name + end).unlink()
        file.with_name(file.name + end).write_bytes(b"x")
        assert opening.sibling(file, file.name + end) is not None


def test_code_and_config_that_are_searched_may_be_no_links_out(tmp_path: Path, secret: Path) -> None:
    """Of a folder that is named; a link that the user names is followed."""
    link(tmp_path / "code" / "settings.yaml", secret)
    (tmp_path / "code" / "train.py").write_text("lr = 0.5\n")
    found, faults = places([tmp_path / "code"])

    assert [(place.key, place.value) for place in found] == [("lr", "0.5")]
    assert LEADS_OUT in faults[0]
    named, _ = places([tmp_path / "code" / "settings.yaml"])
    assert ("password_hint", SECRET) in [(place.key, place.value) for place in named]


def test_the_state_of_a_checkpoint_may_be_no_link_out(tmp_path: Path) -> None:
    """Shards and state of a folder; in Hugging Face's cache they are links to its blobs, and read."""
    tensor = {"w": np.arange(4, dtype=np.float32)}
    cache = tmp_path / "models--org--name"
    (cache / "blobs").mkdir(parents=True)
    save_file(tensor, cache / "blobs" / "abc")
    snapshot = cache / "snapshots" / "rev" / "model.safetensors"
    link(snapshot, cache / "blobs" / "abc")

    assert [t.name for t in la.inspect(snapshot.parent).checkpoints[0].tensors] == ["w"]
    assert [t.name for t in la.inspect(snapshot).checkpoints[0].tensors] == ["w"]
    link(tmp_path / "ckpt" / "model.safetensors", cache / "blobs" / "abc")
    with pytest.raises(SourceError, match=LEADS_OUT):
        la.inspect(tmp_path / "ckpt")


def test_links_that_a_user_names_are_followed(tmp_path: Path) -> None:
    """To a run, to a file; and W&B's `latest-run` and a run that is a link within the tree are as they were."""
    run_at(tmp_path / "far" / "runs" / "a")
    link(tmp_path / "mine", tmp_path / "far" / "runs" / "a")
    link(tmp_path / "file.log", next((tmp_path / "far" / "runs" / "a").glob("*.log"), tmp_path / "far"))
    plain = la.diagnose(tmp_path / "far" / "runs" / "a")

    assert la.diagnose(tmp_path / "mine").causes == plain.causes
    assert la.diagnose(tmp_path / "mine").run.gaps.rows() == plain.run.gaps.rows()
    link(tmp_path / "far" / "runs" / "latest-run", tmp_path / "far" / "runs" / "a")
    assert len(la.Store(tmp_path / "store").ingest([tmp_path / "far" / "runs"])) == 1


def test_a_link_within_the_tree_is_read(tmp_path: Path) -> None:
    """Settings that several runs share lie in the tree that was named; named alone, a run may not reach them."""
    one, two = (run_at(tmp_path / "runs" / name) for name in ("a", "b"))
    (tmp_path / "runs" / "base").mkdir()
    (tmp_path / "runs" / "base" / "shared.yaml").write_text(f"x: {SECRET}\n")
    for run in (one, two):
        link(run / "hparams.yaml", tmp_path / "runs" / "base" / "shared.yaml")
    with (two / "train.log").open("a") as log:
        log.write("no copy of the other\n")
    store = la.Store(tmp_path / "store")
    store.ingest([tmp_path / "runs"])

    assert store.config.collect().filter(value=SECRET).height == 2
    assert SECRET not in str(la.read_run(one).config.rows())


def test_linked_folders_that_lead_out_are_reported(tmp_path: Path) -> None:
    """Where a run or a part of one may lie behind it; data and the like are left out on purpose."""
    run = run_at(tmp_path / "tree" / "run")
    run_at(tmp_path / "tree" / "other")
    outside = run_at(tmp_path / "outside")
    for name in ("run/logs", "run/data", "linked-run"):
        link(tmp_path / "tree" / name, outside)
    found = la.read_run(run)

    assert [(file, why) for file, why in found.gaps.select("file", "why").rows() if why == LEADS_OUT] == [
        ("logs", LEADS_OUT)
    ]
    assert any("data" in text and LEADS_OUT in text for text in found.ignored)


PROBE = """
import json, sys
from pathlib import Path
opened = set()
sys.addaudithook(lambda event, args: opened.add(str(args[0])) if event == "open" else None)
from loganalyst import cli
try:
    cli.main(sys.argv[1:])
except SystemExit:
    pass
print("\\n" + json.dumps(sorted(str(Path(p).resolve()) for p in opened if not p.isdigit())))
"""


@pytest.mark.parametrize("command", ["diagnose", "show"])  # an audit reads in other processes
def test_no_file_outside_is_opened(tmp_path: Path, secret: Path, command: str) -> None:
    """As the interpreter sees it: the secret is not opened and left, but for the look at what a link leads to."""
    run = run_at(tmp_path / "run")
    for name in LINKS:
        link(run / name, secret)
    found = subprocess.run(
        [sys.executable, "-c", PROBE, command, str(run)], capture_output=True, text=True, timeout=300, check=False
    )
    opened = json.loads(found.stdout.rstrip().rpartition("\n")[2])

    assert any(file.startswith(str(run)) for file in opened)
    assert str(secret) not in opened
    assert SECRET not in found.stdout
