"""Many runs on one screen: how they are, which failed alike, then the worst of them; and the same as data."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from loganalyst.report import trust
from loganalyst.report.common.layout import field, printed, text
from loganalyst.report.common.wording import clean, count, number, percent
from loganalyst.report.diagnosis.asjson import plain

if TYPE_CHECKING:
    from rich.text import Text

SCHEMA_ID = "loganalyst/audit/1"
MAX_WIDTH = 160
GROUPS, CONTRASTS, REASONS, SAID = 10, 5, 5, 8  # on the screen
WHOSE = ("settings_obeyed", "settings_ignored", "accepted")
# status of the diagnosis -> sign, style, words for one run and for many
STATUS = {
    "diagnosis_complete": ("✗", "bold red", "with a cause"),
    "cause_unknown": ("?", "bold yellow", "with a cause not known"),
    "unreadable": ("!", "bold yellow", "not readable"),
    "insufficient_data": ("·", "dim", "without enough data"),
    "healthy": ("✓", "bold green", "healthy"),
}


def render(
    runs: pl.DataFrame,
    groups: pl.DataFrame,
    contrasts: pl.DataFrame,
    accounts: pl.DataFrame | None = None,
    copies: Sequence[tuple[str, str]] = (),
    *,
    width: int = 100,
    colour: bool = False,
    ascii_only: bool = False,
    top: int = 30,
) -> str:
    """The screen: counts, groups of two runs and more, what sets failed runs apart, the `top` worst runs, and how many
    were left out as `copies` (each with the file it is a copy of).
    """
    width = max(min(width, MAX_WIDTH), 40)
    root = common_root(runs["path"].to_list())
    alike = groups.filter(pl.col("runs") > 1)
    lines = [_counts(runs), *_groups(alike, root, width), *_contrasts(contrasts, width)]
    lines += [*_accounts(accounts, width), *_runs(runs, root, width, top)]
    lines += _whose(runs, width)
    lines += [*_copies(copies, root, width), *_reports(runs, width)]
    return printed(lines, width=width, colour=colour, ascii_only=ascii_only)


def _counts(runs: pl.DataFrame) -> "Text":
    found = dict(runs["status"].value_counts().iter_rows())
    line = text((count(runs.height, "run"), "bold"))
    for status, (mark, style, words) in STATUS.items():
        if n := found.get(status):
            line.append("   ").append(f"{mark} {n:,}", style).append(f" {words}")
    return line


def _groups(groups: pl.DataFrame, root: str, width: int) -> "list[Text]":
    if not groups.height:
        return []
    lines = [text(), text(("Failed alike", "bold"))]
    for group in groups.head(GROUPS).iter_rows(named=True):
        more = " · ".join(facts(group))
        lines.append(
            _cut(text((f"{group['runs']:>5,} × ", "bold"), clean(group["issue"]), (f"   {more}", "dim")), width)
        )
        shown = [clean(group["like"])] if group["like"] else []
        shown.append(f"e.g. {clean(short(group['example'], root))}")
        lines += [_cut(text("        ", (words, "dim")), width) for words in shown]
    if groups.height > GROUPS:
        lines.append(text((f"        and {count(groups.height - GROUPS, 'more group')}", "dim")))
    return lines


def facts(group: Mapping[str, Any]) -> list[str]:
    """How sure its cause is, the node most of its runs name (two at least), and the settings they share."""
    where = [f"{group['on_node']:,} on {clean(group['node'], 40)}"] if (group["on_node"] or 0) > 1 else []
    return [f"{percent(group['confidence'])} sure", *where, *(clean(s, 60) for s in group["settings"])]


def _contrasts(contrasts: pl.DataFrame, width: int) -> "list[Text]":
    if not contrasts.height:
        return []
    lines = [text(), text(("Failed runs differ from healthy ones in", "bold"))]
    for row in contrasts.head(CONTRASTS).iter_rows(named=True):
        also = f"; also {', '.join(row['also'])}" if row["also"] else ""
        line = text(f"  {contrast(row)}   ", (f"{row['failed']:,} of {row['runs']:,} failed", "bold"))
        others = f", {row['other_failed']:,} of the {row['other_runs']:,} others (q {number(row['q'])}{clean(also)})"
        lines.append(_cut(line.append(others, "dim"), width))
    return lines


def _accounts(accounts: pl.DataFrame | None, width: int) -> "list[Text]":
    """What fails more than chance by the scheduler's accounts, and why jobs failed."""
    if accounts is None or not accounts.height:
        return []
    reasons = accounts.filter(pl.col("by") == "reason").sort("failed", descending=True).head(REASONS)
    failed = [f"{clean(value, 40)} {n:,}" for value, n in reasons.select("value", "failed").iter_rows()]
    lines = [text(), _cut(text(("Jobs that failed   ", "bold"), " · ".join(failed) or "none"), width)]
    for row in accounts.filter("named").head(CONTRASTS).iter_rows(named=True):
        line = text(
            f"  {row['by']} {clean(row['value'], 40)}   ", (f"{row['failed']:,} of {row['jobs']:,} jobs", "bold")
        )
        others = f", {row['other_failed']:,} of the {row['other_jobs']:,} others (q {number(row['q'])})"
        when = f"   {row['first']:%Y-%m-%d} to {row['last']:%Y-%m-%d}" if row["first"] else ""
        lines.append(_cut(line.append(others + when, "dim"), width))
    return lines


