"""Many runs on one screen: counts by status, groups that failed in the same way, the worst runs. Also as data."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from loganalyst.report import trust
from loganalyst.report.common.jsonvalues import plain
from loganalyst.report.common.layout import field, printed, text
from loganalyst.report.common.runpaths import common_root, short
from loganalyst.report.common.wording import clean, count, number, percent

if TYPE_CHECKING:
    from rich.text import Text

SCHEMA_ID = "loganalyst/audit/1"
MAX_WIDTH = 160
MAX_GROUPS, MAX_CONTRASTS, MAX_REASONS, MAX_SETTINGS = 10, 5, 5, 8  # on the screen
SETTINGS_COLUMNS = ("settings_obeyed", "settings_ignored", "accepted")
# Status of the diagnosis -> sign, style, words after a number of runs
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
    """The screen: counts, groups of at least two runs, differences between failed and healthy runs, and the `top` worst
    runs. A last line counts the left-out `copies` (each with the file of its original).
    """
    width = max(min(width, MAX_WIDTH), 40)
    root = common_root(runs["path"].to_list())
    alike = groups.filter(pl.col("runs") > 1)
    lines = [_counts(runs), *_groups(alike, root, width), *_contrasts(contrasts, width)]
    lines += [*_accounts(accounts, width), *_runs(runs, root, width, top)]
    lines += _settings_rows(runs, width)
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
    lines = [text(), text(("Failed in the same way", "bold"))]
    for group in groups.head(MAX_GROUPS).iter_rows(named=True):
        more = " · ".join(facts(group))
        lines.append(
            _cut(text((f"{group['runs']:>5,} × ", "bold"), clean(group["issue"]), (f"   {more}", "dim")), width)
        )
        shown = [clean(group["like"])] if group["like"] else []
        shown.append(f"e.g. {clean(short(group['example'], root))}")
        lines += [_cut(text("        ", (words, "dim")), width) for words in shown]
    if groups.height > MAX_GROUPS:
        lines.append(text((f"        and {count(groups.height - MAX_GROUPS, 'more group')}", "dim")))
    return lines


def facts(group: Mapping[str, Any]) -> list[str]:
    """How sure the cause is, the node that at least two of the runs name, and the settings that they share."""
    where = [f"{group['on_node']:,} on {clean(group['node'], 40)}"] if (group["on_node"] or 0) > 1 else []
    return [f"{percent(group['confidence'])} sure", *where, *(clean(s, 60) for s in group["settings"])]


def _contrasts(contrasts: pl.DataFrame, width: int) -> "list[Text]":
    if not contrasts.height:
        return []
    lines = [text(), text(("Failed runs differ from healthy ones in", "bold"))]
    for row in contrasts.head(MAX_CONTRASTS).iter_rows(named=True):
        also = f"; also {', '.join(row['also'])}" if row["also"] else ""
        line = text(f"  {contrast(row)}   ", (f"{row['failed']:,} of {row['runs']:,} failed", "bold"))
        others = f", {row['other_failed']:,} of the {row['other_runs']:,} others (q {number(row['q'])}{clean(also)})"
        lines.append(_cut(line.append(others, "dim"), width))
    return lines


def _accounts(accounts: pl.DataFrame | None, width: int) -> "list[Text]":
    """Why jobs failed, and what fails more often than chance explains, by the scheduler's accounting."""
    if accounts is None or not accounts.height:
        return []
    reasons = accounts.filter(pl.col("by") == "reason").sort("failed", descending=True).head(MAX_REASONS)
    failed = [f"{clean(value, 40)} {n:,}" for value, n in reasons.select("value", "failed").iter_rows()]
    lines = [text(), _cut(text(("Jobs that failed   ", "bold"), " · ".join(failed) or "none"), width)]
    for row in accounts.filter("named").head(MAX_CONTRASTS).iter_rows(named=True):
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
    if left_out := notable.height - shown.height:
        lines.append(text((f"  and {count(left_out, 'more run')} (--top N shows more, --format csv all)", "dim")))
    return lines


