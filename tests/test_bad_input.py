"""Bad input through the command line: one clear line, exit code 2 where nothing could be read, never a traceback."""

import os
import socket
import zipfile
from pathlib import Path

import pytest

from tests.commandline import Told, called

TABLE = "step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(50))
READABLE = (
    "readable are TensorBoard, W&B, MLflow, Trackio, Neptune, Comet, ClearML, Sacred, CSV, JSON, Parquet, NumPy, SLURM "
    "and text logs, and dumps of torch's flight recorder or of stacks, also compressed"
)
NEEDED = "a run directory, a log file or a SLURM log is needed"


def diagnose(*paths: str, cwd: Path) -> Told:
    """Exit code, stdout and stderr of `loganalyst diagnose`."""
    return called("diagnose", *paths, cwd=cwd)


def run(folder: Path, **files: str) -> Path:
    """A run with a healthy table and other files (``__`` in a name stands for a dot)."""
    folder.mkdir()
    (folder / "metrics.csv").write_text(TABLE)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_unreadable_paths_have_a_line_each_and_the_rest_is_diagnosed(tmp_path):
    """Of many bad paths each is told with what is wrong and what is allowed; the good run among them is diagnosed."""
    run(tmp_path / "good")
    (tmp_path / "empty").mkdir()
    (tmp_path / "zeros.csv").write_bytes(bytes(5000))
    (tmp_path / "nothing.csv").touch()
    with zipfile.ZipFile(tmp_path / "packed.csv", "w") as packed:
        packed.writestr("metrics.csv", TABLE)
    (tmp_path / "seven.wandb").write_bytes(b":W&B\xe1\xbe\x00")
    (tmp_path / "circle").symlink_to("circle")
    os.mkfifo(tmp_path / "pipe.log")
    expected = {
        "missing": f"no such file or directory; {NEEDED}",
        "empty": f"is an empty directory; {READABLE}",
        "zeros.csv": "nothing could be read (zeros.csv: binary data of no known log format (a NUL byte at offset 0));"
        f" {READABLE}",
        "nothing.csv": f"nothing could be read (nothing.csv: empty file); {READABLE}",
        "packed.csv": f"nothing could be read (packed.csv: compressed by zip: unpack it first); {READABLE}",
        "seven.wandb": "nothing could be read (seven.wandb: the file ends after its header: nothing was logged);"
        f" {READABLE}",
        "circle": f"a link that leads nowhere; {NEEDED}",
        "pipe.log": f"is no regular file; {NEEDED}",
        "-": "no such file; standard input is not read: name a file",
    }
    code, out, err = diagnose("good", *expected, cwd=tmp_path)

    assert (code, out.splitlines()[0].split()[:3]) == (2, ["✓", "good", "Healthy:"])
    assert err.splitlines() == [f"loganalyst: {path}: {line}" for path, line in expected.items()]


def test_odd_files_in_a_run_are_told_and_not_opened(tmp_path):
    """Pipes, sockets, circles of links and names that are no UTF-8 do not hang the reader or hide the table."""
    folder = run(tmp_path / "odd")
    os.mkfifo(folder / "config.yaml")
    os.mkfifo(folder / "loganalyst.yaml")
    (folder / "a.log").symlink_to("b.log")
    (folder / "b.log").symlink_to("a.log")
    (folder / os.fsdecode(b"\xff.log")).write_text("loss 1\n")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "s.log"))
        code, out, err = diagnose("odd", "--format", "markdown", cwd=tmp_path)

    assert (code, err) == (0, "")
    assert out.split("## Not read\n\n")[1].splitlines()[2:] == [
        r"| a.log | cannot be read (Too many levels of symbolic links) |",
        r"| b.log | cannot be read (Too many levels of symbolic links) |",
        r"| config.yaml | is no regular file |",
        r"| s.log | is no regular file |",
        r"| ?.log | its name is not valid UTF-8 |",
    ]


def test_a_run_folder_whose_name_is_no_utf8(tmp_path):
    """It is diagnosed like any other."""
    run(tmp_path / os.fsdecode(b"run\xff"))

    assert diagnose(os.fsdecode(b"run\xff"), "--format", "json", cwd=tmp_path)[0] == 0


