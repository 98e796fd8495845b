"""Plain W&B records, decoded in parallel, and their columns."""

import numpy as np
from wandb.proto.wandb_internal_pb2 import Record

from loganalyst.sources.wandb import proto
from loganalyst.sources.wandb.leveldb import PAD, Batch
from loganalyst.sources.wandb.plaincolumns import columns
from loganalyst.sources.wandb.plainrecords import Chunk


def history(**values: str) -> Record:
    out = Record()
    for name, value in values.items():
        out.history.item.add(nested_key=[name], value_json=value)
    return out


def chunk(*records: Record) -> Chunk:
    payloads = [record.SerializeToString() for record in records]
    ends = np.cumsum([len(payload) for payload in payloads])
    starts = ends - [len(payload) for payload in payloads]
    return Chunk(Batch(b"".join(payloads) + bytes(PAD), starts, ends, starts, [], 0, None))


def test_items():
    """Keys in order of first use, and the numbers; an item of another form makes a record not plain."""
    typed = Record()
    typed.history.item.add(key="x", value_json="1")
    typed.history.item.add(key="y")
    found = chunk(history(_step="0", loss="0.5"), typed, history(_step="1", loss="NaN"))
    places = found.positions(proto.HISTORY)
    items, plain = found.items(found.start[places], found.end[places], proto.HISTORY_ITEM, proto.HISTORY_STEP)
    values, odd, texts = found.numbers(items)

    assert places.tolist() == [0, 1, 2]
    assert plain.tolist() == [True, False, True]
    assert [proto.path(key) for key in items.keys] == [("_step",), ("loss",)]
    assert (items.record.tolist(), items.code.tolist()) == ([0, 0, 2, 2], [0, 1, 0, 1])
    assert values[:3].tolist() == [0.0, 0.5, 1.0]
    assert (odd.tolist(), texts) == ([3], ["NaN"])


def test_columns():
    """Points with their steps; a row with an object is left to the slow path."""
    found = chunk(history(_step="5", loss="0.5", note='"x"'), history(_step="6", loss='{"a": 1}'))
    places = found.positions(proto.HISTORY)
    items, plain = found.items(found.start[places], found.end[places], proto.HISTORY_ITEM, proto.HISTORY_STEP)
    decoded = columns(found, items, places, plain)

    assert decoded.taken.tolist() == [True, False]
    assert decoded.columns.steps.tolist() == [5]
    assert [decoded.names[code] for code in decoded.columns.codes] == ["loss"]
    assert decoded.columns.values.tolist() == [0.5]
    assert dict(decoded.unused) == {("text", "note"): 1}
