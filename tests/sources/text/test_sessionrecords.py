"""The table of the sessions of a log."""

from pathlib import Path

from tests.sources.text.startlogs import TRACE, read


def test_a_session_has_the_times_the_lines_and_the_end_of_its_rows(log: Path) -> None:
    steps = "".join(f"2026-03-04 10:00:0{i} step {i} loss {2 - i / 4}\n" for i in range(4))
    failed = "Namespace(lr=0.1)\n" + steps + TRACE
    tables = read(log, failed + failed.replace(" 10:", " 11:").replace(TRACE, "Training finished.\n"))
    sessions = tables.sessions.with_columns(
        *(tables.sessions[name].dt.strftime("%d %H:%M:%S") for name in ("started", "ended"))
    )

    columns = ("session", "source", "first_line", "last_line", "started", "ended", "status", "job")
    assert sessions.select(columns).rows() == [
        (0, log.name, 1, 9, "04 10:00:00", "04 10:00:03", "failed", "4711"),
        (1, log.name, 10, 15, "04 11:00:00", "04 11:00:03", "finished", "4711"),
    ]
