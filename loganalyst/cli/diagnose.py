"""`loganalyst diagnose`."""

import json
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import (
    NOTHING,
    OF_RESTART,
    USAGE,
    ConfigFile,
    ExitZero,
    Output,
    RulesDirs,
    TrustRuns,
    complain,
    emit,
    finding_code,
    layout,
    refuse,
    screen,
    within,
)

if TYPE_CHECKING:
    from loganalyst.model import Diagnosis


class Format(StrEnum):
    """Output formats of a diagnosis."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"
    HTML = "html"
    SARIF = "sarif"


@command(
    "One run",
    "loganalyst diagnose runs/exp42",
    "loganalyst diagnose runs/exp42 slurm-4711.out --baseline runs/exp41",
    'loganalyst diagnose runs/exp42 --symptom "loss spikes every 1000 steps"',
    "loganalyst diagnose runs/exp42 --format html -o report.html",
    "loganalyst diagnose slurm-12.out --history slurm-11.out --exit-restart",
)
def diagnose(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH", help="A run's directory, a single file, or a SLURM log.", show_default=False, readable=False
        ),
    ] = [],  # noqa: B006 (typer reads the defaults and never changes them)
    *,
    symptom: Annotated[
        list[str], typer.Option("--symptom", metavar="TEXT", help="What you observed; it is checked against the logs.")
    ] = [],  # noqa: B006
    context: Annotated[
        Path | None,
        typer.Option("--context", metavar="FILE", help="JSON file with artefacts, symptoms and limits of the case."),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", metavar="RUN", help="A run that worked: shows what changed, and where curves diverge."
        ),
    ] = None,
    history: Annotated[
        list[Path],
        typer.Option(
            "--history", metavar="PATH", help="An earlier attempt, for the verdict on a restart (repeat: oldest first)."
        ),
    ] = [],  # noqa: B006
    checkpoints: Annotated[
        bool,
        typer.Option("--checkpoints", help="Also inspect the last checkpoints, which takes as long as reading them."),
    ] = False,
    config: ConfigFile = None,
    rules: RulesDirs = [],  # noqa: B006
    trust_run_settings: TrustRuns = False,
    separate: Annotated[
        bool, typer.Option("--separate", help="Diagnose each path on its own, without looking for job logs.")
    ] = False,
    format_: Annotated[Format | None, layout(Format)] = None,
    output: Output = None,
    artifacts: Annotated[
        Path | None,
        typer.Option(
            "--artifacts", metavar="DIR", help="Write the curves, a heat map and an analysis of gradients to DIR."
        ),
    ] = None,
    scripts: Annotated[
        Path | None,
        typer.Option(
            "--scripts", metavar="DIR", help="Write the scripts that would decide, and code for the fixes, to DIR."
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, max=5, metavar="N", help="Show at most N causes.")] = 5,
    exit_zero: ExitZero = False,
    exit_restart: Annotated[
        bool,
        typer.Option(
            "--exit-restart",
            help="Exit with the verdict on a restart: 10 restart, 11 elsewhere, 12 do not restart, 13 not known.",
        ),
    ] = False,
) -> None:
    """Find out what went wrong in a run, why, and what to change.

    Exits with 1 if a cause is likely, 0 if none is, 2 if nothing could be read. With --exit-restart the code is the
    verdict on a restart, and 0 for a run that was not broken off.
    """
    from loganalyst import contextfile, pipeline, rulecatalogue

    case = contextfile.read(context) if context else contextfile.Case()
    paths = _named([*paths, *case.runs, *case.logs], case.missing)
    format_ = format_ or Format(case.format or Format.TERMINAL)
    with within(case.seconds):
        inputs = (baseline, *history, config, context, *case.config, *case.code)
        refuse([output, artifacts, scripts], [*paths, *filter(None, inputs)], separate=separate)
    trusted: dict[str, Any] = {"config": config, "trust_run_settings": trust_run_settings}
    other = pipeline.read_run(baseline, **trusted) if baseline else None
    options = {**trusted, "rules": rules, "symptoms": symptom, "baseline": other, "case": case, "history": history}
    with within(case.seconds):
        found = _diagnosed(paths, checkpoints=checkpoints, separate=separate, **options)
    _complain_of(found)
    report = [output] if output else []
    written = [_written(d, report, artifacts, scripts, several=len(found) > 1) for d in found]
    emit(_reports(found, format_, top, {} if output else screen(), written), output)
    rulecatalogue.keep_compiled(filter(None, (*paths, baseline)))
    raise typer.Exit(_restart_code(found) if exit_restart else _cause_code(found, exit_zero=exit_zero))


def _named(paths: list[Path], missing: Sequence[str]) -> list[Path]:
    """The paths. Raises BadParameter if there is none; `missing` are those of the context file that do not exist."""
    if not paths:
        lost = "; ".join(missing)
        raise typer.BadParameter(f"nothing to read{': ' if lost else ''}{lost}", param_hint="PATH")
    return paths


def _unread(found: "list[Diagnosis]") -> "list[Diagnosis]":
    return [d for d in found if d.status == "unreadable"]


def _complain_of(found: "list[Diagnosis]") -> None:
    """Runs that could not be read, and faults of settings and rules, each once."""
    for d in _unread(found):
        complain(d.summary.get("why") or f"{d.run.path}: nothing could be read", USAGE)
    for fault in dict.fromkeys(f for d in found for f in d.summary.get("faults", ())):
        complain(fault, USAGE)


def _cause_code(found: "list[Diagnosis]", *, exit_zero: bool) -> int:
    """The exit code that says whether a cause is likely in any run."""
    likely = any(cause.verdict == "likely" for d in found for cause in d.causes)
    return finding_code(found=likely, read=not _unread(found), exit_zero=exit_zero)


def _restart_code(found: "list[Diagnosis]") -> int:
    """The exit code of the last run (0: it was not broken off), or that of a run that could not be read."""
    if _unread(found):
        return USAGE
    last = found[-1].restart if found else None
    return OF_RESTART[last.verdict] if last else NOTHING


def _diagnosed(paths: list[Path], *, checkpoints: bool, **options: Any) -> "list[Diagnosis]":
    """Diagnose, with a progress bar while checkpoints are inspected."""
    from loganalyst import pipeline
    from loganalyst.progressbar import Bar

    if not checkpoints:
        return pipeline.diagnose_paths(paths, **options)
    bar = Bar()
    watch = partial(bar.show_phase, "inspecting checkpoints")
    try:
        return pipeline.diagnose_paths(paths, checkpoints=True, watch=watch, **options)
    finally:
        bar.clear()


class Written(NamedTuple):
    """The files that are written for a diagnosis: those with a name in the JSON, and others, the report first."""

    named: dict[str, Path]
    others: list[Path]


def _written(
    d: "Diagnosis", report: list[Path], artifacts: Path | None, scripts: Path | None, *, several: bool
) -> Written:
    """Write what --artifacts and --scripts ask for; of several runs, each into a folder with the id of the run."""
    if (artifacts is None and scripts is None) or d.status == "unreadable":
        return Written({}, report)
    from loganalyst.report.diagnosis import artifacts as files
    from loganalyst.scripts import templates

    of_run = d.run.id if several else "."
    return Written(
        files.save(d, artifacts / of_run) if artifacts else {},
        [*report, *(files.save_scripts(d, scripts / of_run, templates()) if scripts else ())],
    )


def _reports(
    found: "list[Diagnosis]", format_: Format, top: int, screen: dict[str, Any], written: "list[Written]"
) -> str:
    """All reports as one text. Only JSON and SARIF contain unreadable runs, which have a line on stderr."""
    if format_ is Format.JSON:
        from loganalyst.report.diagnosis.asjson import data

        objects = [data(d, w.others, w.named) for d, w in zip(found, written, strict=True)]
        return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2, allow_nan=False) + "\n"
    if format_ is Format.SARIF:
        from loganalyst.report.diagnosis import sarif

        return sarif.render(found, Path.cwd(), top=top)
    readable = [d for d in found if d.status != "unreadable"]
    if format_ is Format.HTML:
        from loganalyst.report.diagnosis import html

        return html.render(readable, top=top) if readable else ""
    from loganalyst.report.diagnosis import markdown, terminal

    if format_ is Format.MARKDOWN:
        return "\n---\n\n".join(markdown.render(d, top=top) for d in readable)
    return "\n".join(terminal.render(d, top=top, **screen) for d in readable)
