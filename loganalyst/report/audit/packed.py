"""The runs as columns for a script: each distinct text once, and for each run the position of its text."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from loganalyst.report.audit import screen
from loganalyst.report.common.runpaths import common_root, short
from loganalyst.report.common.wording import clean, percent

WORDS_WITHOUT_CAUSE = {"healthy": "healthy"}
SHORT_TEXTS = ("node", "file", "cause", "severity", "verdict", "ended_as", "host", "job", "framework")
LONG_TEXTS = ("says", "why")
NUMBERS = ("confidence", "line", "points")
TIME = "%Y-%m-%d %H:%M"


def table(runs: pl.DataFrame, groups: pl.DataFrame, home: Path) -> pl.DataFrame:
    """`runs` with the texts to show: run, what, sure, where, started, ended, argument and report (its address, as seen
    from a page in the folder `home`). `group` is its group, if any.
    """
    root = common_root(runs["path"].to_list())
    made: dict[str, list[Any]] = {"run": [], "what": [], "sure": [], "where": [], "argument": [], "report": []}
    for run in runs.iter_rows(named=True):
        made["run"].append(short(run["path"], root))
        made["what"].append(screen.summary(run) or WORDS_WITHOUT_CAUSE.get(run["status"], ""))
        made["sure"].append(percent(run["confidence"]) if run["issue"] else None)
        made["where"].append(screen.place(run) or None)
        made["argument"].append(argument(run["path"]))
        made["report"].append(address(run["report"], home) if run.get("report") else None)
    times = [pl.col(name).dt.strftime(TIME) for name in ("started", "ended")]
    shown = runs.with_columns(*times, **{name: pl.Series(v, dtype=pl.String) for name, v in made.items()})
    members = groups.select(pl.col("members").alias("run_id"), group=pl.int_range(pl.len())).explode("run_id")
    return shown.join(members.drop_nulls(), on="run_id", how="left", maintain_order="left")


def packed(shown: pl.DataFrame) -> dict[str, Any]:
    """The data of the page. `texts` has for each name the distinct texts, and each run's position in them (-1: none).

    `status` is the position in `statuses`, which have name, sign and words.
    """
    names = ("run", "what", "sure", "where", "started", "ended", *SHORT_TEXTS)
    texts = {name: _texts(shown[name], clean) for name in names}
    texts |= {name: _texts(shown[name], lambda text: clean(text, 1000)) for name in LONG_TEXTS}
    numbers = {name: shown[name].to_list() for name in (*NUMBERS, "group")}
    numbers["confidence"] = shown["confidence"].round(4).to_list()
    return {
        "statuses": [(name, sign, words) for name, (sign, _, words) in screen.STATUS.items()],
        "status": _places(shown["status"], list(screen.STATUS)),
        "texts": {**texts, **{name: _texts(shown[name], str) for name in ("argument", "report")}},
        "numbers": numbers,
    }


def argument(path: str) -> str:
    """The path quoted for a shell. Invisible characters become escapes, so that pasting the path runs nothing."""
    if path.isprintable():
        return shlex.quote(path)
    signs = (c if c.isprintable() and c not in "'\\" else "".join(f"\\x{b:02x}" for b in c.encode()) for c in path)
    return f"$'{''.join(signs)}'"


def address(file: str, home: Path) -> str:
    """The file as a relative link from the folder `home`, so that both can be moved together."""
    return quote(os.fsencode(os.path.relpath(file, home).replace(os.sep, "/")))


def _texts(column: pl.Series, shown: Callable[[str], str]) -> tuple[list[str], list[int]]:
    different = column.drop_nulls().unique(maintain_order=True)
    return [shown(text) for text in different], _places(column, different)


def _places(column: pl.Series, of: "pl.Series | list[str]") -> list[int]:
    places = pl.DataFrame({"text": of, "at": range(len(of))}, schema={"text": pl.String, "at": pl.Int64})
    found = column.rename("text").to_frame().join(places, on="text", how="left", maintain_order="left")
    return found["at"].fill_null(-1).to_list()
