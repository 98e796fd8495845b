"""Places in words: file and line, rank and node."""

from loganalyst.model import Cause, Diagnosis, Fix
from loganalyst.report.common.wording import clean

MAX_PLACE = 48  # characters of a file's path; a longer path shows its end


def written(fix: Fix) -> str:
    """Where the setting to change is written: `train.py:12 lr = 0.003`."""
    return "; ".join(f"{place_text(p.file, p.line)} {p.key} = {p.value}" for p in fix.places)


def place_text(file: str | None, line: int | None, rank: int | None = None, node: str | None = None) -> str:
    """`train.log:12, rank 3, node n07`, as far as these are known."""
    named = clean(file, 1000)
    short = named if len(named) <= MAX_PLACE else f"…{named[-MAX_PLACE:]}"
    parts = [short + (f":{line}" if line is not None else "")] if file else []
    parts += [f"rank {rank}"] if rank is not None else []
    parts += [f"node {clean(node, 80)}"] if node else []
    return ", ".join(parts)


def place_of_cause(cause: Cause, d: Diagnosis) -> str:
    """`train.log:12, rank 3, node n07`. Where another rank than the first one printed the line: `train.log:12, rank 4;
    rank 3 was first`.
    """
    file = cause.file if cause.line is not None else None
    printers = d.run.lines.filter(file=cause.file, line=cause.line)["rank"].drop_nulls().to_list() if file else []
    known = {process.rank for process in d.processes}
    printers = [rank for rank in printers if rank in known or not known]  # the number of a device is no process
    if not printers or cause.rank is None or cause.rank in printers:
        return place_text(file, cause.line, cause.rank, cause.node)
    first = place_text(None, None, cause.rank, cause.node)
    return f"{place_text(file, cause.line, printers[0])}; {first} was first"
