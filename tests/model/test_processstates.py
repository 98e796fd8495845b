"""The state of a process, as it stands in JSON."""

from dataclasses import asdict

from loganalyst.model import ProcessState


def test_a_state_is_plain_data() -> None:
    """What is not known is None."""
    state = ProcessState("rank 3", 3, None, "a.log", 5, 90, None, None, 80, "failed", "cuda_oom", 90, needed=True)

    assert asdict(state) == {
        "name": "rank 3", "rank": 3, "node": None, "file": "a.log", "first_line": 5, "last_line": 90, "started": None,
        "last_seen": None, "last_step": 80, "end": "failed", "label": "cuda_oom", "end_line": 90, "needed": True,
    }  # fmt: skip
