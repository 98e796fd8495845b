"""W&B's messages, decoded without compiled classes."""

import pytest
from wandb.proto.wandb_internal_pb2 import EnvironmentRecord, HistoryRecord, Record, RunRecord, StatsRecord

from loganalyst.sources.wandb import proto


def test_record():
    """The kind of the message and its bytes; kinds that are not needed are 0."""
    record = Record(num=3)
    record.exit.exit_code = 7
    data = record.SerializeToString()
    kind, at, end = proto.record(data)

    assert kind == proto.EXIT
    assert proto.number(data, at, end, proto.EXIT_CODE) == 7
    assert proto.record(Record(num=3).SerializeToString())[0] == 0


def test_items():
    """Old and new keys, and their JSON."""
    message = HistoryRecord()
    message.item.add(key="loss", value_json="0.5")
    message.item.add(nested_key=["a", "b"], value_json="1")
    message.step.num = 9
    data = message.SerializeToString()
    keys, values = proto.items(data, 0, len(data), proto.HISTORY_ITEM)

    assert [proto.path(key) for key in keys] == [("loss",), ("a", "b")]
    assert values == [b"0.5", b"1"]
    assert proto.step(data, 0, len(data)) == 9


def test_an_item_past_its_message():
    """A damaged length is an error."""
    with pytest.raises(ValueError, match="ends past its message"):
        proto.items(b"\x0a\x09abc", 0, 5, proto.HISTORY_ITEM)


def test_times():
    """Seconds and nanoseconds."""
    message = StatsRecord()
    message.timestamp.seconds, message.timestamp.nanos = 3, 500_000_000
    message.item.add(key="x", value_json="1")
    data = message.SerializeToString()
    time, first = proto.stats_head(data, 0, len(data))

    assert time == 3.5
    assert data[first] == proto.STATS_ITEM << 3 | 2


def test_settings():
    """Named fields, nested ones dotted, repeated ones joined, and map entries by their keys."""
    data = RunRecord(run_id="r1", tags=["a", "b"], resumed=True).SerializeToString()
    assert proto.settings(data, 0, len(data), proto.RUN_FIELDS) == {"run_id": "r1", "tags": "a b", "resumed": 1}
    data = EnvironmentRecord(os="Linux", cpu_count=4, slurm={"job_id": "47"}).SerializeToString()
    assert proto.settings(data, 0, len(data), proto.ENVIRONMENT_FIELDS) == {
        "os": "Linux",
        "cpu_count": 4,
        "slurm.job_id": "47",
    }
