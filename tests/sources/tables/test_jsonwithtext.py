"""Text between JSON lines is read as a log, and the objects as metrics."""

import json
from pathlib import Path

import pytest

from loganalyst import diagnose
from loganalyst.model import Tables
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.tables import json_reader, jsonwithtext

TRACE = (
    'Traceback (most recent call last):\n  File "/home/me/train.py", line 4, in <module>\n    main()\n    ~~~~^^\n'
    "KeyError: 'input_ids'\n"
)
SAMPLE = "the story says RuntimeError: CUDA out of memory. Tried to allocate 2 GiB; " * 2


def objects(begin: int, end: int) -> str:
    """Rows of metrics with a long sample of a language model."""
    rows = [{"step": i, "train": {"loss": 2.5 - i / 64}, "sample": SAMPLE} for i in range(begin, end)]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def read(tmp_path: Path, text: str, name: str = "metrics.jsonl") -> Tables:
    (tmp_path / name).write_text(text)
    return Tables.concat(json_reader.read(tmp_path / name))


def known_lines(tables: Tables) -> list[tuple[int, str]]:
    return [(line, pattern) for line, pattern in tables.lines.select("line", "pattern").rows()]


def test_a_traceback_behind_objects_ends_the_run(tmp_path):
    tables = read(tmp_path, objects(0, 40) + TRACE)
    (cause, *_) = diagnose(tmp_path / "metrics.jsonl").causes
    points = tables.points
    assert known_lines(tables) == [(41, "traceback"), (45, "python-exception")]
    assert tables.blocks.select("first_line", "last_line", "exception").rows() == [(41, 45, "KeyError")]
    assert tables.sessions.select("first_line", "last_line", "status").rows() == [(1, 45, "failed")]
    assert points["metric"].unique().to_list() == ["train/loss"]
    assert points["value"].to_list() == [2.5 - i / 64 for i in range(40)]
    assert tables.gaps.rows() == []
    assert (cause.id, cause.line) == ("code-exception", 45)


def test_training_that_goes_on_survives_a_traceback(tmp_path):
    tables = read(tmp_path, objects(0, 20) + TRACE + objects(20, 40) + "Training finished.\n")
    assert tables.sessions["status"].to_list() == ["finished"]
    assert tables.points.height == 40


def test_text_behind_an_object_in_its_line(tmp_path):
    tables = read(tmp_path, objects(0, 3)[:-1] + TRACE)
    assert known_lines(tables) == [(3, "traceback"), (7, "python-exception")]
    assert tables.points["step"].to_list() == [0, 1, 2]


def test_words_in_long_texts_of_objects_are_no_errors(tmp_path):
    """A sample that names an error is no error, also next to text."""
    tables = read(tmp_path, objects(0, 3) + "Killed\n")
    assert known_lines(tables) == [(4, "shell-killed")]


def test_a_traceback_in_an_object(tmp_path):
    record = json.dumps({"step": 3, "level": "error", "traceback": TRACE})
    tables = read(tmp_path, f"{objects(0, 3)}{record}\nLeaving the node\n")
    assert known_lines(tables) == [(4, "traceback"), (4, "python-exception")]


def test_metrics_in_the_text_are_read_unless_the_objects_have_them(tmp_path):
    text = objects(0, 4).replace('"train": {"loss"', '"train": {"val_acc"') + "epoch 1 loss 0.5 val_acc 0.75\n"
    tables = read(tmp_path, text.replace("train", "t") + "epoch 2 loss 0.25 val_acc 0.875\n")
    assert tables.points.filter(metric="loss")["value"].to_list() == [0.5, 0.25]
    assert tables.points["metric"].unique().sort().to_list() == ["loss", "t/val_acc", "val_acc"]


def test_a_second_start_takes_the_points_behind_it(tmp_path):
    tables = read(
        tmp_path, f"{objects(0, 12)}{TRACE}wandb: Tracking run with wandb version 0.16.1\n{objects(0, 8)}", "log.txt"
    )
    assert tables.sessions["first_line"].to_list() == [1, 18]
    assert tables.points.group_by("session").len().sort("session").rows() == [(0, 12), (1, 8)]


def test_damaged_objects_are_gaps_and_no_text(tmp_path):
    text = objects(0, 2) + '{"step": 2, "loss"\n[1]\n" ss": 0.5}\n' + objects(3, 4)
    tables = read(tmp_path, text)
    begin = len(objects(0, 2))
    assert tables.gaps.rows() == [("metrics.jsonl", begin, 34, "not a JSON object in line 3 to 5")]
    assert tables.lines.height == tables.sessions.height == 0


@pytest.mark.parametrize(
    ("part", "text", "damaged"),
    [
        (b"Killed", True, False),
        (b"slurmstepd: error: *** JOB 7 ON n1 CANCELLED ***", True, False),
        (b'  File "train.py", line 3, in main', True, False),
        (b"ValueError: {'a': 1}", True, False),
        (b'ss": 0.5}', False, True),
        (b'{"loss": 0.', False, True),
        (b"    ~~~~^^", False, False),
        (b"[1]", False, False),
        (b"", False, False),
    ],
)
def test_text_and_damaged_objects(part, text, damaged):
    assert (jsonwithtext.is_text(part), jsonwithtext.is_damaged(part)) == (text, damaged)


def test_text_that_was_appended_makes_the_reader_start_again(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text(objects(0, 64))
    reading = json_reader.resume(path, None, block=256)
    mark = None
    while mark is None:
        try:
            next(reading)
        except StopIteration as end:
            mark = end.value
    assert isinstance(mark, Mark)
    path.write_text(objects(0, 64) + TRACE)
    with pytest.raises(StartAgainError):
        list(json_reader.resume(path, mark, block=256))
