"""The work of the other process that needs no process."""

import pytest

from loganalyst.replaying import replaychild


@pytest.mark.parametrize(
    ("start", "onset", "steps", "noted"),
    [(50, None, 100, False), (50, 49, 100, False), (50, 50, 20, False), (50, 61, 31, False), (0, 501, 500, True)],
)
def test_steps_go_past_the_onset_within_limits(start, onset, steps, noted):
    notes = []

    assert replaychild._step_count(start, onset, notes) == steps
    assert bool(notes) == noted


def test_an_error_is_located_in_the_users_code():
    try:
        exec(compile("1 / 0", "/home/me/train.py", "exec"))
    except ZeroDivisionError as error:
        found = replaychild._user_error(error)

    assert found["what"] == "raised ZeroDivisionError: division by zero"
