"""The command line: parse, one call of the API, render. Reports go to stdout, everything else to stderr.

Exit codes: 0 nothing found, 1 a cause is likely, 2 usage or nothing readable, 3 an internal error.
Only typer and the standard library are imported at the top: `loganalyst --help` must be quick.
"""

import json
import os
import shutil
import sys
import traceback
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from loganalyst import __version__
from loganalyst.errors import LogAnalystError

if TYPE_CHECKING:
    from loganalyst.model import Diagnosis

NOTHING, FOUND, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
USAGE_ERROR: Any = typer.BadParameter.__bases__[0]  # click's UsageError, wherever typer keeps it
LONGEST_COMPLAINT = 600  # characters of a line on stderr: what was found may be a whole file
SIGNS = "▁█✓✗→·…"  # where stdout cannot carry these, reports are drawn in ASCII

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    help="Say what went wrong in a training run, from the logs it left behind.",
)


class Format(StrEnum):
    """How a report is laid out."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"


class FeatureFormat(StrEnum):
    """How features are laid out."""

    TABLE = "table"
    JSON = "json"


ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Corrections (default: loganalyst.yaml at or above the run)."),
]
RulesDirs = Annotated[list[Path], typer.Option("--rules", metavar="DIR", help="A folder with rules of your own.")]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    try:
        code = app(arguments, prog_name="loganalyst", standalone_mode=False)
    except LogAnalystError as error:
        code = _complain(str(error), USAGE)
    except USAGE_ERROR as error:
        error.show()
        code = USAGE
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # the one place that turns a bug into an exit code; polars' panics are no Exception
        if os.environ.get("LOGANALYST_DEBUG"):
            traceback.print_exc()
        text = f"{type(error).__name__}: {error}"
        code = _complain(f"internal error: {text}; LOGANALYST_DEBUG=1 shows the traceback", INTERNAL)
    sys.exit(code)


def _complain(text: str, code: int) -> int:
    """One line on stderr (a list of faults has one each); `code` is handed back."""
    from loganalyst.report.text import clean

    for line in f"loganalyst: {text}".splitlines():
        print(_encoded(clean(line, LONGEST_COMPLAINT), sys.stderr), file=sys.stderr)
    return code


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"loganalyst {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the program itself."""


@app.command()
def diagnose(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH", help="A run's directory, a single file, or a SLURM log.", show_default=False, readable=False
        ),
    ],
    *,
    symptom: Annotated[
        list[str], typer.Option("--symptom", metavar="TEXT", help="What you saw; it is checked against the logs.")
    ] = [],  # noqa: B006 (typer reads the defaults and never changes them)
    config: ConfigFile = None,
    rules: RulesDirs = [],  # noqa: B006
    separate: Annotated[bool, typer.Option("--separate", help="Each path by itself; look for no job logs.")] = False,
    format_: Annotated[
        Format, typer.Option("--format", metavar="terminal|markdown|json", help="How the report is laid out.")
    ] = Format.TERMINAL,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the report to FILE, not to stdout.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, max=5, metavar="N", help="Show at most N causes.")] = 5,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 although a cause is likely.")] = False,
) -> None:
    """Say what went wrong in a run, why, and what to change.

    Exits with 1 if a cause is likely, 0 if none is, 2 if nothing could be read.
    """
    from loganalyst import pipeline

    found = pipeline.diagnose_paths(paths, separate=separate, config=config, rules=rules, symptoms=symptom)
    unread = [d for d in found if d.status == "unreadable"]
    for d in unread:
        _complain(d.summary.get("why") or f"{d.run.path}: nothing could be read", USAGE)
    for fault in dict.fromkeys(f for d in found for f in d.summary.get("faults", ())):
        _complain(fault, USAGE)
    _emit(_reports(found, format_, top, screen={} if output else _screen()), output)
    likely = any(cause.verdict == "likely" for d in found for cause in d.causes)
    raise typer.Exit((NOTHING if exit_zero else FOUND) if likely else USAGE if unread else NOTHING)


