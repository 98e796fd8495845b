from dataclasses import replace

from loganalyst import model
from loganalyst.model import RuledOut
from loganalyst.report.diagnosis.document import document


def test_healthy_counts_what_was_looked_for(healthy):
    """The verdict of a healthy run says how many causes were looked for, leaving out those that do not apply."""
    looked = (
        RuledOut("a", "A", "unlikely", "w"),
        RuledOut("b", "B", "unlikely", "w"),
        RuledOut("c", "C", "not_applicable", ""),
    )

    assert document(replace(healthy, ruled_out=looked)).verdict == "Healthy: none of the 2 causes looked for"


def test_a_run_without_a_known_metric_is_not_said_to_be_short(too_little):
    """160 points of 8 metrics are enough, if one could tell which is the loss."""
    metrics = (model.Metric("Sigmoid1", "other", "no role fits the name", 20, 0),)
    unnamed = replace(too_little, metrics=metrics, summary={"not_logged": {"train_loss": "x"}, "metrics": []})

    assert document(unnamed).verdict == "No metric is known as a loss, score or reward: 3 points of 1 metric"
