"""Sessions of a run: each file counts its own starts of the program, and these numbers are aligned over all files."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from loganalyst.sources.discovery import rotation
from loganalyst.sources.filetables import Facts
from loganalyst.sources.text.lines import owners

# logs/attempt_2/rank_0.log: torchrun's folder for a start
_ATTEMPT = re.compile(r"(?:^|/)attempt_(\d{1,6})/")

Known = tuple[str, str, Facts]  # format, path within the run, facts of a file


def shifts(files: Sequence[Known]) -> list[int]:
    """The number to add to each file's session numbers, so that they count the sessions of the whole run.

    A restart in the same folder writes a new event file. A text log may hold several starts one after another, and
    torchrun makes a folder for each start. Event files are ordered by their start within each folder (train/ and
    validation/ belong to one program). A part of a rotated log continues the last session of the part before it.
    All files are aligned at the last session, because the last start is the one that is judged.
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
    """The first session of each log. A log with fewer starts than another, such as the error stream of a requeued job,
    ends with the last session. The log of a rank, which may not have come back, ends with the session in which it was
    last written, by the times of the other log.
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
    """The known start times of a log's sessions."""
    return [start for _, known in parts for start in known.starts if start is not None]


def _attempts(files: Sequence[tuple[str, Facts]]) -> dict[str, int]:
    """The session of each log below torchrun's `attempt_N`, counted over the attempts that left a log. The launcher's
    own log belongs to the last attempt if it reports the failure of the job; else the attempts survived its complaints.
    """
    found = {source: int(hit[1]) for source, _ in files if (hit := _ATTEMPT.search(source))}
    order = sorted(set(found.values()))
    last = {source: len(order) - 1 for source, known in files if order and known.launcher_failed}
    return last | {source: order.index(attempt) for source, attempt in found.items()}


def _rotated(files: Sequence[tuple[str, Facts]]) -> dict[str, int]:
    """The first session of each part of a rotated log: the last session of the part before it."""
    out: dict[str, int] = {}
    reached: dict[str, int] = {}
    for source, known in sorted(files, key=lambda file: rotation.order(file[0])):
        log, _ = rotation.part_of(source)
        out[source] = reached.get(log, 0)
        reached[log] = out[source] + known.last_session
    return out


def _event_files(files: Sequence[tuple[str, Facts]]) -> dict[str, int]:
    """The session of each event file: the latest start before its own, in the folder with the most starts."""
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
