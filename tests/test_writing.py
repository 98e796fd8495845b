"""Written files are complete or absent: whatever fails, a full disk or Ctrl-C, leaves the old file and nothing else."""

import errno
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from loganalyst import writing
from loganalyst.auditing.findingsfile import FindingsFile
from loganalyst.errors import LogAnalystError

RUN = Path(__file__).parents[1] / "fixtures" / "runs" / "nan-lr"
PROGRAM = [sys.executable, "-m", "loganalyst.cli"]
LIMIT = 4096  # bytes a file may have in a process whose disk is "full"


def full(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    """A command in a process in which every file that grows beyond LIMIT is refused by the system."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))

    words = list(map(str, arguments))
    return subprocess.run(words, preexec_fn=limited, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def small_disk(tmp_path: Path):
    """A disk of 64 kB; only root can have one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_file_is_written_over_and_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    writing.write_whole(file, "old")
    file.chmod(0o640)
    writing.write_whole(file, "new \udcff é")

    assert file.read_bytes() == "new ? é".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["report.md"]


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    writing.write_whole(tmp_path / "ours", b"\x00\xff")
    writing.write_whole(tmp_path / "open", "", mode=0o644)

    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o644
    assert (tmp_path / "ours").read_bytes() == b"\x00\xff"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "file")
    for text in ("one", "two"):
        writing.write_whole(tmp_path / "link", text)

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "file").read_text() == "two"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda file: file.mkdir(), "Is a directory"),
        (lambda file: file.symlink_to(file), "Too many levels of symbolic links"),
        (lambda file: file.parent.rmdir(), "No such file or directory"),
    ],
)
def test_a_failed_write_is_reported(make, why: str, tmp_path: Path) -> None:
    file = tmp_path / "folder" / "report.md"
    file.parent.mkdir()
    make(file)

    with pytest.raises(LogAnalystError, match=rf"cannot be written \({why}\); -o takes a file"):
        writing.write_whole(file, "text")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path) -> None:
    """A rename would not ask."""
    file = tmp_path / "report.md"
    file.write_text("old")
    file.chmod(0o444)

    with pytest.raises(LogAnalystError, match="Permission denied"):
        writing.write_whole(file, "new")
    assert file.read_text() == "old"


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_whatever_fails_leaves_the_old_file_alone(fault, call: str, tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "report.md"
    file.write_text("old")

    def fail(*_) -> None:
        raise fault

    monkeypatch.setattr(*((os, "fsync") if call == "fsync" else (Path, "replace")), fail)
    with pytest.raises((LogAnalystError, KeyboardInterrupt)):
        writing.write_whole(file, "new")
    assert (file.read_text(), os.listdir(tmp_path)) == ("old", ["report.md"])


@pytest.mark.parametrize("old", [None, "the old report"])
def test_a_disk_that_fills_leaves_the_old_report_and_no_other_file(old: str | None, tmp_path: Path) -> None:
    """The HTML report is larger than any file may be."""
    file = tmp_path / "report.html"
    if old:
        file.write_text(old)
    told = full(*PROGRAM, "diagnose", RUN, "--format", "html", "-o", file)

    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == f"loganalyst: {file}: cannot be written (File too large); -o takes a file\n"
    assert os.listdir(tmp_path) == (["report.html"] if old else [])
    assert not old or file.read_text() == old


@pytest.mark.parametrize("words", [["show", RUN, "--plot"], ["diagnose", RUN, "--format", "html", "-o"]])
def test_a_really_full_disk(words, small_disk: Path) -> None:
    """As above, on a disk of its own: text and pictures."""
    file = small_disk / "old.png"
    file.write_bytes(b"o" * 40_000)
    told = subprocess.run([*PROGRAM, *map(str, words), str(file)], capture_output=True, text=True, check=False)

    assert told.returncode == 2
    assert "cannot be written (No space left on device)" in told.stderr
    assert (os.listdir(small_disk), file.read_bytes()) == (["old.png"], b"o" * 40_000)


def test_a_script_that_cannot_be_written_leaves_no_empty_file(tmp_path: Path) -> None:
    code = "from loganalyst import writing; from pathlib import Path; import sys; "
    code += f"writing.write_new(Path(sys.argv[1]), 'x' * {LIMIT + 1})"
    told = full(sys.executable, "-c", code, tmp_path / "new.py")

    assert "cannot be written (File too large)" in told.stderr
    assert os.listdir(tmp_path) == []


def test_findings_are_added_whole_or_not_at_all(tmp_path: Path) -> None:
    """A write that does not fit leaves the old lines; so the findings are reported again, and each is written once."""
    file = tmp_path / "findings.jsonl"
    FindingsFile(file).add(["a" * 100])
    code = "from loganalyst.auditing.findingsfile import FindingsFile; from pathlib import Path; import sys; "
    code += f"FindingsFile(Path(sys.argv[1])).add(['b' * {LIMIT - 200}, 'c' * 300])"
    told = full(sys.executable, "-c", code, file)

    assert "File too large" in told.stderr
    assert file.read_text() == "a" * 100 + "\n"


def test_findings_for_a_device(tmp_path: Path) -> None:
    """It keeps nothing that could be looked up or cut off."""
    sink = FindingsFile(Path("/dev/null"))
    sink.add(["{}"])
    assert sink.written({"1"}) == set()
    with pytest.raises(LogAnalystError, match="No space left on device"):
        FindingsFile(Path("/dev/full")).add(["{}"])
