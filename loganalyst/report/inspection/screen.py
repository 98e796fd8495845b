"""The contents of checkpoints: verdict, findings, the most notable tensors, modules. Also as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loganalyst.model import CheckpointChange, CheckpointScan, Inspection, TensorStats
from loganalyst.report.common.jsonvalues import dumps, plain
from loganalyst.report.common.layout import MAX_WIDTH, field, printed, shortened, text, two_ended, wrapped
from loganalyst.report.common.wording import clean, count, number, percent, size

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["SCHEMA_ID", "data", "render", "render_json"]

SCHEMA_ID = "loganalyst/inspection/1"
MARKS = {"unusable": ("✗ ", "bold red"), "warning": ("✗ ", "yellow"), "note": ("· ", "dim")}
HEAD = ("shape", "NaN, Inf", "zeros", "min", "max", "mean", "std", "norm")
EXTREMES = 3  # position of minimum and maximum in HEAD, which the spectrum replaces
SPECTRUM = ("largest σ", "eff. rank")
VERDICT_ORDER = {"reset": 0, "runaway": 1, "not_finite": 2, "reshaped": 3, "removed": 4, "added": 5, "changed": 6}


def render(
    found: Inspection, *, top: int = 10, width: int = 100, colour: bool = False, ascii_only: bool = False
) -> str:
    """The report for a terminal, at most `width` columns wide, with `top` tensors for each checkpoint."""
    width = max(min(width, MAX_WIDTH), 40)
    lines = list(_verdict(found, width))
    for scan in found.checkpoints:
        lines += [text(), *_checkpoint(scan, top, width)]
    for change in found.changes:
        lines += [text(), *_change(change, top, width)]
    return printed(lines, width=width, colour=colour, ascii_only=ascii_only)


def _verdict(found: Inspection, width: int) -> "Iterator[Text]":
    """One line on whether the checkpoints can be used, then each finding."""
    warned = sum(f.severity == "warning" for f in found.findings)
    if found.unusable:
        verdict = ("✗ Unusable: values that are not finite", "bold red")
    elif warned:
        verdict = (f"✗ Everything is finite, but {count(warned, 'thing is', 'things are')} wrong", "bold yellow")
    else:
        verdict = ("✓ Everything is finite", "bold green")
    yield text(verdict)
    several = len(found.checkpoints) > 1
    for f in found.findings:
        mark, style = MARKS[f.severity]
        where = f"{clean(f.path.name, 60)}: " if several else ""
        yield from _hanging(text((mark, style)), where + clean(f.text, 1200), width)


def _hanging(lead: "Text", words: str, width: int) -> "list[Text]":
    return wrapped(text(words), width, text("  ").append_text(lead), 4)


def _checkpoint(scan: CheckpointScan, top: int, width: int) -> "Iterator[Text]":
    details = f"{clean(scan.format, 60)}, {size(scan.bytes)}"
    yield from two_ended(text((clean(scan.path, 200), "bold")), text((details, "dim")), width)
    for label, words in _facts(scan):
        yield from field(label, clean(words, 600), width, 2)
    shown = sorted(scan.tensors, key=_notability, reverse=True)[:top]
    spectra = any(t.spectral_norm is not None for t in scan.tensors)
    head, rows = list(HEAD), [_row(t) for t in shown]
    if spectra:
        head = [*HEAD[:EXTREMES], *HEAD[EXTREMES + 2 :], *SPECTRUM]
        rows = [[*row[:EXTREMES], *row[EXTREMES + 2 :], *_spectrum(t)] for row, t in zip(rows, shown, strict=True)]
    names = [clean(t.name, 200) for t in shown]
    yield from _table(["tensor", *head], [[name, *row] for name, row in zip(names, rows, strict=True)], width)
    if 0 < top < len(scan.tensors):
        yield text((f"  … and {len(scan.tensors) - top:,} more tensors (--top)", "dim"))
    rows = [[clean(m.name, 200), f"{m.parameters:,}", f"{m.share:.1%}", number(m.norm)] for m in scan.modules]
    yield from _table(["module", "parameters", "share", "norm"], rows, width)


def _facts(scan: CheckpointScan) -> Iterator[tuple[str, str]]:
    embedded = f", {percent(scan.embedding_share)} in embeddings" if scan.embedding_share else ""
    yield "Parameters", f"{scan.parameters:,} in {count(len(scan.tensors), 'tensor')}{embedded}"
    if scan.tied:
        yield "Tied", " · ".join(" = ".join(names) for names in scan.tied)
    state = {"step": scan.step, "epoch": scan.epoch, "loss scale": scan.loss_scale}
    facts = [f"{k} {v:,}" if isinstance(v, int) else f"{k} {v:g}" for k, v in state.items() if v is not None]
    facts += [f"rate {', '.join(f'{lr:g}' for lr in dict.fromkeys(scan.lr))}"] if scan.lr else []
    facts += [f"random state of {', '.join(scan.rng)}"] if scan.rng else []
    if facts:
        yield "State", " · ".join(facts)
    for o in scan.optimizers:
        parts = [count(len(o.moments), "tensor"), *([f"step {o.step:,}"] if o.step is not None else [])]
        parts += [f"eps {o.eps:g} sets the step of {percent(o.eps_share)}"] if o.eps_share is not None else []
        yield "Optimiser", " · ".join(parts)


def _notability(t: TensorStats) -> tuple[float, float, float]:
    """A sort key for the most notable tensors: non-finite values, dead rows, then the largest norms."""
    return t.nonfinite / max(t.count, 1), t.dead_rows / max((*t.shape[:1], 1)), t.norm or 0.0


def _row(t: TensorStats) -> list[str]:
    shape = "×".join(map(str, t.shape)) or "scalar"
    nonfinite = f"{t.nonfinite:,}" if t.nonfinite else "–"
    zeros = percent(t.zeros / t.count) if t.zeros else "–"
    return [shape, nonfinite, zeros, *map(number, (t.min, t.max, t.mean, t.std, t.norm))]


def _spectrum(t: TensorStats) -> list[str]:
    if t.spectral_norm is None or t.effective_rank is None:
        return ["–", "–"]
    full = min(t.shape[0], t.count // t.shape[0])
    return [number(t.spectral_norm), f"{t.effective_rank:,.0f} of {full:,}"]


def _change(change: CheckpointChange, top: int, width: int) -> "Iterator[Text]":
    names = f"{clean(change.old.name, 60)} → {clean(change.new.name, 60)}"
    median = "" if change.median is None else f"median change {number(change.median)}"
    yield from two_ended(text((names, "bold")), text((median, "dim")), width)
    moved = [t for t in change.tensors if t.verdict != "frozen"]
    moved.sort(key=lambda t: (VERDICT_ORDER[t.verdict], -(t.relative or 0)))
    rows = [[clean(t.name, 200), t.verdict.replace("_", " "), number(t.relative), number(t.cosine)] for t in moved]
    yield from _table(["tensor", "", "change", "cosine"], rows[:top], width)
    frozen = len(change.tensors) - len(moved)
    yield text((f"  {count(len(moved), 'tensor')} changed, {frozen:,} did not", "dim"))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> "Iterator[Text]":
    """A table whose first column is left-aligned and as wide as there is room; the others are right-aligned."""
    if not rows:
        return
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    room = max(width - sum(widths[1:]) - 2 * len(widths), 12)
    first = min(widths[0], room)
    for row in (head, *rows):
        cells = "".join(f"  {cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True))
        yield text(((f"  {shortened(row[0], first):<{first}}{cells}")[:width], "dim" if row is head else ""))


def render_json(found: Inspection, *, indent: int | None = 2) -> str:
    """The JSON text."""
    return dumps(data(found), indent)


def data(found: Inspection) -> dict[str, Any]:
    """The JSON object, whose contract is `schema`."""
    whole = {"schema": SCHEMA_ID, "unusable": found.unusable, **asdict(found)}
    return plain(whole)  # type: ignore[no-any-return]
