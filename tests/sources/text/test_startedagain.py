"""Starts behind an exception that ended the one before, where one process writes the log."""

from pathlib import Path

import pytest

from loganalyst import pipeline

FAILED = """Traceback (most recent call last):
  File "train.py", line {line}, in <module>
    main()
  File "train.py", line 7, in main
    raise {error}
{error}
"""
WORK = "".join(f"read {n} of 900 pages\n" for n in range(0, 900, 90))
TRAINED = "Epoch 0/0\ntrain Loss: 0.0581 Acc: 0.85\nval Loss: 0.0490 Acc: 0.87\nBest val Acc: 0.87\n"
LOADED = "[2025-04-23 21:28:26,926] [INFO] accelerator set to cuda\ncache directory is /tmp/a\n"
AGAIN = "[2025-04-23 21:36:30,991] [INFO] accelerator set to cuda\ncache directory is /tmp/a\n"
LOST = FAILED.format(line=9, error="ValueError: no plot")
KILLED = FAILED.format(line=9, error="KeyError: 'a'")


def _starts(tmp_path: Path, log: str) -> list[int]:
    path = tmp_path / "nohup.out"
    path.write_text(log)
    return pipeline.read_run(path).sessions["first_line"].to_list()


@pytest.mark.parametrize(
    ("log", "first_lines"),
    [
        (WORK + LOST + WORK, [1, 17]),
        (TRAINED + LOST + TRAINED, [1, 11]),
        (KILLED + LOADED + LOST + AGAIN + "done\n", [1, 15]),
        (LOST + WORK + LOST + "\n" + WORK + KILLED, [1, 7, 24]),
        (LOST + "run b\nread 3 files\nbegin\n" + LOST + "run c\nread 3 files\nbegin\n" + KILLED.rstrip(), [1, 7, 16]),
    ],
    ids=[
        "work",
        "training",
        "set-up behind two exceptions",
        "work between exceptions",
        "no line end behind the last one",
    ],
)
def test_the_first_line_again_or_work_between_exceptions(tmp_path: Path, log: str, first_lines: list[int]) -> None:
    """A clock before the repeated line does not matter."""
    assert _starts(tmp_path, log) == first_lines


@pytest.mark.parametrize(
    "log",
    [
        WORK + LOST + "".join(f"read {n} of 900 pages\n" for n in range(900, 990, 10)),
        LOST + WORK,
        "0it [00:00, ?it/s]\n" + LOST + "0it [00:00, ?it/s]\n",
        "world size 2\n" + TRAINED + LOST + "Epoch 0/0\n" + LOST,
        WORK + LOST + LOST,
    ],
    ids=["the rest of a buffer", "all of a buffer", "a bar drawn once more", "several processes", "two ranks"],
)
def test_one_start(tmp_path: Path, log: str) -> None:
    assert _starts(tmp_path, log) == [1]
