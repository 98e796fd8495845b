"""Sessions counted per file become sessions of the run."""

from datetime import UTC, datetime

from loganalyst.sources.filetables import Facts
from loganalyst.sources.runsessions import Known, shifts


def event_file(hour: int, steps: range) -> Facts:
    return Facts(len(steps), 0, datetime(2026, 1, 1, hour, tzinfo=UTC))


def sessions(*files: Known) -> list[int]:
    return shifts(files)


def test_event_files_of_one_folder_are_starts_in_time_order() -> None:
    """Files are numbered by their start, not by their name."""
    found = sessions(
        ("tensorboard", "b.tfevents", event_file(1, range(5))), ("tensorboard", "a.tfevents", event_file(2, range(5)))
    )

    assert found == [0, 1]


def test_train_and_validation_are_one_program() -> None:
    """A sibling folder's file belongs to the start it was written in."""
    found = sessions(
        ("tensorboard", "train/a", event_file(1, range(5))),
        ("tensorboard", "train/b", event_file(5, range(5))),
        ("tensorboard", "validation/c", event_file(2, range(5))),
        ("tensorboard", "validation/d", event_file(6, range(5))),
    )

    assert found == [0, 1, 0, 1]


def test_everything_is_aligned_at_the_last_session() -> None:
    """One log with two event files belongs to the last start."""
    found = sessions(
        ("tensorboard", "a", event_file(1, range(5))),
        ("tensorboard", "b", event_file(2, range(5))),
        ("csv", "metrics.csv", event_file(1, range(5))),
    )

    assert found == [0, 1, 1]


def test_each_attempt_of_torchrun_is_a_start() -> None:
    """Only attempts with a log count. The launcher's log belongs to the last one if it reports a failed job."""
    logs = ("logs/x/attempt_0/0/stderr.log", "logs/x/attempt_0/1/stdout.log", "logs/x/attempt_2/1/stdout.log")
    ranks = [("text", name, Facts()) for name in logs]

    assert sessions(*ranks, ("text", "slurm-1.err", Facts(launcher_failed=True))) == [0, 0, 1, 1]
    assert sessions(*ranks, ("text", "slurm-1.err", Facts())) == [0, 0, 1, 0]


def test_a_log_with_fewer_starts_ends_with_the_last() -> None:
    """Such as the error stream of a requeued job. A rank's log ends with the start in which it was last written."""
    hours = [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in range(4)]
    out = ("text", "slurm-1.out", Facts(last_session=2, starts=tuple(hours[:3]), last=hours[3]))
    early = Facts(starts=(hours[0],), last=hours[1].replace(minute=30))

    assert sessions(out, ("text", "slurm-1.err", early)) == [0, 2]
    assert sessions(out, ("text", "rank_3.log", early)) == [0, 1]
    assert sessions(out, ("text", "rank_3.log", Facts())) == [0, 2]
