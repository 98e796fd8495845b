"""How fixes relate, and the scripts that would decide."""

from pathlib import Path

from loganalyst.model import DecidingScript, Diagnosis, Fix, Run
from loganalyst.report.common.rows import Row
from loganalyst.report.diagnosis.remedies import command, scopes, scripts


def test_the_first_fix_is_targeted() -> None:
    """The others are for the case that it does not help."""
    assert scopes([Fix("a", "", ""), Fix("b", "", "")]) == ["Fix A (targeted)", "Fix A2 (alternative)"]
    assert scopes([]) == []


def test_a_script_is_named_with_what_it_answers() -> None:
    """And with the command that writes it."""
    found = Diagnosis(Run(Path("r"), "r"), "cause_unknown", 0.5, scripts=(DecidingScript("memory", "what fills it"),))

    assert list(scripts(found)) == [Row("memory", "what fills it")]
    assert command("memory") == "loganalyst script memory -o memory.py"
