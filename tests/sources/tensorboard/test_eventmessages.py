"""Event messages, decoded without compiled classes."""

import numpy as np
import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.util.tensor_util import make_tensor_proto

from loganalyst.sources.tensorboard import eventmessages


def test_event():
    """Wall time, step, tag, plugin, and the offset of the float32."""
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars", content=b"x"))
    value = Summary.Value(tag="loss", simple_value=0.5, metadata=metadata)
    data = Event(wall_time=1.5, step=7, summary=Summary(value=[value])).SerializeToString()
    found = eventmessages.event(data, 0, len(data))

    assert (found.wall, found.step) == (1.5, 7)
    (only,) = found.values
    assert (only.tag, only.plugin, only.content) == ("loss", "scalars", b"x")
    assert only.simple is not None
    assert np.frombuffer(data, "<f4", 1, only.simple)[0] == 0.5


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_])
def test_tensor(dtype):
    """Any numeric type, in C order."""
    numbers = np.array([[1, 0], [1, 1]], dtype)
    data = make_tensor_proto(numbers).SerializeToString()
    found = eventmessages.tensor(data, 0, len(data))

    assert found.shape == (2, 2)
    assert found.numbers.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert found.lone is None


def test_tensors_without_numbers():
    """Texts, and a shape that does not fit."""
    data = make_tensor_proto(["a", "b"]).SerializeToString()
    assert eventmessages.tensor(data, 0, len(data)).strings == [b"a", b"b"]
    proto = make_tensor_proto(np.float32([1, 2, 3]))
    proto.tensor_shape.dim[0].size = 2
    data = proto.SerializeToString()
    assert len(eventmessages.tensor(data, 0, len(data)).numbers) == 0


def test_histogram():
    """Left edges are the right edges before."""
    proto = HistogramProto(min=-1, max=2, num=3, sum=2.5, sum_squares=5, bucket_limit=[0, 1, 2], bucket=[1, 0, 2])
    data = proto.SerializeToString()
    moments, left, right, counts = eventmessages.histogram(data, 0, len(data))

    assert tuple(moments) == (-1.0, 2.0, 3.0, 2.5, 5.0)
    assert (left.tolist(), right.tolist(), counts.tolist()) == ([-np.inf, 0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 0.0, 2.0])
