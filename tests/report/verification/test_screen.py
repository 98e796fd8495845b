"""Whether a fix helped, on a terminal and as JSON."""

from loganalyst.model import CauseCheck, Change, Expectation, Verification
from loganalyst.model.verification import SymptomCheck
from loganalyst.report.verification import screen

LOWER, RAISE = (Change("lr", "rate", "config", "0.03", after, None) for after in ("0.01", "0.05"))


def check(**more: object) -> CauseCheck:
    return CauseCheck("lr-too-high", "l", "Rate too high", 0.9, "not", "it is still there", **more)


def lines(found: CauseCheck, failed) -> list[str]:
    text = screen.render(Verification(failed, failed, "not", (found,)), width=100)
    return [line.strip() for line in text.splitlines()]


def test_changes_promises_and_symptoms_are_listed(failed):
    """Each answer has a sign and a word."""
    promise, symptom = Expectation("c", "loss falls", None), SymptomCheck("s", "Loss is NaN", False)
    found = lines(check(applied=True, changes=(LOWER,), expectations=(promise,), symptoms=(symptom,)), failed)

    assert found[0].startswith("✗ Not fixed: Rate too high")
    assert found[1:] == [
        "It is still there.",
        "Applied    lr 0.03 → 0.01",
        "Promised   ? loss falls: not known",
        "Symptoms   ✗ Loss is NaN: still seen",
    ]


def test_a_change_in_the_other_direction_is_named(failed):
    """If no change can be seen, the report says why."""
    assert lines(check(applied=False, against=(RAISE,)), failed)[2:] == [
        "Applied    no setting was changed that could fix it · but in the other direction: lr 0.03 → 0.05"
    ]
    assert lines(check(), failed)[2:] == ["Applied    not known: the fix is not a setting, or settings are not logged"]


def test_the_json_names_both_runs(failed, healthy):
    """The last step is that of the summary."""
    data = screen.data(Verification(failed, healthy, "not", (check(),)))

    assert (data["outcome"], data["old"]["last_step"], data["new"]["status"]) == ("not", 24650, "healthy")
    assert (data["checks"][0]["id"], data["changes"], data["new_causes"]) == ("lr-too-high", [], [])
