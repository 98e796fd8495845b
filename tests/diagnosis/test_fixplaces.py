"""The places of the settings that fixes change."""

from loganalyst.diagnosis.fixplaces import MAX_PLACES, cited, named
from loganalyst.model import Cause, Fix, Place


def cause(change: str) -> Cause:
    fix = Fix(change, "", "")
    return Cause("id", "label", "issue", "error", 0.9, "high", "likely", "", "", (), (fix,))


def test_places_of_the_named_setting_are_cited() -> None:
    """By any of its names, in any case, with - for _; places with the value that the fix starts from come first."""
    rate = Place("a.yaml", 3, "LR", "0.1")
    start = Place("b.py", 7, "learning-rate", "0.03")
    other = Place("a.yaml", 4, "dropout", "0.03")

    (found,) = cited([cause("learning rate from 0.03 → 0.01")], [rate, start, other])

    assert found.fix[0].places == (start, rate)


def test_at_most_three_places_are_cited_and_none_for_another_change() -> None:
    """A change that names no known setting has no places."""
    places = [Place("a.yaml", i, "lr", "0.1") for i in range(5)]

    assert len(cited([cause("learning rate → 0.01")], places)[0].fix[0].places) == MAX_PLACES == 3
    assert cited([cause("clean the data")], places)[0].fix[0].places == ()
    assert cited([cause("learning rate → 0.01")], [])[0].fix[0].places == ()


def test_a_fix_ends_with_the_trainers_own_name_of_its_setting() -> None:
    """Where a trainer nests its settings; other trainers and changes stay as they are."""
    told = {
        "peak learning rate 1e-6 → 3e-7": " (actor_rollout_ref.actor.optim.lr)",
        "entropy bonus → 0.01": " (actor_rollout_ref.actor.entropy_coeff)",
        "raise the length limit of generated answers": " (data.max_response_length)",
        "sample more answers per prompt, or use a higher temperature": " (actor_rollout_ref.rollout.n)",
        "clean the data": "",
    }
    for change, end in told.items():
        assert named([cause(change)], "verl")[0].fix[0].change == change + end
        assert named([cause(change)], "sb3")[0].fix[0].change == change
        assert named([cause(change)], None)[0].fix[0].change == change