NESTED = {
    "brackets": "[" * 200_000,
    "mappings": "{a: " * 100_000,
    "dashes": "- " * 100_000 + "a",
    "closed": "[" * 500 + "]" * 500,
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_deep_nesting_beside_a_run_is_refused(tmp_path, text):
    """A loganalyst.yaml may come with the run: nesting that ends other YAML readers is one line with its place."""
    folder = run(tmp_path / "deep", loganalyst__yaml=text)

    assert diagnose("deep", cwd=tmp_path)[0] == 0  # nobody asked for it
    code, _, err = diagnose("deep", "--trust-run-settings", cwd=tmp_path)
    assert (code, err) == (
        2,
        f"loganalyst: {folder}/loganalyst.yaml:1: nested too deeply; at most 40 levels\n",
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &a [x]\nb: *a\n", "2: found an alias (*a); write the value out"),
        ("ignore: [{rule: x, until: 2027-99-99}]", "1: not valid YAML ('2027-99-99': month must be in 1..12)"),
        ("ignore: [{rule: x, runs: 3}]", "1: runs is 3; a text is needed"),
        ("roles: {a: 3}", "1: a is 3; a text is needed"),
        ("? [a, b]\n: c\n", "1: not valid YAML here (a key that is no plain text); `key: value`"),
        ("loss_terms: {a: .nan}", "1: a is nan; a number is needed"),
        ("roles: {}\n---\nroles: {}\n", "2: found another document; one document a file"),
    ],
)
def test_a_faulty_correction_is_one_line_and_the_next_run_goes_on(tmp_path, text, line):
    """A loganalyst.yaml that is not valid stops its own run only."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "loganalyst.yaml").write_text(text)
    run(folder / "faulty")
    run(tmp_path / "good")

    code, out, err = diagnose("mine/faulty", "good", cwd=tmp_path)
    assert (code, err) == (2, f"loganalyst: {folder}/loganalyst.yaml:{line}\n")
    assert out.startswith("✓ good")


def test_what_was_left_out_of_the_users_rules_is_told(tmp_path):
    """A folder of rules that is missing and a misspelt rule to ignore are told; the run is diagnosed without them."""
    folder = tmp_path
    run(tmp_path / "run")
    (folder / "loganalyst.yaml").write_text("rules: [mine]\nignore: [{rule: loss-spike}]\n")

    code, out, err = diagnose("run", cwd=tmp_path)
    assert (code, err.splitlines()) == (
        0,
        [
            f"loganalyst: {folder}/mine: is no folder",
            f"loganalyst: {folder}/loganalyst.yaml: ignore names 'loss-spike', which is no rule;"
            " did you mean 'loss-spikes'?",
        ],
    )
    assert out.startswith("✓ run")


def test_a_huge_correction_is_refused(tmp_path):
    """Rules and corrections past 2 MB are not read, and what is found is not printed in full."""
    run(tmp_path / "big", loganalyst__yaml="roles: {a: " + "x" * 3_000_000 + "}")
    run(tmp_path / "long", loganalyst__yaml="roles: {a: " + "x" * 1_000_000 + "}")

    assert diagnose("big", "--trust-run-settings", cwd=tmp_path)[2].endswith(
        "loganalyst.yaml: larger than 2 MB; plain mappings and lists\n"
    )
    assert 0 < len(diagnose("long", "--trust-run-settings", cwd=tmp_path)[2]) < 700


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["diagnose", "good", "--rules", "mine"], "mine: is no folder; --rules takes a folder with rules of your own"),
        (["diagnose", "good", "--config", "x"], "x: no such file; --config takes a loganalyst.yaml"),
        (["diagnose", "good", "-o", "no/x"], "no/x: cannot be written (No such file or directory); -o takes a file"),
        (["show", "good", "--plot", "no/x.png"],
         "no/x.png: cannot be written (No such file or directory); --plot takes a file"),
        (["show", "good", "--metric", "los"], "good: no metric 'los'; did you mean 'loss'?"),
    ],
)  # fmt: skip
def test_options_that_name_nothing(tmp_path, arguments, line):
    """A file or name that an option asks for and that is not there is one line."""
    run(tmp_path / "good")

    assert called(*arguments, cwd=tmp_path) == (2, "", f"loganalyst: {line}\n")


def test_logs_beside_a_directory_that_cannot_be_read(tmp_path):
    """They are diagnosed by themselves."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "train.log").write_text("".join(f"step {i} loss {1 / (i + 1)}\n" for i in range(50)))

    code, out, err = diagnose("empty", "train.log", cwd=tmp_path)
    assert (code, err) == (2, f"loganalyst: empty: is an empty directory; {READABLE}\n")
    assert out.startswith("✓ train.log")
