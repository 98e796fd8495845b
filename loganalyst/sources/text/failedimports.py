"""Exceptions that nothing caught, and which of them ended a program while it imported what it needs."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.numberrecords import NONE
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.patterns.matchedlines import Catalogue, Hits
from loganalyst.thresholds import blame_limit


def uncaught(hits: Hits, known: Catalogue, chunk: Chunk) -> list[tuple[int, str, bool]]:
    """The exceptions that the interpreter printed, in a batch of a log without ranks: line, "file:line" of the
    outermost frame, and whether an import at the top of the script failed. The patterns `known` claim the lines `hits`.
    """
    found = []
    for row in np.flatnonzero(hits.chain != NONE).tolist():
        said = json.loads(hits.captures[row])
        if "outer" in said:
            found.append((int(hits.row[row]), said, known.labels[int(hits.pattern[row])]))
    if not found or (described(chunk.some(np.array([row for row, *_ in found])))["prefix"] != "").any():
        return []
    return [(int(chunk.line[row]), said["outer"], _at_top(said, label)) for row, said, label in found]


def _at_top(said: Mapping[str, Any], label: str | None) -> bool:
    """Whether an exception, with the captures `said`, ended a program before any work of its own."""
    top = (said.get("frame") or "").endswith(" in <module>")
    place = int(said["outer"].rpartition(":")[2])
    return label == "import_error" and top and place <= blame_limit("imports_end")
