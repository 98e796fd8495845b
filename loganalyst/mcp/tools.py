"""What an agent can call. Each tool is one call of the API; it gives an object of a published contract, or a text.

Answers fit into an agent's context: the likeliest causes and worst runs first, lists cut and their rest counted
(`left_out`). Nothing here writes but the audit, into the store that whoever starts the server names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from loganalyst.mcp.quoted import marked
from loganalyst.report.diagnosis import brief

if TYPE_CHECKING:
    from loganalyst.store import Outcome

__all__ = ["Answer", "Form", "Tools"]

Answer = dict[str, Any] | str  # an object of a contract, or a text
Form = Annotated[
    Literal["json", "markdown"],
    Field(description="json: the object of the published contract, shortened; markdown: the report for people."),
]
Run = Annotated[str, Field(description="A run's directory, a single file (TensorBoard, W&B, CSV, …) or a job log.")]
Trusted = Annotated[
    bool,
    Field(description="Obey a loganalyst.yaml that came with the run. Only where the user says that it is theirs."),
]
WIDTH = 120  # columns of a text
FEATURES = 60  # at most told at once


@dataclass(frozen=True)
class Tools:
    """The tools; `store` is the folder where audits remember what they read (None: nowhere)."""

    store: Path | None = None

    def diagnose(
        self,
        path: Run,
        *,
        logs: Annotated[
            list[str], Field(description="Job logs (or sacct output) of this run that lie elsewhere.")
        ] = [],  # noqa: B006
        symptoms: Annotated[list[str], Field(description="What was seen, in words; held against the logs.")] = [],  # noqa: B006
        code: Annotated[
            list[str],
            Field(description="Training scripts and configs; a fix then cites the file and line of what it changes."),
        ] = [],  # noqa: B006
        baseline: Annotated[str | None, Field(description="A run that worked: what was changed since.")] = None,
        top: Annotated[int, Field(ge=1, le=5, description="Causes told at most.")] = 3,
        format: Form = "json",
        trust_run_settings: Trusted = False,
    ) -> Answer:
        """Say what went wrong in one training run, why, how sure that is, what shows it, and what to change.

        Look first at status: diagnosis_complete (root_causes are ranked, each with evidence, fix and how to verify),
        cause_unknown (decide and missing say what to log next), healthy, insufficient_data.
        """
        from loganalyst import pipeline
        from loganalyst.contextfile import Case
        from loganalyst.report.diagnosis import asjson, markdown

        found = pipeline.diagnose(
            _path(path),
            logs=[_path(log) for log in logs],
            symptoms=symptoms,
            baseline=_path(baseline) if baseline else None,
            case=Case(code=tuple(_path(file) for file in code)),
            trust_run_settings=trust_run_settings,
        )
        return marked(
            markdown.render(found, top=top) if format == "markdown" else brief.diagnosis(asjson.data(found), top)
        )

    def audit(
        self,
        paths: Annotated[list[str], Field(min_length=1, description="Folders of runs, or runs.")],
        *,
        top: Annotated[int, Field(ge=1, le=200, description="Runs told at most, the worst first.")] = brief.MAX_RUNS,
        format: Annotated[
            Literal["json", "text"], Field(description="json: the published contract, shortened; text: one screen.")
        ] = "json",
        trust_run_settings: Trusted = False,
        tell: Annotated[Any, Field(exclude=True)] = None,
    ) -> Answer:
        """Judge every run below some folders: which are ill and why, which failed alike, what sets failed runs apart.

        A first audit of thousands of runs takes minutes. Call diagnose for the whole answer on one of them.
        """
        from loganalyst.auditing.batch import audit
        from loganalyst.report.audit import screen as report

        watch = _watch(tell) if tell else None
        found = audit(map(_path, paths), self.store, watch=watch, trust_run_settings=trust_run_settings)
        if format == "text":
            text = report.render(found.runs, found.groups, found.contrasts, copies=found.copies, width=WIDTH, top=top)
            return marked(text)
        return marked(brief.audit(report.data(found.runs, found.groups, found.contrasts, copies=found.copies), top))

    def show(
        self,
        path: Run,
        *,
        metric: Annotated[str | None, Field(description="Only this metric: its curve, statistics and changes.")] = None,
        features: Annotated[
            str | None,
            Field(description="Only values that rules ask for, whose name holds this text, such as 'grad' or 'loss'."),
        ] = None,
        trust_run_settings: Trusted = False,
    ) -> Answer:
        """Show what was read of a run: sources, metrics with their roles, settings, gaps, and what cannot be judged."""
        from loganalyst import pipeline
        from loganalyst.features import declared
        from loganalyst.report import featurerows as report
        from loganalyst.report import show

        found = pipeline.diagnose(_path(path), trust_run_settings=trust_run_settings)
        if features is not None:
            named = {name: feature for name, feature in declared().items() if features in name}
            kept = dict(list(named.items())[:FEATURES])
            left_out = len(named) - len(kept)
            return marked({**report.data(found, kept), "left_out": {"features": left_out} if left_out else {}})
        if metric is not None:
            return marked(show.render_metric(found, metric, width=WIDTH))
        return marked(show.render(found, width=WIDTH))

    def explain(
        self, rule: Annotated[str | None, Field(description="The id of a cause; without it all are listed.")] = None
    ) -> Answer:
        """Explain a cause: why it happens, the evidence asked for with its weights, fix, how to verify, references."""
        from loganalyst import pipeline
        from loganalyst.report.rulepage import render

        if rule is None:
            known = pipeline.catalogue().rules.values()
            return "".join(f"{r.id} ({r.severity}): {r.title}\n" for r in known)
        return render(pipeline.explain(rule))

    def verify(
        self,
        old: Annotated[str, Field(description="The run that failed.")],
        new: Annotated[str, Field(description="The run made after the fix.")],
        *,
        trust_run_settings: Trusted = False,
    ) -> Answer:
        """Say whether a fix helped: fixed, partly, not, new_problem or cannot_tell, with what was promised and seen."""
        from loganalyst.auditing.verify import verify
        from loganalyst.report.verification import screen

        return marked(screen.data(verify(_path(old), _path(new), trust_run_settings=trust_run_settings)))

    def inspect(
        self,
        paths: Annotated[
            list[str], Field(min_length=1, description="Checkpoints; each is held against the one before.")
        ],
        *,
        top: Annotated[int, Field(ge=0, le=100, description="Tensors told at most, the worst first.")] = 10,
    ) -> Answer:
        """Look into checkpoints without running their code: NaN, dead rows, norms, moments, what changed between."""
        from loganalyst.checkpoint import inspect
        from loganalyst.report.inspection import screen

        return marked(screen.render(inspect(*map(_path, paths)), top=top, width=WIDTH))

    def script(
        self, name: Annotated[str | None, Field(description="The script; without it all are listed.")] = None
    ) -> Answer:
        """Give the text of a small script that measures in the user's own training what was not logged."""
        from loganalyst.errors import LogAnalystError, nearest
        from loganalyst.scripts import summary, templates

        found = templates()
        if name is None:
            return "".join(f"{known}: {summary(text)}\n" for known, text in found.items())
        if name not in found:
            raise LogAnalystError(name, "no such script", nearest(name, found) or f"there are {', '.join(found)}")
        return found[name]

    def all(self) -> list[Callable[..., Answer]]:
        """Every tool, the first to call first."""
        return [self.diagnose, self.audit, self.show, self.explain, self.verify, self.inspect, self.script]


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _watch(tell: Callable[[int, int | None, str], None]) -> "Callable[[Outcome, int | None], None]":
    """Count the outcomes of an audit, and tell how many there were."""
    done = 0

    def count(outcome: "Outcome", total: int | None) -> None:
        nonlocal done
        done += 1
        tell(done, total, f"{outcome.what} {outcome.path}")

    return count
