"""Facts about a run from its records."""

import json

import pytest
from wandb.proto.wandb_internal_pb2 import Record

from loganalyst.sources.wandb import proto
from loganalyst.sources.wandb.runfacts import Facts


def add(facts: Facts, record: Record) -> None:
    data = record.SerializeToString()
    facts.add(data, *proto.record(data))


def test_config():
    """Settings are set, replaced and removed; W&B's own are left out."""
    facts = Facts()
    first, second = Record(), Record()
    first.config.update.add(key="lr", value_json="0.1")
    first.config.update.add(nested_key=["model", "size"], value_json='"big"')
    first.config.update.add(key="_wandb", value_json="{}")
    second.config.update.add(key="lr", value_json="0.2")
    second.config.remove.add(nested_key=["model", "size"])
    add(facts, first)
    assert facts.config == {"lr": 0.1, "model": {"size": "big"}}
    add(facts, second)

    assert facts.config == {"lr": 0.2, "model": {}}


@pytest.mark.parametrize(
    ("code", "preempting", "status"),
    [(0, False, "finished"), (1, False, "failed"), (255, False, "cancelled"), (1, True, "preempted")],
)
def test_end(code, preempting, status):
    """By exit code and announced preemption."""
    facts = Facts()
    if preempting:
        record = Record()
        record.preempting.SetInParent()
        add(facts, record)
    record = Record()
    record.exit.exit_code = code
    record.exit.SetInParent()
    add(facts, record)

    assert facts.status == status
    assert facts.facts["exit_code"] == code


def test_state():
    """Everything survives JSON."""
    facts = Facts()
    record = Record()
    record.summary.update.add(key="é", value_json="1")
    add(facts, record)
    alert = Record()
    alert.alert.title = "x"
    add(facts, alert)
    again = Facts()
    again.restore(json.loads(json.dumps(facts.state())))

    assert (again.summary, again.passed) == (facts.summary, {"alert": 1})
    assert len(again.summary) == 1
