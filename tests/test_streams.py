"""stdout that is full, closed or not read, and Ctrl-C: one clear line and the documented exit code, from every command.

A command never says that it met an internal error.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import loganalyst as la
from loganalyst import cli

pytestmark = pytest.mark.usefixtures("workers_here")
RUN = Path(__file__).parents[1] / "fixtures" / "runs" / "nan-lr"
PROGRAM = [sys.executable, "-m", "loganalyst.cli"]
INTERRUPTED_IMPORT = """
import sys
class CtrlC:  # in the midst of the import of a module
    module = sys.argv.pop(1)
    def find_spec(self, name, *_):
        if name == self.module:
            self.module = ""
            raise KeyboardInterrupt
sys.meta_path.insert(0, CtrlC())
from loganalyst.cli import program
program()
"""
COMMANDS = {  # and the exit code with a good stdout
    "--help": 0,
    "--version": 0,
    "": 2,
    "diagnose --help": 0,
    "rules": 2,
    "rules list": 0,
    "rules explain lr-too-high": 0,
    "rules check": 0,
    "schema": 0,
    "script": 0,
    "script memory": 0,
    "diagnose RUN": 1,
    "diagnose RUN --format html": 1,
    "show RUN": 0,
    "show RUN --features": 0,
    "audit RUN --jobs 1": 1,
    "compare RUN --jobs 1": 0,
    "verify RUN RUN": 1,
    "scan RUN --jobs 1 --store NEW": 1,
    "ingest RUN --store NEW": 0,
    "confirm RUN none --store NEW": 0,
    "query SELECT+1 --store STORE": 0,
    "query SELECT+1 --store STORE --format csv": 0,
}
# Those of which a process is seen, too; what the others write goes through the same streams
PROCESSES = ["--help", "rules list", "diagnose RUN", "scan RUN --jobs 1 --store NEW"]
FULL = "loganalyst: stdout: cannot be written (No space left on device); the output is incomplete\n"
CLOSED = FULL.replace("No space left on device", "Bad file descriptor")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    la.Store(folder).ingest([RUN])
    return folder


def words(command: str, store: Path, new: Path) -> list[str]:
    names = {"RUN": str(RUN), "STORE": str(store), "NEW": str(new)}
    return [*PROGRAM, *(names.get(word, word).replace("+", " ") for word in command.split())]


def ended(shell: str, arguments: list[str]) -> tuple[int, str]:
    """Exit code and stderr of a program that a shell starts with its streams as `shell` says."""
    done = subprocess.run(["sh", "-c", f'"$@" {shell}', "sh", *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def called_into(number: int, command: list[str]) -> tuple[int, str]:
    """Exit code and stderr of a command called in this process, with this open file as its stdout."""
    err, code = io.StringIO(), 0
    out = open(number, "w", encoding="utf-8")  # noqa: SIM115 - closing it fails, as it should
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main(command[len(PROGRAM) :])
        except SystemExit as stop:
            code = int(stop.code or 0)
    with contextlib.suppress(OSError):
        out.close()
    return code, err.getvalue()


def check_full(code: int, err: str) -> None:
    assert (code, err[-len(FULL) :]) == (2, FULL)
    assert "Traceback" not in err
    assert "internal" not in err


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in {"", "rules"}])
def test_every_command_reports_a_full_stdout(command: str, store: Path, tmp_path: Path) -> None:
    check_full(*called_into(os.open("/dev/full", os.O_WRONLY), words(command, store, tmp_path / "new")))


@pytest.mark.parametrize("command", PROCESSES)
def test_a_full_stdout_is_reported(command: str, store: Path, tmp_path: Path) -> None:
    """By the process, whose last words are lost if nobody looks."""
    check_full(*ended("> /dev/full", words(command, store, tmp_path / "new")))


@pytest.mark.parametrize("command", ["--help", "--version", "rules list", "diagnose RUN"])
def test_a_closed_stdout_is_reported(command: str, store: Path, tmp_path: Path) -> None:
    assert ended(">&-", words(command, store, tmp_path / "new")) == (2, CLOSED)


def check_gone(command: str, code: int, err: str) -> None:
    scan = command.startswith("scan")

    assert code == (2 if scan else COMMANDS[command])
    assert "Traceback" not in err
    assert "internal" not in err
    assert err.endswith("reports these findings again\n") if scan else "stdout: " not in err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_goes_away_changes_no_answer(command: str, store: Path, tmp_path: Path) -> None:
    """Such as `head`; but a scan must have reported its findings."""
    reader, writer = os.pipe()
    os.close(reader)
    check_gone(command, *called_into(writer, words(command, store, tmp_path / "new")))


@pytest.mark.parametrize("command", PROCESSES)
def test_a_reader_that_goes_away_changes_nothing(command: str, store: Path, tmp_path: Path) -> None:
    """Nor is anything said when the process ends."""
    arguments = words(command, store, tmp_path / "new")
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    check_gone(command, process.wait(), err)


def test_a_scan_without_output_reports_its_findings_again(tmp_path: Path) -> None:
    """A full stdout took none of them."""
    arguments = [*PROGRAM, "scan", str(RUN), "--jobs", "1", "--store", str(tmp_path / "store")]
    assert ended("> /dev/full", arguments)[0] == 2
    again = subprocess.run(arguments, capture_output=True, text=True, check=False)

    assert again.returncode == 1
    assert again.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "shell"),
    [
        ("diagnose nowhere", "2>&-"),
        ("diagnose nowhere", "2> /dev/full"),
        ("diagnose nowhere", ">&- 2>&-"),
        ("diagnose nowhere", "<&- >&- 2>&-"),
        ("nonsense", "2>&-"),
        ("nonsense", "2> /dev/full"),
        ("diagnose RUN --no-such-option", "2>&-"),
        ("diagnose RUN --no-such-option", "2> /dev/full"),
    ],
)
def test_without_stderr_the_exit_code_reports_the_error(command: str, shell: str, store: Path, tmp_path: Path) -> None:
    """And no complaint goes to stdout."""
    done = subprocess.run(
        ["sh", "-c", f'"$@" {shell}', "sh", *words(command, store, tmp_path)], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


def test_with_closed_streams_nothing_strays_into_a_file(tmp_path: Path) -> None:
    """The numbers of stdout and stderr are not given to the file of the report."""
    code, _ = ended(">&- 2>&-", [*PROGRAM, "diagnose", str(RUN), "--format", "json", "-o", str(tmp_path / "r.json")])

    assert code == 1
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["analysis_artifacts"]["files"] == [str(tmp_path / "r.json")]
    assert data["root_causes"] == json.loads(la.diagnose(RUN).to_json())["root_causes"]


@pytest.mark.parametrize("command", ["audit RUNS --jobs 2", "ingest RUNS --store NEW --processes 2", "rules test"])
def test_ctrl_c_is_one_line(command: str, store: Path, tmp_path: Path) -> None:
    """The terminal sends it to all processes; a second one, while it ends, changes nothing."""
    arguments = [word.replace("RUNS", str(RUN.parent)) for word in words(command, store, tmp_path / "new")]
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    maps = Path(f"/proc/{process.pid}/maps")
    while "polars" not in maps.read_text():  # the command has begun, and 48 runs take it some time
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (130, "loganalyst: interrupted\n"), out


@pytest.mark.parametrize("module", ["polars.datatypes.convert", "loganalyst.model"])
def test_ctrl_c_amid_an_import_is_one_line(module: str) -> None:
    """The half of polars that is imported fails otherwise when it is imported again; the line is printed without it."""
    arguments = [sys.executable, "-c", INTERRUPTED_IMPORT, module, "diagnose", str(RUN)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr, done.stdout) == (130, "loganalyst: interrupted\n", "")