def _reports(found: "list[Diagnosis]", format_: Format, top: int, screen: dict[str, Any]) -> str:
    """All reports as one text; of unreadable runs only JSON speaks (the others had a line on stderr)."""
    if format_ is Format.JSON:
        from loganalyst.report.json import data

        objects = [data(d) for d in found]
        return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2, allow_nan=False) + "\n"
    from loganalyst.report import markdown, terminal

    readable = [d for d in found if d.status != "unreadable"]
    if format_ is Format.MARKDOWN:
        return "\n---\n\n".join(markdown.render(d, top=top) for d in readable)
    return "\n".join(terminal.render(d, top=top, **screen) for d in readable)


@app.command()
def show(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="A run's directory or a single file.", show_default=False, readable=False),
    ],
    *,
    metric: Annotated[
        list[str], typer.Option("--metric", metavar="NAME", help="Show this metric, or draw it with --plot.")
    ] = [],  # noqa: B006
    features: Annotated[bool, typer.Option("--features", help="Show what rules can ask about this run.")] = False,
    format_: Annotated[
        FeatureFormat, typer.Option("--format", metavar="table|json", help="How features are laid out.")
    ] = FeatureFormat.TABLE,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw the main curves, or those of --metric, into FILE (.png, .svg or .pdf)."
        ),
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Show what was read of a run.

    Its sources, metrics with their roles and why, config, gaps, and how far it could be judged.
    """
    from loganalyst import pipeline
    from loganalyst.report import show as report

    if format_ is FeatureFormat.JSON and not features:
        raise typer.BadParameter("json is a format of --features; add it", param_hint="--format")
    diagnosis = pipeline.diagnose(run, config=config)
    if plot is not None:
        from loganalyst.report.plot import save

        save(diagnosis, plot, metric)
    for name in metric if plot is None else []:
        _emit(report.render_metric(diagnosis, name, **_screen()))
    if features:
        _emit(_features(diagnosis, format_))
    if plot is None and not metric and not features:
        _emit(report.render(diagnosis, **_screen()))


def _features(diagnosis: "Diagnosis", format_: FeatureFormat) -> str:
    """The features of a run, as laid out by `format_`."""
    from loganalyst.features import declared
    from loganalyst.report import features, show

    if format_ is FeatureFormat.JSON:
        return features.render(diagnosis, declared())
    return show.render_features(diagnosis, declared(), **_screen())


@app.command()
def schema() -> None:
    """Print the JSON Schema of `diagnose --format json`."""
    from loganalyst.report.schema import schema as diagnosis_schema

    _emit(json.dumps(diagnosis_schema(), indent=2) + "\n")


class Layout(StrEnum):
    """How the answer to a query is laid out."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"


StoreDir = Annotated[Path, typer.Option("--store", metavar="DIR", help="The store's folder.", show_default=False)]


@app.command()
def ingest(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Runs, files, or folders of runs.", show_default=False, readable=False),
    ],
    *,
    store: StoreDir,
    processes: Annotated[int, typer.Option("--processes", min=1, metavar="N", help="Read in N processes.")] = 1,
) -> None:
    """Read every run that changed into a store, which is made if need be.

    Of files that only grew, what was appended is read. Exits with 2 if a PATH could not be read.
    """
    from loganalyst.progress import Bar
    from loganalyst.store import Store

    counts = {"read": 0, "unchanged": 0, "failed": 0}
    points, named, lost = 0, {os.path.abspath(path) for path in paths}, False
    bar = Bar()
    for outcome in Store(store).readings(paths, processes):
        counts[outcome.what] += 1
        points += outcome.points
        if outcome.what == "read":
            bar.clear()
            _emit(f"{outcome.path}: {outcome.points:,} points\n")
        elif outcome.what == "failed":
            bar.clear()
            _complain(outcome.why, USAGE)
            lost |= outcome.path in named
        bar.show(sum(counts.values()), points)
    bar.clear()
    _emit(
        "{read:,} runs read ({points:,} points), {unchanged:,} unchanged, {failed:,} not read\n".format(
            points=points, **counts
        )
    )
    raise typer.Exit(NOTHING if counts["read"] + counts["unchanged"] and not lost else USAGE)