def contrast(row: Mapping[str, Any]) -> str:
    """`key = value`, or `key > cut`."""
    value = row["value"] if row["value"].startswith("> ") else f"= {row['value']}"
    return clean(f"{row['key']} {value}", 60)


def _runs(runs: pl.DataFrame, root: str, width: int, top: int) -> "list[Text]":
    notable = runs.filter(pl.col("status") != "healthy")
    if not notable.height:
        return []
    shown = notable.head(top)
    lines = [text(), _cut(text(("The worst runs", "bold"), (f"   below {clean(root)}" if root else "", "dim")), width)]
    lines += _table([_row(run, root) for run in shown.iter_rows(named=True)], width)
    if rest := notable.height - shown.height:
        lines.append(text((f"  and {count(rest, 'more run')} (--top N shows more, --format csv all)", "dim")))
    return lines


def whose(runs: pl.DataFrame) -> list[tuple[str, str]]:
    """Whose settings and rules had a say beside ours, what they accept, and what came with runs: label and words."""
    rows = runs.iter_rows(named=True) if "accepted" in runs.columns else ()
    named = [*rows]
    obeyed, ignored, accepted = (trust.entries(named, name) for name in WHOSE)
    said = [(trust.OBEYED, f"{entry} ({count(n, 'run')})") for entry, n in obeyed.items()]
    if ignored:
        more = f" and {len(ignored) - 1:,} more" if len(ignored) > 1 else ""
        why = "for it came with a run; --trust-run-settings obeys such files"
        said.append((trust.IGNORED, f"{next(iter(ignored))}{more}: {why}"))
    said += [("Accepted", f"{entry} ({count(n, 'run')})") for entry, n in accepted.items()]
    foreign = [(run["cause"], trust.foreign(run["origin"])) for run in named if trust.foreign(run["origin"])]
    said += [("Not ours", f"{cause}: says {file} ({count(n, 'run')})") for (cause, file), n in Counter(foreign).items()]
    return [(label, clean(words, 1000)) for label, words in said]


def _whose(runs: pl.DataFrame, width: int) -> "list[Text]":
    said = whose(runs)
    lines = [line for label, words in said[:SAID] for line in field(label, words, width)]
    more = [text((f"and {count(len(said) - SAID, 'more')} (--format json)", "dim"))] if len(said) > SAID else []
    return [text(), *lines, *more] if lines else []


def _copies(copies: Sequence[tuple[str, str]], root: str, width: int) -> "list[Text]":
    return [text(), _cut(text(left_out(copies, root)), width)] if copies else []


def left_out(copies: Sequence[tuple[str, str]], root: str) -> str:
    """How many runs were left out as copies, and an example."""
    path, original = (clean(short(path, root)) for path in copies[0])
    return f"{count(len(copies), 'copy', 'copies')} of runs left out, e.g. {path} (of {original})"


