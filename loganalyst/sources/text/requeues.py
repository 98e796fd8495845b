"""Starts of a program behind the scheduler's word that it stops the job: a requeued job writes on in the same log."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.patterntraits import having
from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.linekinds import Look, kind_hashes
from loganalyst.sources.text.patterns.matchedlines import Catalogue, Hits
from loganalyst.thresholds import blame_limit

# lines with a loss behind the word that nothing announces: fewer may be what ranks still wrote
MIN_LINES_UNANNOUNCED = 20

Lines = NDArray[np.int64]


def trained_again(hits: Hits, known: Catalogue, chunk: Chunk, look: Look, first: str) -> list[tuple[int, int]]:
    """Where training goes on behind a stop by the scheduler: a line of that training, and the line of the stop.

    A line announces it: it says that a training continues, or repeats the log's `first` line ("" for none). Then two
    lines of a kind that the log had before the stop are enough. Without one, many lines with a loss are needed.
    """
    of_scheduler = np.isin(hits.pattern, _patterns(known, "of_scheduler")) & hits.with_parts("stop")
    stops = np.unique(hits.line[of_scheduler])
    if not len(stops):
        return []
    busy = chunk.line[look.flags["busy"]]
    announced = np.union1d(hits.line[np.isin(hits.pattern, _patterns(known, "continued"))], _same(first, chunk, look))
    preempted = [number for number, label in enumerate(known.labels) if label == "slurm_preempted"]
    unannounced = stops[np.isin(stops, hits.line[of_scheduler & np.isin(hits.pattern, preempted)])]
    found = []
    for stop in stops.tolist():
        later = announced[announced > stop]
        again = _of_known_kind(chunk, look, stop, int(later[0])) if len(later) else later
        enough = again[int(blame_limit("survived_after")) - 1 :]
        if not len(enough) and stop in unannounced:
            enough = busy[busy > stop][MIN_LINES_UNANNOUNCED:]
        found += [(int(line), stop) for line in enough[:1]]
    return found


def _patterns(known: Catalogue, trait: str) -> list[int]:
    return [number for number, name in enumerate(known.ids) if name in having(trait)]


def _same(first: str, chunk: Chunk, look: Look) -> Lines:
    """The lines of the same kind as the first line of the log."""
    return chunk.line[look.hash == kind_hashes(first.encode())[0]] if first else np.empty(0, np.int64)


def _of_known_kind(chunk: Chunk, look: Look, stop: int, begin: int) -> Lines:
    """The lines with numbers behind the line `begin` that are of a kind met before the line `stop`."""
    numeric = look.flags["numeric"]
    met = np.unique(look.hash[numeric & (chunk.line < stop)])
    return chunk.line[numeric & (chunk.line > begin) & np.isin(look.hash, met)]
