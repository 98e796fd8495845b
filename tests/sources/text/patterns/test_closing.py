"""The last lines of a log that say that its job ended well, in any words."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst import pipeline
from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.patterns import closing

START = "Loading data ...\nTraining 3 models\n"
STAMP = "2026-02-22 18:16:34,990"


def closings(folder: Path, log: str) -> list[tuple[int, str, str]]:
    """Line, pattern and part of what closes a log."""
    path = folder / "run.log"
    path.write_text(log, encoding="utf-8")
    lines = Tables.concat(reader.read(path)).lines
    return list(lines.filter(pl.col("pattern").str.starts_with("closing-")).select("line", "pattern", "part").rows())


def status(folder: Path, log: str) -> str:
    """The status of the diagnosis of a log."""
    path = folder / "run.log"
    path.write_text(log, encoding="utf-8")
    return pipeline.diagnose_paths([path])[0].status


KINDS = [*closing.words().kinds, closing.words().begun]


@pytest.mark.parametrize("words", KINDS, ids=lambda words: getattr(words, "id", "begun"))
def test_the_examples_of_a_kind(words: closing.Words) -> None:
    """Each kind accepts its examples, as a log prints them, and no counterexample."""
    accepted, refused = (closing.messages(pl.Series(texts)) for texts in (words.tests.match, words.tests.no_match))

    assert words.match(accepted).to_list() == [True] * len(accepted)
    assert words.match(refused).to_list() == [False] * len(refused)


@pytest.mark.parametrize(
    "end",
    [
        f"{STAMP}  INFO  Done.",
        "2026-04-22T07:02:44  INFO      ========== JOB END — SUCCESS ==========",
        "30-Jun-23 23:32:46-INFO-[train.py:174]  The train script ran successfully",
        "I0331 11:06:49.878639 24302 caffe.cpp:254] Optimization Done.",
        f"{STAMP} | INFO | PIPELINE MODÉLISATION — TERMINÉ ✅",
        f"{STAMP} [INFO] Обучение завершено успешно",
        "训练完成",
        "All Finished - time = 22.009561 \n\n----------------",
        "Finished mdrun on rank 0 Mon Nov 10 11:08:09 2025",
        "24-09 06:02:48 root                         main() INFO     Finished MAIN",
        "Train finish time: Fri Jul 27 11:38:30 2018",
        "exit status: 0",
    ],
)
def test_an_end_in_any_words(tmp_path: Path, end: str) -> None:
    """The last message is an end, whatever the logger writes before it: the job finished."""
    assert closings(tmp_path, f"{START}{end}\n") == [(3, "closing-end", "end")]
    assert status(tmp_path, f"{START}{end}\n") == "healthy"


@pytest.mark.parametrize(
    "end",
    [
        "Done loading data",
        "Epoch 3 done",
        "Run 4/5 finished",
        "SUCCESS: Split data in training and test data",
        "Successfully opened dynamic library libcudart.so.11.0",
        "Training finished with errors",
        "训练数据加载完成",
        "Training XGBoost classifier...",
        "Starting evaluation",
        "exit status: 1",
    ],
)
def test_an_end_of_a_part_is_no_end(tmp_path: Path, end: str) -> None:
    """An end of what goes before the work, or of one part of it, does not end the job."""
    assert [row for row in closings(tmp_path, f"{START}{end}\n") if row[2] == "end"] == []


def test_work_that_begins_behind_an_end(tmp_path: Path) -> None:
    """The pipeline goes on: nothing shows how its evaluation went."""
    assert closings(tmp_path, f"{START}Stage train complete\nSTART evaluate\n") == []
    assert closings(tmp_path, f"{START}Model trained: done\nEvaluating on the test images\n") == []


def test_files_at_the_end(tmp_path: Path) -> None:
    """A model that was written is the product of the job; settings and checkpoints are not."""
    assert closings(tmp_path, f"{START}Model saved at out/model.txt\n") == [(3, "closing-saved", "work")]
    assert closings(tmp_path, f"{START}Config saved to out/config.yaml\n") == []
    assert closings(tmp_path, f"{START}Saved checkpoint to out/model.pt\n") == []


@pytest.mark.parametrize(
    "fault",
    [
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    main()\nValueError: bad',
        "run.sh: line 5: python4: command not found",
        "Unable to start the quux daemon",
    ],
)
def test_a_job_that_failed_stays_failed(tmp_path: Path, fault: str) -> None:
    """The shell goes on behind a program that failed, and prints that the job is done."""
    assert closings(tmp_path, f"{START}{fault}\nThe job ran successfully\n") == []
    assert status(tmp_path, f"{START}{fault}\nThe job ran successfully\n") != "healthy"


def test_an_exception_that_the_program_logged_and_survived(tmp_path: Path) -> None:
    """The program prints an exception, works on, and says at last that it ended."""
    traceback = 'Traceback (most recent call last):\n  File "a.py", line 3, in send\n    post()\nValueError: bad\n'
    fault = f"{STAMP} [ERROR] upload failed\n{traceback}"
    work = "".join(f"{STAMP} [INFO] file {i} of the corpus\n" for i in range(20))
    assert closings(tmp_path, f"{START}{fault}{work}{STAMP} [INFO] Обучение завершено успешно\n") == [
        (28, "closing-end", "end")
    ]


def test_a_log_that_says_nothing(tmp_path: Path) -> None:
    """Start-up lines alone do not show an end."""
    assert closings(tmp_path, START) == []
    assert status(tmp_path, START) == "insufficient_data"


def test_an_empty_log(tmp_path: Path) -> None:
    """Nothing is read from nothing."""
    assert closings(tmp_path, "\n=====\n") == []
