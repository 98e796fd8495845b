"""`loganalyst confirm`."""

from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import MAX_PATH, USAGE, RulesDirs, StoreDir, complain, emit


@command(
    "A store of runs",
    'loganalyst confirm runs/exp42 lr-too-high --store store/ --note "bisected"',
    "loganalyst confirm runs/exp43 none --store store/",
)
def confirm(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Path or id of a run in the store.", show_default=False)],
    cause: Annotated[
        str,
        typer.Argument(
            metavar="CAUSE|none", help="Id of a rule, or a label; none for a healthy run.", show_default=False
        ),
    ],
    *,
    store: StoreDir,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="How you know.")] = "",
    rules: RulesDirs = [],  # noqa: B006
) -> None:
    """Record the true cause of a run in a store.

    The store is created if it does not exist. The latest record of a run counts. Nothing is written into the run.
    """
    from loganalyst.auditing.confirm import confirm as confirmed
    from loganalyst.report.common.wording import clean
    from loganalyst.store import Store

    kept = Store(store)
    truth = confirmed(run, cause, store=kept, note=note, rules=rules)
    for fault in kept.faults:
        complain(fault, USAGE)
    cause = f"{truth.cause} ({truth.label})" if truth.cause else truth.label
    emit(f"{clean(truth.path, MAX_PATH)}: {cause}, confirmed by you\n")
