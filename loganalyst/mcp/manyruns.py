"""The tools for many runs. Only `audit` and `query` write: into the store named when the server was started."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from loganalyst.errors import LogAnalystError
from loganalyst.mcp.answer import WIDTH, Answer, Detail, Trusted, limit, place, quoting
from loganalyst.report.diagnosis import brief

if TYPE_CHECKING:
    from loganalyst.store import Outcome

__all__ = ["ManyRuns"]

SUMMARY_RUNS = 3  # named in the text that goes with an object


@dataclass(frozen=True)
class ManyRuns:
    """The tools; `store` is the folder of the store (None: no store)."""

    store: Path | None = None

    def audit(
        self,
        paths: Annotated[list[str], Field(min_length=1, description="Folders of runs, or runs.")],
        *,
        top: Annotated[
            int, Field(ge=1, le=200, description="Maximum number of runs, the worst first.")
        ] = brief.MAX_RUNS,
        format: Annotated[
            Literal["json", "text"],
            Field(description="json: an object by the published schema, and a short text; text: one screen."),
        ] = "json",
        detail: Detail = "brief",
        trust_run_settings: Trusted = False,
        progress: Annotated[Any, Field(exclude=True)] = None,
    ) -> Answer:
        """Diagnose every run in some folders: which failed and why, which failed alike, what failed runs share.

        A first audit of thousands of runs takes minutes. Call diagnose for the full answer on one run.
        """
        from loganalyst.auditing.batch import audit
        from loganalyst.report.audit import screen

        watch = _watch(progress) if progress else None
        found = audit(map(place, paths), self.store, watch=watch, trust_run_settings=trust_run_settings)
        data = screen.data(found.runs, found.groups, found.contrasts, copies=found.copies)
        whole = format == "text"
        shown = top if whole else SUMMARY_RUNS
        text = screen.render(found.runs, found.groups, found.contrasts, copies=found.copies, width=WIDTH, top=shown)
        return quoting(text, detail, data if whole else brief.audit(data, top, limit(detail)), whole=whole)

    def compare(
        self,
        paths: Annotated[
            list[str],
            Field(min_length=1, description="Folders of runs. Two folders are compared as an old and a new set."),
        ],
        *,
        metric: Annotated[
            str | None, Field(description="Compare by this metric (default: a held-out loss or score).")
        ] = None,
        goal: Annotated[
            Literal["min", "max"] | None,
            Field(description="Which values are better, if the name does not show it."),
        ] = None,
        top: Annotated[int, Field(ge=1, le=50, description="Maximum number of runs, the best first.")] = 5,
        detail: Detail = "brief",
        trust_run_settings: Trusted = False,
    ) -> Answer:
        """Compare many runs: the best ones, which settings matter, where runs fail, what to run next.

        For two folders, which metrics got worse beyond the noise.
        """
        from loganalyst.comparing.wholecomparison import compare
        from loganalyst.report.comparison import screen

        found = compare(
            [*map(place, paths)], self.store, metric=metric, goal=goal, trust_run_settings=trust_run_settings
        )
        return quoting(
            screen.render(found, top=SUMMARY_RUNS, width=WIDTH),
            detail,
            brief.comparison(screen.data(found), top, limit(detail)),
        )

    def query(
        self,
        sql: Annotated[
            str,
            Field(description="A SELECT. SHOW TABLES lists the tables, DESCRIBE TABLE the columns of one."),
        ],
        *,
        top: Annotated[int, Field(ge=1, le=1000, description="Maximum number of rows.")] = 50,
        detail: Detail = "brief",
    ) -> Answer:
        """Query the server's store of runs in SQL: points, settings, log lines, diagnoses. Audit fills the store."""
        from loganalyst import query as asking
        from loganalyst.report.common import grid
        from loganalyst.store import Store

        if self.store is None or not self.store.is_dir():
            raise LogAnalystError("query", "there is no store", "start `loganalyst mcp --store DIR`, then call audit")
        rows = asking.ask(Store(self.store), sql)
        shown = grid.render(rows.head(top), WIDTH)
        rest = f"{rows.height - top:,} more rows\n" if rows.height > top else ""
        return quoting(f"{shown}{rest}", detail)

    def all(self) -> list[Callable[..., Answer]]:
        """All of them."""
        return [self.audit, self.compare, self.query]


def _watch(progress: Callable[[int, int | None, str], None]) -> "Callable[[Outcome, int | None], None]":
    """A function that counts the outcomes of an audit and reports the progress."""
    done = 0

    def count(outcome: "Outcome", total: int | None) -> None:
        nonlocal done
        done += 1
        progress(done, total, f"{outcome.what} {outcome.path}")

    return count
