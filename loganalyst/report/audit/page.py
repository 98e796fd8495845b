"""The page of an audit: counts, groups that failed in the same way, contrasts, and the table of all runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.report.audit import screen
from loganalyst.report.audit.packed import packed, table
from loganalyst.report.common.html import blocks
from loganalyst.report.common.html.element import Child, Html, data, element
from loganalyst.report.common.html.shell import STYLE, shell
from loganalyst.report.common.runpaths import common_root, short
from loganalyst.report.common.wording import clean, count, number, percent

MAX_STATIC_ROWS = 200  # rows of the table without a script
MAX_GROUPS, MAX_FOLDED_GROUPS = 8, 200
MAX_CONTRASTS = 20
MAX_NODES = 200
MAX_COPIES = 200
MAX_PRINTED_ROWS = 500  # the script reads it from data-most
HEADS = {
    "status": "State", "run": "Run", "what": "What", "sure": "Sure", "where": "Where", "node": "Node",
    "started": "Started",
}  # fmt: skip


def render(
    runs: pl.DataFrame,
    groups: pl.DataFrame,
    contrasts: pl.DataFrame,
    nodes: pl.DataFrame,
    home: Path | None = None,
    *,
    copies: Sequence[tuple[str, str]] = (),
) -> str:
    """The text of the file. Frames and `copies` come from an `Audit`; `home` is the file's folder (None: this one)."""
    alike = groups.filter(pl.col("runs") > 1).head(MAX_GROUPS + MAX_FOLDED_GROUPS)
    shown = table(runs, alike, home or Path())
    root = common_root(runs["path"].to_list())
    parts = [
        ("alike", "Failed in the same way", _groups(alike, root, dict(shown.select("path", "report").iter_rows()))),
        ("apart", "What sets failed runs apart", _contrasts(contrasts)),
        ("nodes", "By node", _nodes(nodes)),
        ("runs", "All runs", [*_runs(shown), *_copies(copies, root)]),
        ("whose", "Settings and rules other than ours", _settings_rows(runs)),
    ]
    sections = [
        element("section", element("h2", title, id=f"h-{name}"), body, id=name, aria_labelledby=f"h-{name}")
        for name, title, body in parts
        if body
    ]
    found = dict(runs["status"].value_counts().iter_rows())
    article = element("article", _verdict(found, runs.height, root), sections, class_=f"tone-{_tone(found)}")
    style = (STYLE, ("audit", "audit.css"))
    main = element("main", article, data(packed(shown), class_="data"))
    return shell(_title(found, runs.height), main, made="the runs' logs", script=("audit", "audit.js"), style=style)


def _tone(found: Mapping[str, int]) -> str:
    if found.get("diagnosis_complete"):
        return "bad"
    return "good" if set(found) == {"healthy"} else "unsure"


def _title(found: Mapping[str, int], n: int) -> str:
    failed = found.get("diagnosis_complete", 0)
    if failed:
        return f"A cause was found in {failed:,} of {count(n, 'run')}"
    return f"{count(n, 'run')}, " + ("all healthy" if set(found) == {"healthy"} else "none with a likely cause")


def _verdict(found: Mapping[str, int], n: int, root: str) -> Html:
    """The number of runs of each status, as numbers and as a bar."""
    there = [(name, sign, words, found[name]) for name, (sign, _, words) in screen.STATUS.items() if name in found]
    counts = [
        element("li", _sign(sign), " ", element("b", f"{k:,}"), f" {words}", class_=f"s-{name}")
        for name, sign, words, k in there
    ]
    bars, at = [], 0.0
    for name, _, _, k in there:
        bars.append(element("rect", x=f"{at:.4g}%", width=f"{100 * k / n:.4g}%", height="10", class_=f"s-{name}"))
        at += 100 * k / n
    return element(
        "header",
        element("p", f"Audit of {clean(root)}" if root else "Audit", class_="eyebrow"),
        element("h1", _title(found, n)),
        element("svg", bars, class_="shares", height="10", aria_hidden="true"),
        element("ul", counts, class_="counts"),
        class_="verdict",
    )


def _sign(sign: str) -> Html:
    return element("span", sign, class_="sign", aria_hidden="true")


def _groups(groups: pl.DataFrame, root: str, reports: Mapping[str, str | None]) -> list[Html]:
    """Runs with the same cause and message, the largest group first. `reports` are the reports of all runs, by path."""
    rows = groups.iter_rows(named=True)
    items = [_group(group, i, root, reports.get(group["example"])) for i, group in enumerate(rows)]
    if not items:
        return []
    more = element("ul", items[MAX_GROUPS:], class_="groups") if items[MAX_GROUPS:] else None
    folded = blocks.folded(f"{count(len(items) - MAX_GROUPS, 'smaller group')}", more)
    return blocks.present(element("ul", items[:MAX_GROUPS], class_="groups"), folded)


def _group(group: Mapping[str, Any], i: int, root: str, report: str | None) -> Html:
    example = clean(short(group["example"], root))
    return element(
        "li",
        element("p", f"{group['runs']:,}", element("small", " runs"), class_="size"),
        element(
            "div",
            element("h3", clean(group["issue"])),
            element("p", " · ".join(screen.facts(group)), class_="facts"),
            element("p", element("code", clean(group["like"])), class_="like") if group["like"] else None,
            element("p", "for example ", element("code", _linked(example, report)), class_="facts"),
        ),
        element("button", "Show these runs", type="button", class_="show", data_group=str(i), hidden=True),
    )


