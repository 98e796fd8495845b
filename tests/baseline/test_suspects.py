"""Which change is held responsible, and when none is."""

import pytest

from loganalyst.baseline.differencekinds import kinds
from loganalyst.baseline.suspects import suspect
from loganalyst.model import Cause, Change


def cause(label: str, line: int | None = None) -> Cause:
    texts = dict.fromkeys(("severity", "summary", "mechanism"), "")
    return Cause(
        id=label,
        label=label,
        issue=label,
        confidence=0.9,
        band="high",
        verdict="likely",
        evidence=(),
        fix=(),
        line=line,
        **texts,
    )


def change(key: str, way: str | None = None) -> Change:
    kind = kinds().kind_of(key)
    return Change(key, kind.name, kind.section, "a", "b", way)


SEED, DATA, SWITCH = change("seed"), change("dataset"), change("my_switch")
MANY = [change(f"layer{i}_seed") for i in range(8)]


def test_the_change_that_a_cause_names_comes_first():
    found = suspect([DATA, change("dropout", "down"), SEED], [cause("overfitting")], (), kinds(), apart=True)

    assert (found.change, found.basis) == (DATA, "named")


def test_a_change_the_other_way_is_not_named():
    """A lower rate made no rate too high."""
    found = suspect([change("lr", "down"), SEED], [cause("lr_too_high")], (), kinds(), apart=True)

    assert found.basis == "ranked"


def test_the_likeliest_cause_chooses():
    rate, clip = change("lr", "up"), change("num_workers", "up")
    found = suspect([rate, clip], [cause("host_oom"), cause("lr_too_high")], (), kinds(), apart=True)

    assert (found.change, found.basis) == (clip, "named")


def test_the_only_difference_is_it():
    assert suspect([SEED], [], (), kinds(), apart=True).basis == "only"


def test_of_some_the_kind_that_matters_most():
    found = suspect([change("lr", "up"), SEED], [], (), kinds(), apart=True)

    assert (found.change.key, found.basis) == ("lr", "ranked")


@pytest.mark.parametrize(
    ("told", "causes", "apart", "why"),
    [
        ([], [], True, "nothing that both runs logged differs"),
        ([SEED], [], False, "the curves stay together: no change made a difference"),
        (MANY, [], True, "8 things differ, too many to name one"),
        ([SWITCH, SWITCH], [], True, "how much the differences matter is not known"),
        ([SEED], [cause("disk_full", line=12)], True, "no difference is known to lead to this: disk_full"),
    ],
)
def test_nothing_is_named_without_a_reason(told, causes, apart, why):
    assert suspect(told, causes, (), kinds(), apart=apart) == why


def test_a_cause_names_one_of_many():
    found = suspect([change("lr", "up"), *MANY, SEED], [cause("lr_too_high")], (), kinds(), apart=True)

    assert (found.change.key, found.basis) == ("lr", "named")


def test_what_the_baseline_has_too_was_not_changed():
    found = suspect([change("lr", "up")], [cause("lr_too_high")], {"lr_too_high"}, kinds(), apart=True)

    assert found == "the baseline has the same cause: lr_too_high"


def test_an_exception_is_blamed_on_a_choice_before_a_number():
    """Another choice leads through other code."""
    found = suspect(
        [change("lr", "up"), change("optimizer")], [cause("code_exception", line=9)], (), kinds(), apart=True
    )

    assert (found.change.key, found.basis) == ("optimizer", "ranked")


def test_another_node_is_one_difference_however_much_is_logged_of_it():
    node = [change("host"), *(change(f"gpu_devices.{i}.name") for i in range(8))]
    found = suspect([SEED, *node], [], (), kinds(), apart=True)

    assert (found.change, found.basis) == (SEED, "ranked")
