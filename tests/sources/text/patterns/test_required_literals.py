"""A line is only shown to a pattern's regex if one of its literals is in it: every alternative needs one."""

import re
from collections.abc import Iterable
from typing import Any

from loganalyst.sources.text.patterns import catalogue

MOST = 4000  # ways through a regex that are looked at
# alternatives that a literal does stand in, but behind a character class or an open number of blanks; or that have none
# on purpose, such as `^C` and exit codes in boxes
SPELLED_OTHERWISE = {
    "aborted", "adapter-targets", "apptainer-fatal", "checkpoint-corrupt", "checkpoint-missing", "compiled-library",
    "cuda-advice", "cuda-device-number", "cuda-error", "dask-memory-high", "dimensions-differ", "disk-full",
    "exception-shown", "failure-table-host", "file-operation-refused", "gpu-ecc", "hf-running-training",
    "host-allocation-failed", "hpu-fault", "import-error", "input-ran-out", "interrupt-shown", "job-banner",
    "keyboard-interrupt", "lazy-import-failed", "loss-scale-tiny", "megatron-nan-gradient", "metric-not-available",
    "nccl-error", "npu-collective-timeout", "other-language-error", "quantised-training-refused",
    "ray-actor-died", "rocm-fault", "segmentation-fault", "shared-memory-exhausted", "slurm-node-down",
    "slurm-nodes-busy", "slurm-oom-kill", "slurm-warning", "tracker-exit", "training-finished", "ucx-error",
    "ucx-warning", "xla-oom",
}  # fmt: skip
Ways = list[list[str]]  # of each way the texts that surely stand in a match, cut where something unsure is between


def test_every_alternative_has_a_literal() -> None:
    """Each way through a regex has a text that holds one of the literals; what the list above names has one that
    cannot be seen so.
    """
    found = {(p.id, p.where): _without(p)[:3] for p in catalogue.catalogue()}
    # the ids of trainers are those of patterns with other words
    named = {(id_, where) for id_, where in found if id_ in SPELLED_OTHERWISE and "/trainers/" not in where}

    assert len(found) > 500
    assert {place: ways for place, ways in found.items() if bool(ways) != (place in named)} == {}


def _without(pattern: catalogue.Pattern) -> Ways:
    """The ways through its regex that need none of its literals."""
    fold = "(?i" in pattern.regex
    return [way for way in _ways(_parsed(pattern.regex)) if not _holds(way, pattern.literals, fold=fold)]


def _parsed(regex: str) -> Iterable[Any]:
    """The regex, which is Rust's, as Python's parser sees it."""
    for theirs, ours in (("(?-u:\\b)", "\\b"), ("(?i:", "(?:"), ("(?i)", "")):
        regex = regex.replace(theirs, ours)
    return re._parser.parse(re.sub(r"\(\?P<\w+>", "(", regex))  # type: ignore[attr-defined,no-any-return]


def _holds(way: list[str], literals: tuple[str, ...], *, fold: bool) -> bool:
    text = "\0".join(way)
    return any((word.lower() in text.lower()) if fold else (word in text) for word in literals)


def _ways(parts: Iterable[Any]) -> Ways:
    ways: Ways = [[""]]
    for kind, what in parts:
        match str(kind):
            case "LITERAL":
                ways = _joined(ways, [[chr(what)]])
            case "SUBPATTERN":
                ways = _joined(ways, _ways(what[3]))
            case "BRANCH":
                ways = _joined(ways, [way for branch in what[1] for way in _ways(branch)])
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, once = what
                there = [[*way, ""] if most > 1 else way for way in _ways(once)]
                ways = _joined(ways, ([] if least else [[""]]) + there)
            case "AT":
                pass
            case _:
                ways = _joined(ways, [["", ""]])
    return ways


def _joined(ways: Ways, more: Ways) -> Ways:
    return [[*one[:-1], one[-1] + two[0], *two[1:]] for one in ways for two in more][:MOST]
