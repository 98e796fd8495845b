"""`loganalyst verify`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import (
    FOUND,
    NOTHING,
    USAGE,
    ConfigFile,
    Output,
    RulesDirs,
    TrustRuns,
    complain,
    emit,
    layout,
    refuse,
    screen,
)


class VerifyFormat(StrEnum):
    """Output formats of a verification."""

    TERMINAL = "terminal"
    JSON = "json"


@command("One run", "loganalyst verify runs/exp42 runs/exp43 --store store/")
def verify(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The run that failed.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The run made after the fix.", show_default=False)],
    *,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="DIR", help="Record the outcome here, and learn from failed fixes."),
    ] = None,
    config: ConfigFile = None,
    rules: RulesDirs = [],  # noqa: B006
    trust_run_settings: TrustRuns = False,
    format_: Annotated[VerifyFormat, layout(VerifyFormat)] = VerifyFormat.TERMINAL,
    output: Output = None,
) -> None:
    """Check whether a fix helped.

    The answer is fixed, partly, not fixed, new problem, or unknown with what is missing. Exits with 0 if fixed, 2 if a
    run cannot be read or OLD has no fault, else 1.
    """
    from loganalyst.auditing.verify import verify as verified
    from loganalyst.report.verification import screen as verification
    from loganalyst.store import Store

    refuse([output, store], [old, new])
    kept = None if store is None else Store(store)
    found = verified(old, new, store=kept, config=config, rules=rules, trust_run_settings=trust_run_settings)
    for fault in kept.faults if kept else ():
        complain(fault, USAGE)
    if format_ is VerifyFormat.JSON:
        text = verification.render_json(found) + "\n"
    else:
        text = verification.render(found, **({} if output else screen()))
    emit(text, output)
    raise typer.Exit(NOTHING if found.outcome == "fixed" else FOUND)
