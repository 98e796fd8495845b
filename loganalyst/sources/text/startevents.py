"""What the lines of a batch say about starts of the program, as events."""

import json

import numpy as np

from loganalyst.patterntraits import having
from loganalyst.sources.text.patterns.catalogue import PARTS
from loganalyst.sources.text.patterns.matchedlines import Catalogue, Hits

Event = tuple[int, str, str | None]  # line, kind, detail: the number of a job, or the pattern of a start

FATAL = ("aside", "root", "stop", "peer", "cascade")


def of_jobs(hits: Hits, known: Catalogue) -> list[Event]:
    """What lines say of jobs; the patterns `known` claim the lines `hits`."""
    named = hits[known.of_job[hits.pattern]]
    said = zip(named.line.tolist(), (PARTS[part] for part in named.part.tolist()), named.captures, strict=True)
    return [event for one in said if (event := _of_job(*one))]


def _of_job(line: int, part: str, captures: str) -> Event | None:
    """What a line says of a job. `captures` are those of its pattern."""
    found: dict[str, str | None] = json.loads(captures)
    if where := found.get("job_output"):
        return line, "output", where
    job = found.get("job")
    if job is None:
        return None
    kind = "report" if "reported" in found else "banner" if part == "start" else "job"
    return line, kind, job


def marks(hits: Hits, known: Catalogue) -> list[Event]:
    """The lines that mark a start (`strong`, or `weak`: of any program), and the failures (`fatal`)."""
    marked = hits[hits.with_parts("start", *FATAL)]
    kinds = np.where(marked.with_parts("start"), np.where(known.generic[marked.pattern], "weak", "strong"), "fatal")
    ids = [known.ids[pattern] for pattern in marked.pattern.tolist()]
    return list(zip(marked.line.tolist(), kinds.tolist(), ids, strict=True))


def continuations(hits: Hits, known: Catalogue) -> list[Event]:
    """The lines that say that a training continues from its checkpoint."""
    ids = [number for number, name in enumerate(known.ids) if name in having("continued")]
    return [(line, "continued", None) for line in hits.line[np.isin(hits.pattern, ids)].tolist()]
