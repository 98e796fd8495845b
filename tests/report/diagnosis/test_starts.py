from dataclasses import replace

from loganalyst.model import SessionSummary
from loganalyst.report.diagnosis import terminal
from loganalyst.report.diagnosis.document import document


def test_sessions_are_told_where_there_are_several(failed, crashed):
    """One start says nothing; two are listed."""
    assert document(failed).sessions == ()
    assert [row.label for row in document(crashed).sessions] == ["start 1", "start 2"]


def test_of_thousands_of_starts_the_last_are_told_and_all_are_counted(healthy):
    """A job that was begun anew over and over; the last start runs, which does not hide how the others ended."""
    labels = ["disk_full" if i % 10 else "cuda_oom" for i in range(4136)]
    ended = [SessionSummary(i, 9 * i + 1, 9 * i + 9, "failed", label) for i, label in enumerate(labels)]
    looped = replace(healthy, sessions=(*ended, SessionSummary(4136, 37225, None, "running", None)))
    found = document(looped)

    assert found.starts == "4,137 (3,722 disk_full, 414 cuda_oom)"
    assert [row.label for row in found.sessions[:2]] == ["all", "start 4088"]
    assert found.sessions[0].text == "4,137 (3,722 disk_full, 414 cuda_oom); the last 50 follow"
    assert len(found.sessions) == 51
    assert "Starts     4,137 (3,722 disk_full, 414 cuda_oom); start 4135 failed (disk_full)" in terminal.render(looped)
    assert "Starts" not in terminal.render(replace(looped, sessions=looped.sessions[-1:]))
