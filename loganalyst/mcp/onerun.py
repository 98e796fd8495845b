"""The tools for one run, one rule or one script. Each is one call of the API."""

from typing import Annotated

from pydantic import Field

from loganalyst.mcp.answer import WIDTH, Answer, Detail, Form, Run, Trusted, answered, limit, place, quoting
from loganalyst.report.diagnosis import brief

__all__ = ["check", "diagnose", "explain", "inspect", "script", "show", "verify"]

MAX_FEATURES = {"brief": 15, "full": 200}  # in one answer


def diagnose(
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
    history: Annotated[
        list[str], Field(description="Earlier attempts at this training, in order of time (for `restart`).")
    ] = [],  # noqa: B006
    top: Annotated[int, Field(ge=1, le=5, description="Maximum number of causes.")] = 3,
    format: Form = "json",
    detail: Detail = "brief",
    trust_run_settings: Trusted = False,
) -> Answer:
    """Find what went wrong in one training run: causes with confidence, evidence and fix.

    Look at status first: diagnosis_complete (root_causes are ranked, each with evidence, fix and how to verify),
    cause_unknown (decide and missing say what to log next), healthy, insufficient_data. restart says whether a run
    that was broken off should be started again, and without which nodes.
    """
    from loganalyst import pipeline
    from loganalyst.contextfile import Case
    from loganalyst.report import prompt
    from loganalyst.report.diagnosis import asjson, markdown

    found = pipeline.diagnose(
        place(path),
        logs=[place(log) for log in logs],
        symptoms=symptoms,
        baseline=place(baseline) if baseline else None,
        history=[place(one) for one in history],
        case=Case(code=tuple(place(file) for file in code)),
        trust_run_settings=trust_run_settings,
    )
    if format == "markdown":
        return quoting(markdown.render(found, top=top), detail, asjson.data(found), whole=True)
    return quoting(prompt.lines(found), detail, brief.diagnosis(asjson.data(found), top, limit(detail)))


def check(
    path: Annotated[
        str, Field(description="A file with settings (YAML, JSON, TOML, INI, printed arguments) or a run.")
    ],
    *,
    kind: Annotated[str | None, Field(description="The kind of training, if the settings do not show it.")] = None,
    format: Form = "json",
    detail: Detail = "brief",
    trust_run_settings: Trusted = False,
) -> Answer:
    """Check the settings of a training, before or after the run, against ranges of published practice.

    findings: wrong (cannot be right), unusual, or record (should be recorded), each with what to set instead and its
    sources. missing: settings that were not found and so not judged. A finding is no cause of a failure by itself.
    """
    from loganalyst import pipeline
    from loganalyst.report.check import markdown, screen

    found = pipeline.check(place(path), kind=kind, trust_run_settings=trust_run_settings)
    if format == "markdown":
        return quoting(markdown.render(found), detail, screen.data(found), whole=True)
    text = screen.render(found, width=WIDTH)
    return quoting(text, detail, brief.settings_check(screen.data(found), limit(detail)))


def show(
    path: Run,
    *,
    metric: Annotated[str | None, Field(description="Only this metric: its curve, statistics and changes.")] = None,
    features: Annotated[
        str | None,
        Field(description="Only features whose name contains this text, such as 'grad' or 'loss'."),
    ] = None,
    detail: Detail = "brief",
    trust_run_settings: Trusted = False,
) -> Answer:
    """Show what was read from a run: sources, metrics with roles, settings, gaps, and what cannot be judged."""
    from loganalyst import pipeline
    from loganalyst.features import declared
    from loganalyst.report import featurerows as report
    from loganalyst.report import show

    found = pipeline.diagnose(place(path), trust_run_settings=trust_run_settings)
    if features is not None:
        named = {name: feature for name, feature in declared().items() if features in name}
        kept = dict(list(named.items())[: MAX_FEATURES[detail]])
        left_out = len(named) - len(kept)
        rows = report.data(found, kept, pipeline.healthy_places(found))
        data = {**rows, "left_out": {"features": left_out} if left_out else {}}
        return quoting(f"{len(kept)} of {len(named)} features whose name contains {features!r}", detail, data)
    if metric is not None:
        return quoting(show.render_metric(found, metric, width=WIDTH), detail)
    return quoting(show.render(found, width=WIDTH), detail)


def explain(
    rule: Annotated[str | None, Field(description="The id of a rule. Without it, all ids are listed.")] = None,
    *,
    detail: Detail = "brief",
) -> Answer:
    """Explain a cause: why it happens, its evidence with weights, the fix, how to verify it, references."""
    from loganalyst import pipeline
    from loganalyst.report.rulepage import render

    if rule is None:
        known = pipeline.catalogue().rules.values()
        if detail == "full":
            return answered("".join(f"{r.id} ({r.severity}): {r.title}\n" for r in known), detail)
        families = {r.family: [x.id for x in known if x.family == r.family] for r in known}
        ids = "".join(f"{family}: {', '.join(names)}\n" for family, names in families.items())
        return answered(f'{ids}detail: "full" adds a title to each\n')
    return answered(render(pipeline.explain(rule)), detail)


def verify(
    old: Annotated[str, Field(description="The run that failed.")],
    new: Annotated[str, Field(description="The run made after the fix.")],
    *,
    detail: Detail = "brief",
    trust_run_settings: Trusted = False,
) -> Answer:
    """Check whether a fix helped: fixed, partly, not, new_problem or cannot_tell, and which promises were kept."""
    from loganalyst.auditing.verify import verify
    from loganalyst.report.verification import screen

    found = verify(place(old), place(new), trust_run_settings=trust_run_settings)
    return quoting(screen.render(found, width=WIDTH), detail, brief.verification(screen.data(found), limit(detail)))


def inspect(
    paths: Annotated[
        list[str], Field(min_length=1, description="Checkpoints; each is compared with the previous one.")
    ],
    *,
    top: Annotated[int, Field(ge=0, le=100, description="Maximum number of tensors, the worst first.")] = 10,
    detail: Detail = "brief",
) -> Answer:
    """Inspect checkpoints without running their code: NaN, dead rows, norms, moments, changes between them."""
    from loganalyst.checkpoint import inspect
    from loganalyst.report.inspection import screen

    return quoting(screen.render(inspect(*map(place, paths)), top=top, width=WIDTH), detail)


def script(
    name: Annotated[str | None, Field(description="The name of a script. Without it, all scripts are listed.")] = None,
) -> Answer:
    """Return the text of a small script that measures in the user's own training what was not logged."""
    from loganalyst.errors import LogAnalystError, nearest
    from loganalyst.scripts import summary, templates

    found = templates()
    if name is None:
        return answered("".join(f"{known}: {summary(text)}\n" for known, text in found.items()))
    if name not in found:
        raise LogAnalystError(name, "no such script", nearest(name, found) or f"there are {', '.join(found)}")
    return answered(found[name], "full")