@app.command()
def query(
    sql: Annotated[
        str,
        typer.Argument(
            metavar="SQL", help="A SELECT, or SHOW TABLES. docs/store.md has the columns.", show_default=False
        ),
    ],
    *,
    store: StoreDir,
    format_: Annotated[
        Layout, typer.Option("--format", metavar="table|csv|json|jsonl", help="How the answer is laid out.")
    ] = Layout.TABLE,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the answer to FILE, not to stdout.")
    ] = None,
) -> None:
    """Ask a store in SQL.

    Naming features, feature_sources, findings or diagnoses judges first what was read and not judged yet.
    """
    from loganalyst import query as asking
    from loganalyst.errors import StoreError
    from loganalyst.store import Store

    if not store.is_dir():
        raise StoreError(store, "there is no store", "`loganalyst ingest PATH --store DIR` makes one")
    rows = asking.ask(Store(store), sql)
    if format_ is Layout.CSV:
        text = asking.csv(rows)
    elif format_ is Layout.TABLE:
        screen = _screen()
        width = screen["width"] if sys.stdout.isatty() and output is None else 1 << 15
        text = asking.drawn(rows, width, ascii_only=screen["ascii_only"] and output is None)
    elif format_ is Layout.JSONL:
        text = "".join(f"{line}\n" for line in asking.json_lines(rows))
    else:
        text = "[" + ",\n".join(asking.json_lines(rows)) + "]\n"
    _emit(text, output)


rules_app = typer.Typer(help="The catalogue of causes: list, explain, check, test.", no_args_is_help=True)
app.add_typer(rules_app, name="rules")


@rules_app.command("list")
def list_rules(rules: RulesDirs = []) -> None:  # noqa: B006
    """List every rule: id, severity, title."""
    from loganalyst import pipeline

    known = pipeline.catalogue(tuple(rules)).rules.values()
    width = max(len(rule.id) for rule in known)
    _emit("".join(f"{rule.id:{width}}  {rule.severity:8}  {rule.title}\n" for rule in known))


@rules_app.command()
def explain(rule: Annotated[str, typer.Argument(metavar="ID", help="A rule's id.", show_default=False)]) -> None:
    """Explain a rule.

    Its mechanism, evidence with questions and weights, fix and references, as Markdown.
    """
    from loganalyst import pipeline
    from loganalyst.report.rule import render

    _emit(render(pipeline.explain(rule)))


@rules_app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Folders with rules of your own.")] = [],  # noqa: B006
) -> None:
    """Check our rules and yours.

    Every fault is told with its line. Exits with 2 if there is one.
    """
    from loganalyst import pipeline

    known = pipeline.catalogue(tuple(paths))
    for problem in known.problems:
        _complain(problem, USAGE)
    _emit(f"{len(known.rules)} rules and {len(known.symptoms)} symptoms are sound; {len(known.problems)} faults\n")
    raise typer.Exit(USAGE if known.problems else NOTHING)


@rules_app.command("test")
def run_tests(
    rules: Annotated[list[str], typer.Argument(metavar="ID", help="Rules to test (default: all).")] = [],  # noqa: B006
) -> None:
    """Run the tests of rules.

    Those written in them, and those every rule has for free. Exits with 2 if one fails.
    """
    from loganalyst import pipeline

    outcomes = pipeline.rule_tests(rules)
    failed = [o for o in outcomes if o.passed is False]
    skipped = [o for o in outcomes if o.passed is None]
    for outcome in failed:
        _complain(f"{outcome.rule}: {outcome.test}: {outcome.detail}", USAGE)
    _emit(f"{len(outcomes) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} not run\n")
    raise typer.Exit(USAGE if failed else NOTHING)


def _screen() -> dict[str, Any]:
    """Width, colour and character set of stdout, as the terminal renderers take them."""
    terminal = sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return {
        "width": shutil.get_terminal_size((100, 24)).columns if terminal else 100,
        "colour": terminal and not plain,
        "ascii_only": _encoded(SIGNS, sys.stdout) != SIGNS,
    }


def _encoded(text: str, stream: TextIO) -> str:
    """`text` with what the stream cannot carry replaced."""
    encoding = stream.encoding or "ascii"
    return text.encode(encoding, "replace").decode(encoding)


def _emit(text: str, output: Path | None = None) -> None:
    """Write a report to `output` or stdout. A reader of stdout that has gone away is no error."""
    if output is not None:
        try:
            output.write_text(text, encoding="utf-8", errors="replace")
        except OSError as error:
            raise LogAnalystError(output, f"cannot be written ({error.strerror})", "-o takes a file") from None
        return
    try:
        sys.stdout.write(_encoded(text, sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # keeps the exit from complaining once more


if __name__ == "__main__":
    main()
