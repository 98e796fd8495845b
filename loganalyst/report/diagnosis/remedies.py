"""How the fixes of a cause relate, code for them, and the scripts that would decide an unsure diagnosis."""

from collections.abc import Iterator, Sequence

from loganalyst.model import Diagnosis, Fix
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean

__all__ = ["BROADER", "command", "scopes", "scripts"]

BROADER = "Fix B (broader)"


def scopes(fixes: Sequence[Fix]) -> list[str]:
    """The heading of each fix. The first is targeted; the others are for the case that it does not help."""
    return [f"Fix A{i} (alternative)" if i > 1 else "Fix A (targeted)" for i, _ in enumerate(fixes, 1)]


def scripts(d: Diagnosis) -> Iterator[Row]:
    """Each script that would decide, with what it answers."""
    return (Row(clean(s.name, 80), clean(s.answers, 240)) for s in d.scripts)


def command(name: str) -> str:
    """The command that writes a script."""
    return f"loganalyst script {name} -o {name}.py"
