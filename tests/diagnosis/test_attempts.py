"""Starts of one run and earlier runs as attempts at the same training."""

from pathlib import Path

from loganalyst import diagnose
from loganalyst.diagnosis.attempts import attempts_of, in_a_row
from loganalyst.model import Attempt, Diagnosis


def failed(folder: Path, name: str, last: int, error: str = "KeyError: 'label'") -> Diagnosis:
    """The diagnosis of a run that failed behind step `last`."""
    log = "".join(f"step {i} loss {2 / (i + 1):.3f}\n" for i in range(1, last + 1))
    log += f'Traceback (most recent call last):\n  File "train.py", line 4, in <module>\n    main()\n{error}\n'
    (folder / name).write_text(log)
    return diagnose(folder / name)


def same(last_step: int | None, *, fault: bool = True) -> Attempt:
    return Attempt("run", 1, "failed", "code_exception", "job.log", 9, None, last_step, same=fault)


def test_earlier_runs_come_first(tmp_path: Path) -> None:
    """Numbers in a message do not count; another exception is another root cause."""
    other = failed(tmp_path, "1.log", 3, "ValueError: empty shard")
    first = failed(tmp_path, "2.log", 5, "KeyError: 'label 17'")
    last = failed(tmp_path, "3.log", 5, "KeyError: 'label 18'")
    found = attempts_of(last, [other, first])

    assert [(a.run, a.label, a.last_step, a.same) for a in found] == [
        ("1.log", "code_exception", 3, False),
        ("2.log", "code_exception", 5, True),
        ("3.log", "code_exception", 5, True),
    ]
    assert in_a_row(found) == 2


def test_an_attempt_that_got_further_begins_a_new_row() -> None:
    assert in_a_row([same(5), same(9), same(9), same(8)]) == 3


def test_an_unknown_step_is_no_progress() -> None:
    assert in_a_row([same(5), same(None), same(9)]) == 3


def test_another_root_cause_in_between_ends_the_row() -> None:
    assert in_a_row([same(5), same(5, fault=False), same(5)]) == 1
    assert in_a_row([]) == 0


def test_the_starts_in_one_log_are_attempts(tmp_path: Path) -> None:
    start = "Namespace(lr=0.1, epochs=3)\n" + "".join(f"step {i} loss {2 / (i + 1):.3f}\n" for i in range(1, 5))
    error = "Traceback (most recent call last):\n  File \"train.py\", line 4, in <module>\nKeyError: 'label'\n"
    (tmp_path / "job.log").write_text(2 * (start + error))
    found = attempts_of(diagnose(tmp_path / "job.log"))

    assert [(a.start, a.last_step, a.same) for a in found] == [(1, 4, True), (2, 4, True)]