def _linked(words: Child, report: str | None) -> Child:
    return element("a", words, href=report) if report else words


def _contrasts(contrasts: pl.DataFrame) -> list[Html]:
    """Settings and nodes that failed runs have and healthy runs do not."""
    rows = [
        (
            element("b", screen.contrast(row)),
            _failed(row["failed"], row["runs"]),
            _failed(row["other_failed"], row["other_runs"]),
            number(row["odds_ratio"]),
            number(row["q"]),
            ", ".join(clean(key, 60) for key in row["also"]),
        )
        for row in contrasts.head(MAX_CONTRASTS).iter_rows(named=True)
    ]
    head = ("Setting or node", "Failed with it", "Failed without", "Odds ratio", "Chance (q)", "Goes with")
    if not rows:
        return []
    hint = "A hint, not a proof: settings that were changed together cannot be distinguished."
    return blocks.present(element("p", hint, class_="help"), blocks.table(head, rows))


def _nodes(nodes: pl.DataFrame) -> list[Html]:
    """Failures by node: the nodes that fail more often than chance explains, and the others folded."""
    head = ("Node", "Failed there", "Failed elsewhere", "Chance (q)")
    named, others = (
        [
            (
                element("b", clean(row["node"])),
                _failed(row["failed"], row["runs"]),
                _failed(row["other_failed"], row["other_runs"]),
                number(row["q"]),
            )
            for row in nodes.filter(named=state).head(MAX_NODES).iter_rows(named=True)
        ]
        for state in (True, False)
    )
    if not named and not others:
        return []
    nodes_failing = "One node fails" if len(named) == 1 else f"{len(named):,} nodes fail" if named else "No node fails"
    return blocks.present(
        element("p", f"{nodes_failing} more often than chance explains.", class_="help"),
        blocks.table(head, named),
        blocks.folded(count(len(others), "other node" if named else "node"), blocks.table(head, others)),
    )


def _failed(failed: int, runs: int) -> str:
    return f"{failed:,} of {runs:,} ({percent(failed / runs)})" if runs else "none"


def _runs(shown: pl.DataFrame) -> list[Html]:
    """The table with its first rows, which the script replaces by the rows in sight."""
    heads = [element("th", title, scope="col", data_key=key, class_=f"c-{key}") for key, title in HEADS.items()]
    rows = [_row(run) for run in shown.head(MAX_STATIC_ROWS).iter_rows(named=True)]
    table = element("table", element("thead", element("tr", heads)), element("tbody", rows), class_="runs")
    cut = f"The first {MAX_STATIC_ROWS} of {shown.height:,} runs, the worst first; a script shows the others."
    return blocks.present(
        _tools(shown),
        table,
        element("p", cut if shown.height > MAX_STATIC_ROWS else "", class_="cut", data_most=str(MAX_PRINTED_ROWS)),
    )


def _settings_rows(runs: pl.DataFrame) -> list[Html]:
    """Settings files that were obeyed or ignored, and causes that they accept."""
    return blocks.present(blocks.table(("Kind", "What"), screen.settings_rows(runs)))


def _copies(copies: Sequence[tuple[str, str]], root: str) -> list[Html]:
    """The copies that were left out, folded."""
    if not copies:
        return []
    rows = [tuple(element("code", clean(short(path, root))) for path in pair) for pair in copies[:MAX_COPIES]]
    more = f"The first {MAX_COPIES:,} of {len(copies):,}." if len(copies) > MAX_COPIES else ""
    title = f"{count(len(copies), 'copy', 'copies')} of runs left out"
    return blocks.present(
        blocks.folded(title, element("div", blocks.table(("Left out", "A copy of"), rows), element("p", more)))
    )


def _tools(shown: pl.DataFrame) -> Html:
    """The filters, which are hidden without a script."""
    found = dict(shown["status"].value_counts().iter_rows())
    boxes = [
        element(
            "label",
            element("input", type="checkbox", value=str(i), checked=True),
            _sign(sign),
            f" {words} ",
            element("small", f"{found[name]:,}"),
            class_=f"s-{name}",
        )
        for i, (name, (sign, _, words)) in enumerate(screen.STATUS.items())
        if name in found
    ]
    search = element("input", type="search", placeholder="Path, cause, node or job", aria_label="Filter the runs")
    return element(
        "div",
        search,
        element("div", boxes, class_="states", role="group", aria_label="States shown"),
        element("button", type="button", class_="only", hidden=True),
        element("output", aria_live="polite"),
        class_="tools",
        hidden=True,
    )


def _row(run: Mapping[str, Any]) -> Html:
    sign, _, words = screen.STATUS[run["status"]]
    folder, _, name = clean(run["run"]).rpartition("/")
    path = [
        element("span", f"{folder}/", class_="folder") if folder else None,
        element("b", _linked(name, run["report"])),
    ]
    state = [
        element("span", sign, class_="sign", title=words, aria_hidden="true"),
        element("span", words, class_="hidden"),
    ]
    texts = [clean(run[key] or "") for key in ("what", "sure", "where", "node", "started")]
    cells: list[Child] = [state, path, *texts]
    made = [element("td", cell, class_=f"c-{key}") for key, cell in zip(HEADS, cells, strict=True)]
    return element("tr", made, class_=f"s-{run['status']}")
