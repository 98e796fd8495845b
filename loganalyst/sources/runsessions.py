"""Which start of the program a row belongs to: sessions counted per file become sessions of the run."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from loganalyst.sources.discovery import rotation
from loganalyst.sources.filetables import Facts
from loganalyst.sources.text.lines import owners

_ATTEMPT = re.compile(r"(?:^|/)attempt_(\d{1,6})/")

Known = tuple[str, str, Facts]  # format, path within the run, facts of a file


def shifts(files: Sequence[Known]) -> list[int]:
    """What to add to each file's session numbers to make them sessions of the whole run.

    A restart in the same folder writes a new event file; a text log may hold several starts one after another; torchrun
    gives each start a folder. Event files are ordered by their start, folder by folder (train/ and validation/ are one
    program); a part of a rotated log goes on with the last session of the part before it; everything is
    aligned at the last session, since the last start is the one that is judged.
    """
    numbers = _event_files([(source, known) for fmt, source, known in files if fmt == "tensorboard"])
    numbers |= _texts([(source, known) for fmt, source, known in files if fmt == "text"])
    first = [numbers.get(source, 0) for _, source, _ in files]
    last = [(fmt, begin + known.last_session) for begin, (fmt, _, known) in zip(first, files, strict=True)]
    per_format: dict[str, int] = {}
    for fmt, number in last:
        per_format[fmt] = max(number, per_format.get(fmt, 0))
    top = max(per_format.values(), default=0)
    return [begin + top - per_format[fmt] for begin, (fmt, _, _) in zip(first, files, strict=True)]


def _texts(files: Sequence[tuple[str, Facts]]) -> dict[str, int]:
    """The first session of each log. One that tells of fewer starts than another, as the error stream of a job that was
    requeued, ends with the last; that of a rank, which may not have come back, with the one in which it was last
    written, by the other's times.
    """
    begin = _rotated(files)
    if attempts := _attempts(files):
        return begin | attempts
    logs: dict[str, list[tuple[str, Facts]]] = {}
    for source, known in sorted(files, key=lambda file: rotation.order(file[0])):
        logs.setdefault(rotation.part_of(source)[0], []).append((source, known))
    reached = {log: begin[parts[-1][0]] + parts[-1][1].last_session for log, parts in logs.items()}
    top = max(reached.values(), default=0)
    starts = next((_starts(parts) for log, parts in logs.items() if reached[log] == top), [])
    for log, parts in logs.items():
        rank, _ = owners.of_file(Path(log))
        ended = max((known.last for _, known in parts if known.last), default=None) if rank is not None else None
        at = sum(start <= ended for start in starts) - 1 if ended and len(starts) == top + 1 else top
        begin |= {source: begin[source] + max(at - reached[log], 0) for source, _ in parts}
    return begin


def _starts(parts: Sequence[tuple[str, Facts]]) -> list[datetime]:
    """When each session of a log began; fewer where that is not known of all."""
    return [start for _, known in parts for start in known.starts if start is not None]


def _attempts(files: Sequence[tuple[str, Facts]]) -> dict[str, int]:
    """The session of each log below torchrun's `attempt_N`, of the attempts that left one. The launcher's own log is of
    the last if it tells the end of the job, else what it complains of was gone over.
    """
    found = {source: int(hit[1]) for source, _ in files if (hit := _ATTEMPT.search(source))}
    order = sorted(set(found.values()))
    last = {source: len(order) - 1 for source, known in files if order and known.launcher_failed}
    return last | {source: order.index(attempt) for source, attempt in found.items()}


def _rotated(files: Sequence[tuple[str, Facts]]) -> dict[str, int]:
    """The first session of each part of a log: the last one of the part written before it."""
    out: dict[str, int] = {}
    reached: dict[str, int] = {}
    for source, known in sorted(files, key=lambda file: rotation.order(file[0])):
        log, _ = rotation.part_of(source)
        out[source] = reached.get(log, 0)
        reached[log] = out[source] + known.last_session
    return out


def _event_files(files: Sequence[tuple[str, Facts]]) -> dict[str, int]:
    """The session of each event file: the latest start, of the folder with most starts, that is not after its own."""
    starts: dict[str, list[tuple[float, str]]] = {}
    for source, known in files:
        if known.rows:
            stamp = known.started.timestamp() if known.started else 0.0
            starts.setdefault(source.rpartition("/")[0], []).append((stamp, source))
    most = max((len(group) for group in starts.values()), default=0)
    leader = sorted(next((group for group in starts.values() if len(group) == most), []))
    out = {}
    for group in starts.values():
        for stamp, source in group:
            out[source] = max(sum(begin <= stamp for begin, _ in leader) - 1, 0)
    return out