def _reports(runs: pl.DataFrame, width: int) -> "list[Text]":
    """Where the reports lie that were asked for."""
    files = runs["report"].drop_nulls() if "report" in runs.columns else pl.Series(dtype=pl.String)
    if not len(files):
        return []
    return [text(), _cut(text(f"{count(len(files), 'report')} in {clean(os.path.dirname(files[0]))}"), width)]


def _row(run: Mapping[str, Any], root: str) -> tuple[str, str, str, str, str]:
    """Status, name, what is said of it, how sure, where."""
    where = " · ".join(filter(None, [place(run), clean(run["node"] or "", 24)]))
    sure = percent(run["confidence"]) if run["issue"] else ""
    return run["status"], clean(short(run["path"], root)), clean(said(run)), sure, where


def place(run: Mapping[str, Any]) -> str:
    """The line of a file, else the step; empty where neither is known."""
    if run["line"]:
        return f"{clean(os.path.basename(run['file']), 32)}:{run['line']}"
    return "" if run["step"] is None else f"step {run['step']:,}"


def said(run: Mapping[str, Any]) -> str:
    """The cause, else why there is none; empty for a healthy run."""
    if run["issue"]:
        return str(run["issue"]) + (" (not ours)" if trust.foreign(run.get("origin")) else "")
    if run["why"]:
        return str(run["why"]).removeprefix(f"{run['path']}: ")
    return {"cause_unknown": "cause not known", "insufficient_data": "not enough data"}.get(run["status"], "")


def _table(rows: list[tuple[str, str, str, str, str]], width: int) -> "list[Text]":
    """The rows in columns: names lose their beginnings, what does not fit at the end is left out."""
    names, said = (min(max(len(row[i]) for row in rows), width // 3) for i in (1, 2))
    lines = []
    for status, name, words, sure, where in rows:
        mark, style, _ = STATUS[status]
        named = name if len(name) <= names else f"…{name[1 - names :]}"
        line = text((f"{mark} ", style), f"{named:{names}}  ")
        line.append_text(_cut(text(f"{words:{said}}  "), said + 2) if sure else text(words))
        lines.append(_cut(line.append(f"{sure:>9}  ", "bold").append(where, "dim"), width))
    return lines


def _cut(line: "Text", width: int) -> "Text":
    line.truncate(max(width, 1), overflow="ellipsis")
    return line


def common_root(paths: list[str]) -> str:
    """The folder all paths lie in; empty for fewer than two."""
    return os.path.commonpath(paths) if len(paths) > 1 else ""


def short(path: str, root: str) -> str:
    """The path below the common folder."""
    return os.path.relpath(path, root) if root else path


def data(
    runs: pl.DataFrame,
    groups: pl.DataFrame,
    contrasts: pl.DataFrame,
    accounts: pl.DataFrame | None = None,
    copies: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """The object of `audit --format json`."""
    accounted = [] if accounts is None else [plain(row) for row in accounts.iter_rows(named=True)]
    return {
        "schema": SCHEMA_ID,
        "counts": dict(runs["status"].value_counts(sort=True).iter_rows()),
        "runs": [_listed(plain(run)) for run in runs.iter_rows(named=True)],
        "groups": [plain(group) for group in groups.iter_rows(named=True)],
        "contrasts": [plain(contrast) for contrast in contrasts.iter_rows(named=True)],
        "accounts": accounted,
        **_settings(runs),
        "copies": [{"path": path, "original": original} for path, original in copies],
    }


def _listed(run: dict[str, Any]) -> dict[str, Any]:
    """A run with lists where its columns have an entry a line."""
    return {key: (value or "").splitlines() if key in WHOSE else value for key, value in run.items()}


def _settings(runs: pl.DataFrame) -> dict[str, Any]:
    """Whose settings had a say, over all runs."""
    named = [*runs.iter_rows(named=True)] if "accepted" in runs.columns else []
    obeyed, ignored, _ = (trust.entries(named, name) for name in WHOSE)
    told = [(trust.told(entry), n) for entry, n in obeyed.items()]
    return {
        "settings_obeyed": [{"file": s.file, "what": s.what, "runs": n} for s, n in told],
        "settings_ignored": [{"file": file, "why": "it came with a run", "runs": n} for file, n in ignored.items()],
    }
