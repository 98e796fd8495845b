"""What a log says last, where no pattern knows it: one line is last_words, with its place."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.patterns import ending, literals


def last_words(folder: Path, log: str) -> list[tuple[int, str]]:
    """Line and text of the last words."""
    path = folder / "train.log"
    path.write_text(log)
    rows = Tables.concat(reader.read(path)).lines.filter(pattern="last-words")
    assert set(rows["part"]) <= {"confirm"}
    return list(rows.select("line", "text").iter_rows())


def test_the_search_for_last_words_is_compiled_once(tmp_path: Path) -> None:
    """The compiled search is used again: making it costs more than reading a short log."""
    literals._scanner.cache_clear()

    assert last_words(tmp_path, "start\nUnable to start the quux daemon\n") == [(2, "Unable to start the quux daemon")]
    assert literals._scanner.cache_info().misses == 1


@pytest.mark.parametrize(
    "words",
    [
        "launcher: fatal error: the quux daemon has gone",
        "[2024-05-01 10:00:00] CRITICAL: quux is not reachable",
        "26/01/02 03:04:05 ERROR QuuxScheduler: Lost the quux daemon",
        "2026-01-02T03:04:05Z ERROR 77 [quux.driver.Commands]:  The quux daemon has gone",
        "Unable to start the quux daemon",
        "quux.cpp:12] Aborting the job",
        "ERROR:__main__:Loading the quux failed",
        "the quux daemon terminated unexpectedly",
        "the quux unexpectedly failed with code 9",
    ],
)
def test_errors_that_no_pattern_knows(tmp_path: Path, words: str) -> None:
    """The first of the last five lines that reports an error; blank lines do not count."""
    assert last_words(tmp_path, f"start\n{words}\n\nbye\n") == [(2, words)]
    assert last_words(tmp_path, f"start\n{words}\n" + 5 * "bye\n") == []


NPM = (
    "npm error Lifecycle script `fit` failed with error:\nnpm error code 1\nnpm error path /w/quux\n"
    "npm error workspace quux@1.0.0\nnpm error command failed\nnpm error command sh -c python fit.py\n"
)
SNAKEMAKE = "Error in rule fit:\n    jobid: 3\n    output: out/quux.bin\n    shell:\nShutting down, this might\n"


@pytest.mark.parametrize(
    "echo",
    [
        "ninja: build stopped: subcommand failed.\n",
        "make[1]: *** [Makefile:7: fit] Error 1\nmake[1]: Leaving directory '/w'\nmake: *** [all] Error 2\n",
        "error: Recipe `fit` failed on line 3 with exit code 1\n",
        "Encountered a bad command exit code!\n\nCommand: 'python fit.py'\n\nExit code: 1\n\nStdout: already printed\n",
        NPM,
        SNAKEMAKE,
    ],
)
def test_tools_that_ran_the_program_only_echo_its_exit(tmp_path: Path, echo: str) -> None:
    """The run failed. The program's own words go before, and the tool's own name no cause."""
    own = "Unable to start the quux daemon"
    assert last_words(tmp_path, f"start\n{own}\nbye\n{echo}") == [(2, own)]
    assert last_words(tmp_path, f"start\nbye\n{echo}") == [(3, echo.partition("\n")[0])]
    found = Tables.concat(reader.read(tmp_path / "train.log"))

    assert (found.sessions["status"].to_list(), found.lines["label"].drop_nulls().to_list()) == (["failed"], [])
    assert last_words(tmp_path, f"start\n{echo}" + 6 * "on with the next\n") == []


@pytest.mark.parametrize(
    "words",
    [
        "step 5 error: 0.25",
        "2026-01-02 03:04:05.678901: E quux/util.cc:131] no DT_INT32 here. Falling back to the plain one if present.",
        "[ERROR] quux: the daemon is not reachable, continuing without it",
        "CRITICAL: quux not found, using the slow one instead",
        "ERROR: the quux cache is broken\nFalling back to no cache",
        "finished with 0 errors: all good",
        "WARNING: error: retry in 5 s",
        "the error bars: none",
        "ERROR 3 of 40 files: 0",
        "Error executing job with overrides: ['device=cuda', 'loss=error']",
        "ls: cannot access checkpoints/net.1*: No such file or directory",
        "rm: cannot remove 'checkpoints/*': No such file or directory",
        "Job terminated of its own accord at 2026-01-02T03:04:05Z.",
        "❌ Not solved (target: 475, best: 27)",
        "Checkpoint tracker file does not exist: /data/run/latest_checkpointed_iteration.txt",
        "CRITICAL:__main__:Starting finetuning",
        "2026-01-02 10:00:00,123 [CRITICAL] trainer: Loading checkpoint shards",
        "ERROR:root:Epoch 3 took 12 s",
        "done",
    ],
)
def test_words_that_report_no_error(tmp_path: Path, words: str) -> None:
    """Numbers called errors, retries, and work that is logged at a high level, are none."""
    assert last_words(tmp_path, f"start\n{words}\n") == []


@pytest.mark.parametrize(
    ("words", "pattern", "label"),
    [
        ("quux.Abort: worker exceeded its memory limit of 16 GB: ERROR: stop", "wording-host-memory", "host_oom"),
        ("ERROR quux: lost contact with node n17", "wording-node", "node_failure"),
        ("Received incompatible devices for jitted computation", "wording-placement", "code_exception"),
        ("FATAL: the quux failed:\n  cannot connect to host n3: connection refused", "wording-network", "network"),
    ],
)  # fmt: skip
def test_last_words_have_the_label_of_their_family(tmp_path: Path, words: str, pattern: str, label: str) -> None:
    """Where no pattern knows the message, its family does; after a colon the message is on the next line."""
    path = tmp_path / "train.log"
    path.write_text(f"start\n{words}\n")
    rows = Tables.concat(reader.read(path)).lines.filter(pl.col("pattern").str.starts_with("wording"))

    assert rows.select("line", "pattern", "label", "part").rows() == [(2, pattern, label, "confirm")]


def test_an_exception_behind_a_bar_is_one(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("start\n100%|###| 5/5 [00:10<00:00, 1.1s/it]quux.core.QuuxError: no checkpoint found at a.ckpt\n")
    rows = Tables.concat(reader.read(path)).lines.filter(pl.col("part") == "root")

    last_words = rows.select("line", "pattern", "label").rows()
    assert last_words == [(2, "wording-checkpoint-missing", "checkpoint_missing")]


def test_a_complaint_counts_at_the_very_end_only(tmp_path: Path) -> None:
    """Three lines earlier it was survived; a warning is none."""
    path, said = tmp_path / "train.log", "Received incompatible devices for jitted computation"

    def told_patterns(log: str) -> list[str]:
        path.write_text(log)
        return Tables.concat(reader.read(path)).lines["pattern"].to_list()

    assert "wording-placement" in told_patterns(f"start\n{said}\nbye\n")
    assert "wording-placement" not in told_patterns(f"start\n{said}\nbye\nbye\nbye\n")
    assert "wording-placement" not in told_patterns(f"start\nWARNING: {said}\n")


def test_advice_is_no_last_word(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "start\n2024-02-10 17:34:19,100 - mmdet - ERROR - The testing results of the whole dataset is empty.\n"
    )

    assert Tables.concat(reader.read(path)).lines.select("pattern", "part").rows() == [("nothing-detected", "advice")]


def test_a_traceback_that_is_cut_off_may_be_explained_before_it(tmp_path: Path) -> None:
    """By the words before it, where a family knows them."""
    path = tmp_path / "train.log"
    path.write_text('start\n=> fail to read a.jpg\nTraceback (most recent call last):\n  File "/a/b.py", li\n')
    rows = Tables.concat(reader.read(path)).lines.filter(pl.col("pattern").str.starts_with("wording"))

    assert rows.select("line", "label").rows() == [(2, "filesystem")]


def test_an_exception_that_no_pattern_knows_has_the_label_of_its_words(tmp_path: Path) -> None:
    """Before the end of a log too; without a family it is an exception like any other."""
    path, head = tmp_path / "train.log", 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\n'
    labels = []
    for says in ("quux.LinkError: cannot connect to host n3: connection refused", "quux.LinkError: of no family"):
        path.write_text(f"start\n{head}{says}\n" + 20 * "bye\n")
        rows = Tables.concat(reader.read(path)).lines.filter(pl.col("part") == "root")
        labels += rows.select("line", "label").rows()

    assert labels == [(5, "network"), (5, "code_exception")]


def test_a_claimed_line_is_not_reported_twice(tmp_path: Path) -> None:
    """Where one of the last lines is claimed, that line is the fault."""
    assert last_words(tmp_path, "start\nfatal error: x has gone\nRuntimeError: CUDA out of memory.\n") == []


def test_nothing_is_reported_behind_the_end_mark(tmp_path: Path) -> None:
    """Behind the end of the training, last words are no cause."""
    assert last_words(tmp_path, "Training completed.\nfatal error: quux has gone\n") == []


def test_short_files(tmp_path: Path) -> None:
    """Without an end of the line, and empty."""
    assert last_words(tmp_path, "fatal error: quux has gone") == [(1, "fatal error: quux has gone")]
    assert last_words(tmp_path, "\n\n") == []


@pytest.mark.parametrize(
    ("log", "cut"),
    [
        ("step 1\nstep 2 lo", [(2, 7, '{"bytes":"16"}', "step 2 lo")]),
        ("step 1\nstep 2\n", []),
        ("step 1\n 5%|# | 1/20 [00:01<00:19]", []),
        ("step 1\n\x1b[1mdone\x1b[0m", []),
    ],
)
def test_a_last_line_without_an_end(tmp_path: Path, log: str, cut: list[tuple[int, int, str, str]]) -> None:
    """A progress bar needs none."""
    path = tmp_path / "a.log"
    path.write_text(log)

    assert ending.cut(path, 2, 0).select("line", "offset", "captures", "text").rows() == cut


@pytest.mark.parametrize(
    ("behind", "found"),
    [
        ("INFO:root:start\n" * 3, []),
        ("INFO:root:start\n" * 2, [(1, "Unable to start the quux daemon")]),
        (" 50%|█████     | 1/2 [00:00<00:00,  1.76it/s]\n", [(1, "Unable to start the quux daemon")]),
        (" 50%|█████     | 1/2 [00:00<00:00,  1.76it/s]\r100%|██████████| 2/2 [00:23<00:00, 11.7s/it]\n", []),
    ],
)
def test_work_behind_an_error_shows_that_it_was_survived(
    tmp_path: Path, behind: str, found: list[tuple[int, str]]
) -> None:
    assert last_words(tmp_path, "Unable to start the quux daemon\n" + behind) == found


@pytest.mark.parametrize(
    ("line", "complains"),
    [
        ("all shards done; nan rows: 0; building the index", False),
        ("run.pl: 0 / 40 failed", False),
        ("0 rows failed", False),
        ("run.pl: 10 / 40 failed", True),
        ("nan rows: 0.5", True),
        ("3 rows failed", True),
        ("Missing keys: []", False),
        ("Missing keys: ['fc.bias']", True),
        ("output truncated (512 lines left out)", False),
        ("file truncated: 512 bytes", True),
    ],
)
def test_a_count_of_none_is_no_complaint(line: str, complains: bool) -> None:
    said = ending.spoken(pl.DataFrame({"line": [1], "text": [line], "body": [line]}))

    assert said["complaint"].to_list() == [complains]
