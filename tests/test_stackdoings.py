"""What the frames of a stack mean."""

import re

from loganalyst.stackdoings import doings


def test_collectives_are_waits_and_pools_are_helpers() -> None:
    """Each entry says where a process is, and its frames are patterns."""
    found = doings()

    assert found["collective"].waits
    assert not found["backward"].waits
    assert all(re.compile(frame) for doing in found.values() for frame in doing.frames)
    assert any(doing.helper for doing in found.values())
