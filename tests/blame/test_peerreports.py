"""Complaints about peers that another fault explains."""

from loganalyst.blame.peerreports import explained
from tests.blame.blamelines import rows

COMPLAINT = {"part": "peer", "rank": 0}


def test_an_earlier_fault_explains_a_complaint() -> None:
    """A later fault of a rank that complained as well does not."""
    fault = {"part": "root", "label": "code_exception", "rank": 0}

    assert explained(rows(fault, COMPLAINT)).to_list() == [1]
    assert explained(rows(COMPLAINT, fault)).to_list() == []


def test_a_fault_that_is_reported_late_explains_earlier_complaints() -> None:
    """The kernel's record of a kill comes last. So does the fault of a rank that never complained."""
    assert explained(rows(COMPLAINT, {"part": "root", "label": "host_oom"})).to_list() == [0]
    assert explained(rows(COMPLAINT, {"part": "root", "label": "code_exception", "rank": 1})).to_list() == [0]


def test_an_interrupt_explains_nothing() -> None:
    """A launcher interrupts the remaining ranks."""
    assert explained(rows({"part": "root", "label": "user_interrupt", "rank": 1}, COMPLAINT)).to_list() == []


def test_lines_without_a_complaint_are_left_out() -> None:
    """No complaint, no consequence."""
    assert explained(rows({"part": "root", "label": "code_exception"})).to_list() == []