def settings_rows(runs: pl.DataFrame) -> list[tuple[str, str]]:
    """Label and text for settings and rules other than ours: obeyed, ignored, accepted causes, and foreign causes."""
    rows = runs.iter_rows(named=True) if "accepted" in runs.columns else ()
    named = [*rows]
    obeyed, ignored, accepted = (trust.entries(named, name) for name in SETTINGS_COLUMNS)
    labelled = [(trust.OBEYED, f"{entry} ({count(n, 'run')})") for entry, n in obeyed.items()]
    if ignored:
        more = f" and {len(ignored) - 1:,} more" if len(ignored) > 1 else ""
        why = "because it came with a run; --trust-run-settings obeys such files"
        labelled.append((trust.IGNORED, f"{next(iter(ignored))}{more}: {why}"))
    labelled += [("Accepted", f"{entry} ({count(n, 'run')})") for entry, n in accepted.items()]
    foreign = [(run["cause"], trust.foreign(run["origin"])) for run in named if trust.foreign(run["origin"])]
    labelled += [
        ("Not ours", f"{cause}: from {file} ({count(n, 'run')})") for (cause, file), n in Counter(foreign).items()
    ]
    return [(label, clean(words, 1000)) for label, words in labelled]


def _settings_rows(runs: pl.DataFrame, width: int) -> "list[Text]":
    rows = settings_rows(runs)
    lines = [line for label, words in rows[:MAX_SETTINGS] for line in field(label, words, width)]
    left_out = len(rows) - MAX_SETTINGS
    more = [text((f"and {left_out:,} more (--format json)", "dim"))] if left_out > 0 else []
    return [text(), *lines, *more] if lines else []


def _copies(copies: Sequence[tuple[str, str]], root: str, width: int) -> "list[Text]":
    return [text(), _cut(text(left_out(copies, root)), width)] if copies else []


def left_out(copies: Sequence[tuple[str, str]], root: str) -> str:
    """How many runs were left out as copies, and an example."""
    path, original = (clean(short(path, root)) for path in copies[0])
    return f"{count(len(copies), 'copy', 'copies')} of runs left out, e.g. {path} (of {original})"


def _reports(runs: pl.DataFrame, width: int) -> "list[Text]":
    """The number of reports that were written, and their folder."""
    files = runs["report"].drop_nulls() if "report" in runs.columns else pl.Series(dtype=pl.String)
    if not len(files):
        return []
    return [text(), _cut(text(f"{count(len(files), 'report')} in {clean(os.path.dirname(files[0]))}"), width)]


def _row(run: Mapping[str, Any], root: str) -> tuple[str, str, str, str, str]:
    """Status, name, cause, confidence and place."""
    where = " · ".join(filter(None, [place(run), clean(run["node"] or "", 24)]))
    sure = percent(run["confidence"]) if run["issue"] else ""
    return run["status"], clean(short(run["path"], root)), clean(summary(run)), sure, where


def place(run: Mapping[str, Any]) -> str:
    """`train.log:12`, or `step 1,500`; empty where neither is known."""
    if run["line"]:
        return f"{clean(os.path.basename(run['file']), 32)}:{run['line']}"
    return "" if run["step"] is None else f"step {run['step']:,}"


def summary(run: Mapping[str, Any]) -> str:
    """The cause, or why there is none; empty for a healthy run."""
    if run["issue"]:
        return str(run["issue"]) + (" (not ours)" if trust.foreign(run.get("origin")) else "")
    if run["why"]:
        return str(run["why"]).removeprefix(f"{run['path']}: ")
    return {"cause_unknown": "cause not known", "insufficient_data": "not enough data"}.get(run["status"], "")


def _table(rows: list[tuple[str, str, str, str, str]], width: int) -> "list[Text]":
    """The rows in columns. A long name loses its beginning, a long line its end."""
    names, summaries = (min(max(len(row[i]) for row in rows), width // 3) for i in (1, 2))
    lines = []
    for status, name, words, sure, where in rows:
        mark, style, _ = STATUS[status]
        named = name if len(name) <= names else f"…{name[1 - names :]}"
        line = text((f"{mark} ", style), f"{named:{names}}  ")
        line.append_text(_cut(text(f"{words:{summaries}}  "), summaries + 2) if sure else text(words))
        lines.append(_cut(line.append(f"{sure:>9}  ", "bold").append(where, "dim"), width))
    return lines


def _cut(line: "Text", width: int) -> "Text":
    line.truncate(max(width, 1), overflow="ellipsis")
    return line


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
    """A run whose multi-line columns are lists."""
    return {key: (value or "").splitlines() if key in SETTINGS_COLUMNS else value for key, value in run.items()}


def _settings(runs: pl.DataFrame) -> dict[str, Any]:
    """The settings files that were obeyed and ignored, over all runs."""
    named = [*runs.iter_rows(named=True)] if "accepted" in runs.columns else []
    obeyed, ignored, _ = (trust.entries(named, name) for name in SETTINGS_COLUMNS)
    return trust.counted(obeyed, ignored)
