"""`loganalyst rules`: the catalogue of causes."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from loganalyst.cli.app import app, command
from loganalyst.cli.common import NOTHING, USAGE, RulesDirs, complain, emit, layout
from loganalyst.cli.help import Group

rules_app = typer.Typer(cls=Group, help="List, explain, create, check and test rules.", no_args_is_help=True)
app.add_typer(rules_app, name="rules", rich_help_panel="What it knows")


class RuleFormat(StrEnum):
    """Output formats of a rule."""

    MARKDOWN = "markdown"
    JSON = "json"


@command("Commands", "loganalyst rules list", name="list", of=rules_app)
def list_rules(rules: RulesDirs = []) -> None:  # noqa: B006
    """List all rules: id, severity, title."""
    from loganalyst import pipeline

    known = pipeline.catalogue(tuple(rules)).rules.values()
    width = max(len(rule.id) for rule in known)
    emit("".join(f"{rule.id:{width}}  {rule.severity:8}  {rule.title}\n" for rule in known))


@command("Commands", "loganalyst rules explain lr-too-high", of=rules_app)
def explain(
    rule: Annotated[str, typer.Argument(metavar="ID", help="Id of a rule.", show_default=False)],
    *,
    rules: RulesDirs = [],  # noqa: B006
    format_: Annotated[RuleFormat, layout(RuleFormat)] = RuleFormat.MARKDOWN,
) -> None:
    """Explain a rule.

    Markdown shows its mechanism, evidence with questions and weights, fix and references. JSON contains the whole file.
    """
    from loganalyst import pipeline
    from loganalyst.report.rulepage import render

    found = pipeline.explain(rule, rules)
    emit(render(found) if format_ is RuleFormat.MARKDOWN else json.dumps(found, indent=2) + "\n")


@command("Commands", "loganalyst rules new too-few-warmup-steps -o my-rules", of=rules_app)
def new(
    rule: Annotated[str, typer.Argument(metavar="ID", help="Id of the new rule: lower-case words joined by hyphens.")],
    *,
    family: Annotated[str, typer.Option("--family", metavar="NAME", help="Subfolder for the rule.")] = "own",
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of your rules.", show_default="here")
    ] = Path(),
) -> None:
    """Create a new rule as a starting point.

    The file is a valid rule, with a comment on every field. An existing file is never replaced.
    """
    from loganalyst import pipeline

    path = pipeline.new_rule(rule, family, output)
    emit(f"{path}\n")


@command("Commands", "loganalyst rules check my-rules", of=rules_app)
def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Folders with your own rules.")] = [],  # noqa: B006
) -> None:
    """Check the built-in rules and yours.

    Also checks the patterns of log lines in your `text` folder. Every fault is reported with its line. Exits with 2 if
    there is a fault.
    """
    from loganalyst import pipeline

    known = pipeline.catalogue(tuple(paths))
    problems = (*known.problems, *pipeline.pattern_faults(paths))
    for problem in problems:
        complain(problem, USAGE)
    sound = f"{len(known.rules)} rules, {len(known.symptoms)} symptoms and {pipeline.pattern_count(paths)} patterns"
    emit(f"{sound} are valid; {len(problems)} faults\n")
    raise typer.Exit(USAGE if problems else NOTHING)


@command("Commands", "loganalyst rules test --rules my-rules", name="test", of=rules_app)
def run_tests(
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Rules to test (default: all).")] = [],  # noqa: B006
    *,
    rules: RulesDirs = [],  # noqa: B006
) -> None:
    """Run the tests of rules.

    These are the tests in the files of the rules, and general tests for every rule. Exits with 2 if one fails.
    """
    from loganalyst import pipeline

    problems = (*pipeline.catalogue(tuple(rules)).problems, *pipeline.pattern_faults(rules))
    for problem in problems:
        complain(problem, USAGE)
    outcomes = pipeline.rule_tests(ids, rules)
    failed = [o for o in outcomes if o.passed is False]
    skipped = [o for o in outcomes if o.passed is None]
    for outcome in failed:
        complain(f"{outcome.rule}: {outcome.test}: {outcome.detail}", USAGE)
    emit(f"{len(outcomes) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} not run\n")
    raise typer.Exit(USAGE if failed or problems else NOTHING)
