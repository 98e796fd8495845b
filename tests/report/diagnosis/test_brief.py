"""Objects of the contracts, shortened: lists lose what counts least, and the loss is counted."""

from hypothesis import given
from hypothesis import strategies as st

from loganalyst.report.diagnosis import brief

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def test_the_likeliest_causes_and_the_last_sessions_stay():
    """What is left out is counted by its place; entries keep all their fields."""
    whole = {
        "root_causes": [{"id": i, "fix": [{"change": "x"}] * 9} for i in range(4)],
        "sessions": [{"index": i} for i in range(7)],
        "run": {"sources": [{"path": str(i)} for i in range(10)], "metrics": 3},
        "analysis_artifacts": {"features": {"a": 1, "b": 2}, "metrics": [], "findings": [1, 2]},
    }

    assert brief.diagnosis(whole, 2) == {
        "root_causes": whole["root_causes"][:2],
        "sessions": [{"index": i} for i in (3, 4, 5, 6)],
        "run": {"sources": [{"path": str(i)} for i in range(8)], "metrics": 3},
        "analysis_artifacts": {"features": {}, "metrics": [], "findings": []},
        "left_out": {
            "root_causes": 2,
            "sessions": 3,
            "run.sources": 2,
            "analysis_artifacts.features": 2,
            "analysis_artifacts.findings": 2,
        },
    }


def test_lists_in_entries_of_lists_are_counted_together():
    """The members of all groups."""
    whole = {"runs": [1, 2, 3], "groups": [{"members": list(range(n))} for n in (3, 6, 9)]}

    assert brief.audit(whole, 2) == {
        "runs": [1, 2],
        "groups": [{"members": list(range(n))} for n in (3, 5, 5)],
        "left_out": {"runs": 1, "groups.members": 5},
    }


def test_long_texts_are_cut():
    """After a thousand characters, with a sign that there was more."""
    assert brief.audit({"why": "x" * 2000}) == {"why": "x" * 999 + "…", "left_out": {}}


def test_an_object_fits_a_limit():
    """First it loses what is empty, then other lists and long texts, and the list of runs last."""
    runs = [{"id": i, "cause": None, "members": [], "why": "w" * 90} for i in range(8)]
    whole = {"runs": runs, "groups": [{"members": [1] * 4}] * 8, "copies": []}
    few = [{"id": i, "why": "w" * 90} for i in range(8)]

    assert brief.audit(whole, 8, 5000) == {"runs": few, "groups": whole["groups"]}
    short = brief.audit(whole, 8, 700)
    assert (len(short["runs"]), short["left_out"]["runs"]) == (4, 4)
    assert brief.size(short) <= 700
    assert brief.audit(whole, 8, 10)["runs"] == [few[0]]


@given(st.dictionaries(st.sampled_from(["runs", "groups", "other"]), PLAIN))
def test_what_is_short_stays_as_it_is(whole: dict[str, object]):
    """Nothing is lost of what is within the limits."""
    assert brief.audit(whole, 4) == {**whole, "left_out": {}}
