"""The starts of the program in words: how many, and how each ended."""

from collections import Counter
from collections.abc import Sequence

from loganalyst.model import SessionSummary
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean, span
from loganalyst.report.diagnosis.placenames import place_text

MAX_STARTS = 50


def session_rows(sessions: Sequence[SessionSummary]) -> tuple[Row, ...]:
    """The last starts of several. If there are more than are shown, a row on all of them comes first."""
    if len(sessions) < 2:
        return ()
    summary = [Row("all", f"{starts_text(sessions)}; the last {MAX_STARTS} follow")]
    return (*(summary if len(sessions) > MAX_STARTS else ()), *map(_session, sessions[-MAX_STARTS:]))


def starts_text(sessions: Sequence[SessionSummary]) -> str:
    """`4,137 (3,722 disk_full, 414 cuda_oom)`: how many starts, and how they ended; empty for a single one."""
    if len(sessions) < 2:
        return ""
    counts = Counter(s.label for s in sessions if s.label).most_common(3)
    faults = ", ".join(f"{count:,} {label}" for label, count in counts)
    return f"{len(sessions):,}" + (f" ({faults})" if faults and len(sessions) > 3 else "")


def _session(s: SessionSummary) -> Row:
    several = "s" if s.first_line != s.last_line else ""
    lines = f", line{several} {span(s.first_line, s.last_line)}" if s.first_line is not None else ""
    job = f"job {s.job}: " if s.job else ""
    place = place_text(s.file, s.line, s.rank, s.node)
    why = f" ({', '.join(filter(None, (s.label, place)))})" if s.label else ""
    return Row(f"start {s.index + 1}", clean(job + s.status + why + lines))
