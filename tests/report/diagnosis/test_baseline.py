"""The comparison with a baseline in words."""

from loganalyst.model import Baseline, Change, Suspect
from loganalyst.model.baseline import Parted
from loganalyst.report.diagnosis import baseline

RATE = Change("optim.lr", "rate", "config", "0.001", "0.05000000001", "up")
CODE = Change("commit", "code", "code", None, "abc", None)
LOSS = Parted("loss", "train_loss", 248, "worse", 9.0, 248, "worse", 2.28, 0.301, 100)


def test_the_suspect_comes_first():
    """Then other changes, where curves diverge, and what is not known."""
    b = Baseline("i", "p", "old", "healthy", (RATE, CODE), (LOSS,), tuple("abcdefgh"), Suspect(RATE, "only", "why"))

    assert [*baseline.rows(b)] == [
        ("Baseline", "old (healthy)"),
        ("Changed", "optim.lr 0.001 → 0.05: most likely responsible, why"),
        ("Besides", "code: commit (not set) → abc"),
        ("Diverged", "loss at step 248 for the worse (2.28 against 0.301 at the end, equal until step 100)"),
        ("Together", "8 metrics within noise: a, b, c, d, e, f and 2 more"),
    ]


def test_without_a_suspect_the_reason_is_given():
    """Runs that logged no settings are named."""
    b = Baseline("i", "p", "", "healthy", unknown="too many changes", not_logged=("old",))

    assert [*baseline.rows(b)] == [
        ("Baseline", "p (healthy)"),
        ("Changed", "no change can be held responsible: too many changes"),
        ("Not known", "old logged no settings, so its changes are not known"),
    ]
    assert baseline.data(b)["suspect"] is None
