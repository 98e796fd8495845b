"""The rows of a run's features."""

from dataclasses import replace

from loganalyst.model import Feature, Features, HealthyPlace, Witness
from loganalyst.report import featurerows

DECLARED = {
    name: Feature(name=name, dtype="float", unit="", meaning="", needs="train_loss") for name in ("seen", "unseen")
}


def test_a_row_says_where_its_value_was_seen(failed):
    """An unknown value names a metric of the role that it needs."""
    seen = Features({"seen": float("inf")}, {"seen": Witness("loss", 1500, "a.log", 3)})
    known, unknown = featurerows.rows(replace(failed, features=seen), DECLARED, {})
    healthy = {"seen": HealthyPlace("", 80, 9, 0.25, 0.5)}
    data = featurerows.data(replace(failed, features=seen), DECLARED, healthy)["features"]

    assert (known.origin(), known.value) == ("loss at step 1,500 line 3 of a.log", float("inf"))
    assert (unknown.origin(), unknown.value) == ("train/loss", None)
    assert [row["value"] for row in data] == ["Infinity", None]
    assert (data[0]["source"]["line"], data[1]["source"]) == (3, None)
    assert data[0]["healthy_runs"] == {"kind": "", "runs": 80, "repositories": 9, "below": 0.25, "above": 0.5}
    assert data[1]["healthy_runs"] is None
