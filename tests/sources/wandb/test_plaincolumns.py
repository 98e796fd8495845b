"""System metrics as columns: their times come from the record, not from the row."""

import numpy as np
from wandb.proto.wandb_internal_pb2 import Record

from loganalyst.sources.wandb import proto
from loganalyst.sources.wandb.leveldb import PAD, Batch
from loganalyst.sources.wandb.metricrows import NO_STEP
from loganalyst.sources.wandb.plaincolumns import columns
from loganalyst.sources.wandb.plainrecords import Chunk


def test_system_metrics():
    """The names get a prefix, and there are no steps."""
    record = Record()
    record.stats.item.add(key="gpu.0.temp", value_json="60.5")
    payload = record.SerializeToString()
    spans = np.array([0]), np.array([len(payload)])
    chunk = Chunk(Batch(payload + bytes(PAD), *spans, spans[0], [], 0, None))
    places = chunk.positions(proto.STATS)
    items, plain = chunk.items(chunk.start[places], chunk.end[places], proto.STATS_ITEM)
    found = columns(chunk, items, places, plain, np.array([1.5]))

    assert found.names == ["system/gpu.0.temp"]
    assert found.columns.values.tolist() == [60.5]
    assert (found.columns.steps.tolist(), found.columns.times.tolist()) == ([NO_STEP], [1.5])
