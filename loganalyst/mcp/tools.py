"""The tools for agents. Each is one call of the API, and returns an object by a published schema, or a text.

Answers fit into an agent's context: the likeliest causes and the worst runs come first, and lists are shortened, with
the number of omitted items in `left_out`. Only the audit writes, into the store named when the server was started.
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

Answer = dict[str, Any] | str  # an object by a published schema, or a text
Form = Annotated[
    Literal["json", "markdown"],
    Field(description="json: an object by the published schema, shortened; markdown: the report for people."),
]
Run = Annotated[str, Field(description="A run's directory, a single file (TensorBoard, W&B, CSV, …) or a job log.")]
Trusted = Annotated[
    bool,
    Field(description="Obey a loganalyst.yaml that came with the run. Only if the user says that it is theirs."),
]
WIDTH = 120  # columns of a text
MAX_FEATURES = 60  # in one answer


@dataclass(frozen=True)
class Tools:
    """The tools; `store` is the folder of the store for audits (None: no store)."""

    store: Path | None = None

    def diagnose(
        self,
        path: Run,
        *,
        logs: Annotated[list[str], Field(description="Job logs (or sacct output) of this run in other places.")] = [],  # noqa: B006
        symptoms: Annotated[
            list[str], Field(description="What was observed, in words; it is checked against the logs.")
        ] = [],  # noqa: B006
        code: Annotated[
            list[str],
            Field(description="Training scripts and configs; a fix then cites the file and line of what it changes."),
        ] = [],  # noqa: B006
        baseline: Annotated[
            str | None, Field(description="A run that worked; the answer shows what changed since.")
        ] = None,
        top: Annotated[int, Field(ge=1, le=5, description="Maximum number of causes.")] = 3,
        format: Form = "json",
        trust_run_settings: Trusted = False,
    ) -> Answer:
        """Find what went wrong in one training run: causes with confidence, evidence and fix.

        Look at status first: diagnosis_complete (root_causes are ranked, each with evidence, fix and how to verify),
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
        top: Annotated[
            int, Field(ge=1, le=200, description="Maximum number of runs, the worst first.")
        ] = brief.MAX_RUNS,
        format: Annotated[
            Literal["json", "text"],
            Field(description="json: an object by the published schema, shortened; text: one screen."),
        ] = "json",
        trust_run_settings: Trusted = False,
        progress: Annotated[Any, Field(exclude=True)] = None,
    ) -> Answer:
        """Diagnose every run in some folders: which failed and why, which failed alike, what failed runs share.

        A first audit of thousands of runs takes minutes. Call diagnose for the full answer on one run.
        """
        from loganalyst.auditing.batch import audit
        from loganalyst.report.audit import screen as report

        watch = _watch(progress) if progress else None
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
            Field(description="Only features whose name contains this text, such as 'grad' or 'loss'."),
        ] = None,
        trust_run_settings: Trusted = False,
    ) -> Answer:
        """Show what was read from a run: sources, metrics with roles, settings, gaps, and what cannot be judged."""
        from loganalyst import pipeline
        from loganalyst.features import declared
        from loganalyst.report import featurerows as report
        from loganalyst.report import show

        found = pipeline.diagnose(_path(path), trust_run_settings=trust_run_settings)
        if features is not None:
            named = {name: feature for name, feature in declared().items() if features in name}
            kept = dict(list(named.items())[:MAX_FEATURES])
            left_out = len(named) - len(kept)
            return marked(
                {
                    **report.data(found, kept, pipeline.healthy_places(found)),
                    "left_out": {"features": left_out} if left_out else {},
                }
            )
        if metric is not None:
            return marked(show.render_metric(found, metric, width=WIDTH))
        return marked(show.render(found, width=WIDTH))

    def explain(
        self,
        rule: Annotated[str | None, Field(description="The id of a rule. Without it, all rules are listed.")] = None,
    ) -> Answer:
        """Explain a cause: why it happens, its evidence with weights, the fix, how to verify it, references."""
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
        """Check whether a fix helped: fixed, partly, not, new_problem or cannot_tell, and which promises were kept."""
        from loganalyst.auditing.verify import verify
        from loganalyst.report.verification import screen

        return marked(screen.data(verify(_path(old), _path(new), trust_run_settings=trust_run_settings)))

    def inspect(
        self,
        paths: Annotated[
            list[str], Field(min_length=1, description="Checkpoints; each is compared with the previous one.")
        ],
        *,
        top: Annotated[int, Field(ge=0, le=100, description="Maximum number of tensors, the worst first.")] = 10,
    ) -> Answer:
        """Inspect checkpoints without running their code: NaN, dead rows, norms, moments, changes between them."""
        from loganalyst.checkpoint import inspect
        from loganalyst.report.inspection import screen

        return marked(screen.render(inspect(*map(_path, paths)), top=top, width=WIDTH))

    def script(
        self,
        name: Annotated[
            str | None, Field(description="The name of a script. Without it, all scripts are listed.")
        ] = None,
    ) -> Answer:
        """Return the text of a small script that measures in the user's own training what was not logged."""
        from loganalyst.errors import LogAnalystError, nearest
        from loganalyst.scripts import summary, templates

        found = templates()
        if name is None:
            return "".join(f"{known}: {summary(text)}\n" for known, text in found.items())
        if name not in found:
            raise LogAnalystError(name, "no such script", nearest(name, found) or f"there are {', '.join(found)}")
        return found[name]

    def all(self) -> list[Callable[..., Answer]]:
        """All tools, the most important first."""
        return [self.diagnose, self.audit, self.show, self.explain, self.verify, self.inspect, self.script]


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _watch(progress: Callable[[int, int | None, str], None]) -> "Callable[[Outcome, int | None], None]":
    """A function that counts the outcomes of an audit and reports the progress."""
    done = 0

    def count(outcome: "Outcome", total: int | None) -> None:
        nonlocal done
        done += 1
        progress(done, total, f"{outcome.what} {outcome.path}")

    return count
