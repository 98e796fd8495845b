"""Features of the job log: the line that states the root cause, and counts of other lines."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import polars as pl

from loganalyst.blame.linetraits import has_trait
from loganalyst.blame.rootline import MAX_MESSAGE_LINES, judged_session
from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature, FeatureValue, Run, Witness
from loganalyst.patterntraits import GUESSED, cut_labels, having, signals

NEEDS = "the job log (SLURM output, stdout or stderr)"
MAX_MESSAGE = 200  # characters of a message
MAX_ENDING = 60  # of these, characters of the end of a longer message
_RATE = re.compile(r"\b(?:it/s|s/it)\b")  # the rate in a progress bar: `50%|█████     | 5/10 [00:01<00:01,  4.9it/s]`
# `Use --overwrite or --resume to indicate how to handle it`, `Please install it with pip`, `You can set X=1`
_ADVICE = re.compile(
    r"(?:^|[.;:!?)] )((?:Please |please |You (?:can|should|need to) |Try (?:to )?)?(?:[Ee]ither )?"
    r"(?:[Uu]se|[Ss]et|[Pp]ass|[Ii]nstall|[Ss]pecify|[Pp]rovide|[Rr]un|[Uu]pgrade|[Ee]nable|[Dd]isable|[Rr]emove) "
    r"[^;]{8,160}?)(?:\.? *$|\. [A-Z]|;)"
)
_ROOT_FEATURES: tuple[tuple[str, Literal["float", "int", "text"], str, str], ...] = (
    ("log_root_label", "text", "", "class of the fault that the root-cause line states (`none`: no fault found)"),
    ("log_root_pattern", "text", "", "pattern of rules/text that matched the root-cause line (`none`: no fault found)"),
    (
        "log_root_basis",
        "text",
        "",
        "what knows the root-cause line: `pattern` (rules/text), `words` (rules/wording.yaml), or `cut`: only the head of "
        "a traceback is in the log",
    ),
    ("log_root_message", "text", "", "message of the root-cause line"),
    ("log_root_advice", "text", "", "what the message of the root-cause line tells the user to do"),
    ("log_root_exception", "text", "", "exception class on the root-cause line"),
    (
        "log_root_frame",
        "text",
        "",
        "innermost frame of the user's own code above the root-cause line, file:line in function",
    ),
    (
        "log_root_rank",
        "int",
        "",
        "rank that failed first; where ranks gave up waiting, the only rank that wrote nothing",
    ),
    ("log_root_teller", "int", "", "rank that printed the root-cause line"),
    ("log_root_node", "text", "", "node that failed first"),
    (
        "log_root_followed",
        "int",
        "lines",
        "lines with metrics behind an exception that nothing caught, in the same file (NULL: none, or a failed exit follows)",
    ),
    ("log_root_ranks", "int", "ranks", "ranks that printed the traceback or stack of the root cause"),
    ("log_root_module", "text", "", "package that could not be imported"),
    ("log_root_path", "text", "", "file or folder that the root-cause line names"),
    ("log_root_parameter", "text", "", "parameter whose shape differs from the checkpoint's"),
    ("log_root_operation", "text", "", "collective or operation that the root-cause line names"),
    ("log_root_shapes", "text", "", "the two shapes that do not match"),
    ("log_oom_tried_gib", "float", "GiB", "size of the allocation that failed"),
    ("log_oom_total_gib", "float", "GiB", "capacity of the device that ran out of memory"),
    ("log_oom_free_gib", "float", "GiB", "free memory of that device"),
    ("log_oom_others_gib", "float", "GiB", "memory of that device that the first other process holds"),
    ("log_oom_reserved_share", "float", "", "memory held by the allocator but unused, as a share of the capacity"),
    ("log_host_memory_used_gib", "float", "GiB", "host memory the scheduler measured when it killed the job"),
    ("log_host_memory_limit_gib", "float", "GiB", "host memory limit the scheduler enforced"),
    ("log_collective_timeout_s", "float", "s", "time limit of the collective operation that timed out"),
    ("log_stopped_at", "text", "", "time at which the scheduler stopped the job, as it printed it"),
    ("log_kill_signal", "text", "", "signal that ended the program or a rank"),
)
_COUNT_FEATURES = (
    ("log_lines_read", "lines of job logs read (last session)"),
    ("log_traceback_count", "Python tracebacks"),
    ("log_cascade_count", "lines that are consequences of an earlier fault"),
    ("log_unread_rows", "rows of numbers of one form that look like results and are not understood"),
    (
        "log_work_count",
        "lines that state a completed unit of work: a trial, a fold, an epoch, a search, a table of results",
    ),
)
FEATURES = (
    *(Feature(name, dtype, unit, meaning, NEEDS) for name, dtype, unit, meaning in _ROOT_FEATURES),
    *(Feature(name, "int", "lines", meaning, NEEDS) for name, meaning in _COUNT_FEATURES),
)
_TRACEBACKS = ("python", "xla")  # kinds of blocks with a better message than the line itself
_MODULE_CAPTURES = (
    "module", "module_range", "old_module", "run_module", "library", "library_file", "library_missing", "library_lost", "library_any",
)  # fmt: skip
_GIB = {
    "": 1.0,
    "KiB": 2.0**-20,
    "MiB": 2.0**-10,
    "GiB": 1.0,
    "TiB": 2.0**10,
    "PiB": 2.0**20,
    "EiB": 2.0**30,
    "B": 2.0**-30,
    "bytes": 2.0**-30,
}


def compute(context: Context) -> Computed:
    """The features of the last session; nothing if no job log was read."""
    run = context.run
    logs = [s.path for s in run.sources if s.format == "text"]
    kept = [s.path for s in run.sources if s.lines] if not logs else []  # by a tracker, of the output
    if not (logs or kept):
        return {}
    roots = context.roots if logs or run.status != "finished" else {}  # a tracker saw the good end: errors were caught
    sessions = run.sessions.filter(pl.col("source").is_in(logs or kept))
    last = judged_session(replace(run, sessions=sessions))
    lines = run.lines.filter(pl.col("session") == last)
    spans = sessions.filter(pl.col("session") == last)
    read = int((spans["last_line"] - spans["first_line"] + 1).sum()) if spans.height else 0
    root = roots.get(last)
    if root and run.status == "finished" and root["pattern"].startswith(GUESSED):
        root = None  # words that no pattern knows are no failure of a run that is stated to have finished
    return {"log_lines_read": read, **_counted(lines), **_described(run, root, lines)}


def _counted(lines: pl.DataFrame) -> Computed:
    return {
        "log_traceback_count": int(lines["pattern"].is_in(having("traceback")).sum()),
        "log_cascade_count": int((lines["part"] == "cascade").sum()),
        "log_work_count": lines.filter(pl.col("captures").str.json_path_match("$.alone").is_null(), part="work").height,
        "log_unread_rows": _unread_rows(lines),
    }


def _unread_rows(lines: pl.DataFrame) -> int:
    rows = lines.filter(pl.col("pattern").is_in(having("unread_rows")))["captures"]
    return sum(int(json.loads(captures)["rows"]) for captures in rows)


def _described(run: Run, row: Mapping[str, Any] | None, lines: pl.DataFrame) -> Computed:
    signal = _signal(lines)
    if row is None:
        return {"log_root_label": "none", "log_root_pattern": "none", "log_kill_signal": signal}
    block = run.block(row["file"], row["line"]) or {}
    captures = {k: v for k, v in json.loads(row["captures"] or "{}").items() if v is not None}
    captures = _of_the_message(row, lines) | captures
    words = ("exception", "message", "frame") if block.get("kind") in _TRACEBACKS else ("exception", "frame")
    known_texts = {**captures, **{name: block[name] for name in words if block.get(name)}}
    rank, node = _rank_and_node(row, block)
    unfinished = _unfinished(block)
    cut = cut_labels().get(row["pattern"]) if unfinished else None
    message = _shortened(unfinished or known_texts.get("message", "").strip() or _without_bar(row["text"]).strip())
    values = {
        "log_root_label": cut or row["label"],
        "log_root_pattern": row["pattern"],
        "log_root_basis": "cut" if cut else "words" if row["pattern"].startswith(GUESSED) else "pattern",
        "log_root_message": message,
        "log_root_advice": _advice(known_texts.get("message") or row["text"]) or captures.get("advice"),
        # an `assert` without words says no more than its name
        "log_root_exception": None if known_texts.get("exception") == message else known_texts.get("exception"),
        "log_root_frame": known_texts.get("frame"),
        "log_root_rank": rank,
        "log_root_teller": row["teller"],
        "log_root_node": node,
        "log_root_followed": _followed(row, captures, lines),
        "log_root_ranks": len(block.get("ranks") or ()) or None,
        "log_root_module": _first_capture(captures, *_MODULE_CAPTURES),
        "log_root_path": _first_capture(
            captures, "path", "lost", "folder", "script", *(() if row["part"] == "stop" else ("at",))
        ),
        "log_root_parameter": captures.get("key"),
        "log_root_operation": _first_capture(captures, "op", "operation"),
        "log_root_shapes": _shapes(captures),
        "log_stopped_at": captures.get("at") if row["part"] == "stop" else None,
        "log_kill_signal": signal,
        **_quantities(captures),
    }
    witness = Witness(file=row["file"], line=row["line"], rank=rank, node=node)
    return {name: (value, witness) for name, value in values.items() if value is not None}


def _signal(lines: pl.DataFrame) -> str:
    """The signal that ended a process; `none` where no line names one."""
    known = signals()
    sent = [known[p] for p in lines["pattern"] if p in known]
    # when one rank dies, the others get SIGTERM
    return next((s for s in sent if s != "SIGTERM"), sent[0] if sent else "none")


def _rank_and_node(row: Mapping[str, Any], block: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """Rank and node of a line, or of its block."""
    rank, node = row["rank"], row["node"]
    if row["part"] == "peer":  # a line about a peer names the rank that complains
        return rank, node
    return block.get("rank") if rank is None else rank, block.get("node") if node is None else node


def _unfinished(block: Mapping[str, Any]) -> str:
    """Words for a traceback without the line of its exception, as in a log that was cut off; empty for others."""
    if block.get("kind") not in _TRACEBACKS or block.get("exception") or block.get("message"):
        return ""
    place = f" at {block['frame']}" if block.get("frame") else ""
    return f"a traceback{place}; the line of its exception is not in the log"


def _of_the_message(row: Mapping[str, Any], lines: pl.DataFrame) -> dict[str, str]:
    """What the next lines of the same message state: lines of the same pattern, and advice."""
    place = pl.col("line").is_between(row["line"] + 1, row["line"] + MAX_MESSAGE_LINES)
    same = (pl.col("pattern") == row["pattern"]) | has_trait("message_advice")
    later = lines.filter(pl.col("file") == row["file"], place, same, pl.col("block").is_null()).sort("line")
    found = [json.loads(text or "{}") for text in later["captures"].to_list()]
    return {k: v for captures in reversed(found) for k, v in captures.items() if v is not None}


def _followed(row: Mapping[str, Any], captures: Mapping[str, str], lines: pl.DataFrame) -> int | None:
    """The lines with metrics behind an uncaught exception. A failed exit shows that it ended the program."""
    uncaught = captures.get("printer") == "interpreter" and not (lines["part"] == "confirm").any()
    return int(row["later"]) or None if uncaught else None


def _advice(message: str) -> str | None:
    """The sentence of a message that tells the user what to do."""
    hit = _ADVICE.search(message)
    return hit[1].strip() if hit else None


def _without_bar(text: str) -> str:
    """The line without a progress bar at its start."""
    drawn = text[: text.rfind("]") + 1]
    rate = max((hit.end() for hit in _RATE.finditer(drawn, max(drawn.find("|"), 0))), default=None)
    return text if rate is None or "|" not in drawn else text[text.index("]", rate) + 1 :]


def _shortened(text: str) -> str:
    """The text, or its start and its end, because a command states its result last."""
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - MAX_ENDING - 3]} … {text[-MAX_ENDING:]}"


def _quantities(captures: Mapping[str, str]) -> dict[str, FeatureValue]:
    tried = _gib(" ".join(captures[name] for name in ("tried", "unit") if name in captures))
    total, free = (_gib(_first_capture(captures, *names)) for names in (("total", "all"), ("free", "left")))
    reserved = _gib(captures.get("reserved"))
    timeout = captures.get("timeout_ms")
    return {
        "log_oom_tried_gib": tried if tried is not None else _bytes(captures.get("tried_bytes")),
        "log_oom_total_gib": total,
        "log_oom_free_gib": free,
        "log_oom_others_gib": _others(captures, total, free),
        "log_oom_reserved_share": reserved / total if reserved is not None and total else None,
        "log_host_memory_used_gib": _bytes(captures.get("used")),
        "log_host_memory_limit_gib": _bytes(captures.get("limit")),
        "log_collective_timeout_s": float(timeout) / 1000 if timeout else None,
    }


def _others(captures: Mapping[str, str], total: float | None, free: float | None) -> float | None:
    """The memory that other processes hold in GiB: as stated, else what is neither free nor held by this one."""
    if "all" not in captures or total is None or free is None:
        return _gib(captures.get("others"))
    return max(total - free - (_gib(captures.get("held")) or 0.0), 0.0)


def _first_capture(captures: Mapping[str, str], *names: str) -> str | None:
    return next((captures[name] for name in names if name in captures), None)


def _shapes(captures: Mapping[str, str]) -> str | None:
    pairs = (("left", "right"), ("m1", "m2"), ("found", "wanted"))
    return next((f"{captures[a]} and {captures[b]}" for a, b in pairs if a in captures and b in captures), None)


def _gib(text: str | None) -> float | None:
    """The number of GiB of a text such as `12.5 GiB`."""
    number, _, unit = (text or "").partition(" ")
    try:
        return float(number) * _GIB[unit]
    except (ValueError, KeyError):
        return None


def _bytes(text: str | None) -> float | None:
    return float(text) * _GIB["B"] if text and text.isdecimal() else None
