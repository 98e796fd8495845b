"""TensorFlow's event messages, decoded without compiled protobuf classes.

Field numbers are those of tensorflow/core/util/event.proto, tensorflow/core/framework/{summary,tensor,histogram}.proto
and tensorboard/plugins/hparams/plugin_data.proto.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.files.flatten import Leaf
from loganalyst.sources.files.histograms import Moments
from loganalyst.sources.files.protobuf import BYTES, FIXED32, FIXED64, VARINT, double, fields, signed, varint

# field numbers
EVENT_WALL_TIME, EVENT_STEP, EVENT_SUMMARY = 1, 2, 5
SUMMARY_VALUE = 1
VALUE_TAG, VALUE_SIMPLE, VALUE_HISTOGRAM, VALUE_TENSOR, VALUE_METADATA = 1, 2, 5, 8, 9
MEDIA = {4: "images", 6: "audio"}  # field: name of the plugin that shows it
METADATA_PLUGIN, PLUGIN_NAME, PLUGIN_CONTENT = 1, 1, 2
TENSOR_DTYPE, TENSOR_SHAPE, TENSOR_CONTENT = 1, 2, 4
SHAPE_DIM, DIM_SIZE = 2, 1
FLOAT_VAL, DOUBLE_VAL, INT_VAL, STRING_VAL, INT64_VAL, BOOL_VAL, HALF_VAL, UINT32_VAL, UINT64_VAL = (
    5, 6, 7, 8, 10, 11, 13, 16, 17,
)  # fmt: skip
HISTOGRAM_LIMIT, HISTOGRAM_BUCKET = 6, 7
HPARAMS_SESSION_START, SESSION_HPARAMS = 3, 1

# TensorFlow's type codes of numeric tensors; named are those with value fields of their own
DT_FLOAT, DT_BFLOAT16, DT_HALF = 1, 14, 19
DTYPES = {
    DT_FLOAT: "<f4", 2: "<f8", 3: "<i4", 4: "u1", 5: "<i2", 6: "i1", 9: "<i8", 10: "u1",
    DT_BFLOAT16: "<u2", 17: "<u2", DT_HALF: "<f2", 22: "<u4", 23: "<u8",
}  # fmt: skip
MAX_ELEMENTS = 1 << 20  # of a tensor that may be a histogram


class Value(NamedTuple):
    """One tagged value of an event; spans are offsets into the event's buffer, None if absent."""

    tag: str
    plugin: str
    content: bytes  # of the plugin
    simple: int | None  # offset of the float32
    histogram: tuple[int, int] | None
    tensor: tuple[int, int] | None
    media: str  # "images", "audio" or empty


class Tensor(NamedTuple):
    """A tensor's numbers in C order (float64; bfloat16 and half widened) or its byte strings.

    `lone` is the offset of the value in a one-element float32 tensor, else None.
    """

    shape: tuple[int, ...]
    numbers: NDArray[np.float64]
    strings: list[bytes]
    lone: int | None


class Event(NamedTuple):
    """`wall` in seconds since the epoch (0: unset)."""

    wall: float
    step: int
    values: list[Value]


def event(data: bytes, at: int, end: int) -> Event:
    """The event in data[at:end]. Raises ValueError, IndexError or struct.error if the bytes are not an event."""
    wall, step, values = 0.0, 0, list[Value]()
    for number, wire, a, b in fields(data, at, end):
        if number == EVENT_WALL_TIME and wire == FIXED64:
            wall = double(data, a)
        elif number == EVENT_STEP and wire == VARINT:
            step = signed(a)
        elif number == EVENT_SUMMARY and wire == BYTES:
            spans = [(c, d) for n, w, c, d in fields(data, a, b) if n == SUMMARY_VALUE and w == BYTES]
            values += [_value(data, c, d) for c, d in spans]
    return Event(wall, step, values)


def _value(data: bytes, at: int, end: int) -> Value:
    tag = plugin = media = ""
    content, simple, histogram, tensor = b"", None, None, None
    for number, wire, a, b in fields(data, at, end):
        if number == VALUE_SIMPLE and wire == FIXED32:
            simple, histogram, tensor = a, None, None
        if wire != BYTES:
            continue
        media = MEDIA.get(number, media)
        if number == VALUE_TAG:
            tag = data[a:b].decode(errors="replace")
        elif number == VALUE_HISTOGRAM:
            simple, histogram, tensor = None, (a, b), None
        elif number == VALUE_TENSOR:
            simple, histogram, tensor = None, None, (a, b)
        elif number == VALUE_METADATA:
            plugin, content = _plugin(data, a, b)
    return Value(tag, plugin, content, simple, histogram, tensor, media)


def _plugin(data: bytes, at: int, end: int) -> tuple[str, bytes]:
    name, content = "", b""
    for number, wire, a, b in fields(data, at, end):
        if number == METADATA_PLUGIN and wire == BYTES:
            for inner, kind, c, d in fields(data, a, b):
                if inner == PLUGIN_NAME and kind == BYTES:
                    name = data[c:d].decode(errors="replace")
                elif inner == PLUGIN_CONTENT and kind == BYTES:
                    content = data[c:d]
    return name, content


def tensor(data: bytes, at: int, end: int) -> Tensor:
    """The tensor in data[at:end]; without numbers if its type is not numeric or its shape does not fit."""
    dtype, spans, strings = 0, list[tuple[int, int, int, int]](), list[bytes]()
    shape: tuple[int, ...] = ()
    for number, wire, a, b in fields(data, at, end):
        if number == TENSOR_DTYPE and wire == VARINT:
            dtype = a
        elif number == TENSOR_SHAPE and wire == BYTES:
            shape = tuple(_sizes(data, a, b))
        elif number == STRING_VAL and wire == BYTES:
            strings.append(data[a:b])
        else:
            spans.append((number, wire, a, b))
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        parts = [_numbers(data, dtype, span) for span in spans] if dtype in DTYPES else []
    numbers = np.concatenate([p for p in parts if len(p)] or [np.empty(0)])
    count = prod(shape)
    if 0 < len(numbers) < count <= MAX_ELEMENTS:  # a writer may omit repeats of the last element
        numbers = np.concatenate([numbers, np.full(count - len(numbers), numbers[-1])])
    if len(numbers) != count:
        numbers = np.empty(0)
    places = [b - 4 for (*_, a, b), p in zip(spans, parts, strict=False) if len(p) and b - a == 4]
    lone = places[0] if dtype == DT_FLOAT and len(numbers) == len(places) == 1 else None
    return Tensor(shape, numbers, strings, lone)


def _sizes(data: bytes, at: int, end: int) -> Iterator[int]:
    for number, wire, a, b in fields(data, at, end):
        if number == SHAPE_DIM and wire == BYTES:
            sizes = [signed(c) for n, w, c, _ in fields(data, a, b) if n == DIM_SIZE and w == VARINT]
            yield sizes[-1] if sizes else 0


def _numbers(data: bytes, dtype: int, field: tuple[int, int, int, int]) -> NDArray[np.float64]:
    """The elements in one field of a tensor, packed or not; empty for other fields."""
    number, wire, at, end = field
    if wire == BYTES and number == TENSOR_CONTENT:
        return _widen(np.frombuffer(data[at:end], DTYPES[dtype]), dtype)
    if number in (FLOAT_VAL, DOUBLE_VAL) and wire in (BYTES, FIXED32, FIXED64):
        return np.frombuffer(data[at:end], "<f4" if number == FLOAT_VAL else "<f8").astype(np.float64)
    if number not in (INT_VAL, INT64_VAL, BOOL_VAL, HALF_VAL, UINT32_VAL, UINT64_VAL) or wire not in (VARINT, BYTES):
        return np.empty(0)
    raw = [at] if wire == VARINT else _varints(data, at, end)
    if number == HALF_VAL:
        return _widen(np.array([v & 0xFFFF for v in raw], "<u2").view(DTYPES[dtype]), dtype)
    return np.array([signed(v) if number in (INT_VAL, INT64_VAL) else v for v in raw], np.float64)


def _varints(data: bytes, at: int, end: int) -> list[int]:
    out = []
    while at < end:
        value, at = varint(data, at)
        out.append(value)
    return out


def _widen(raw: NDArray[np.generic], dtype: int) -> NDArray[np.float64]:
    if dtype == DT_BFLOAT16:
        return (raw.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return raw.astype(np.float64)


def histogram(
    data: bytes, at: int, end: int
) -> tuple[Moments, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """A HistogramProto's stored moments and its buckets: left edges, right edges, counts (float64, n)."""
    moments, limits, counts = [0.0] * 6, list[bytes](), list[bytes]()
    for number, wire, a, b in fields(data, at, end):
        if wire == FIXED64 and number < HISTOGRAM_LIMIT:
            moments[number] = double(data, a)
        elif wire in (FIXED64, BYTES) and number in (HISTOGRAM_LIMIT, HISTOGRAM_BUCKET):
            (limits if number == HISTOGRAM_LIMIT else counts).append(data[a:b])
    right, filled = np.frombuffer(b"".join(limits), "<f8"), np.frombuffer(b"".join(counts), "<f8")
    n = min(len(right), len(filled))
    left = np.concatenate([[-np.inf], right])[:n]
    return Moments(*moments[1:]), left, right[:n], filled[:n]


def hparams(content: bytes) -> Iterator[tuple[str, Leaf]]:
    """The settings in a session-start record of the hparams plugin: names, and texts, numbers or booleans."""
    for number, wire, a, b in fields(content):
        if number == HPARAMS_SESSION_START and wire == BYTES:
            for inner, kind, c, d in fields(content, a, b):
                if inner == SESSION_HPARAMS and kind == BYTES:
                    yield _setting(content, c, d)


def _setting(data: bytes, at: int, end: int) -> tuple[str, Leaf]:
    """One entry of a map<string, google.protobuf.Value>. Writers never use its lists and structs."""
    key = ""
    value: Leaf = None
    for number, wire, a, b in fields(data, at, end):
        if number == 1 and wire == BYTES:
            key = data[a:b].decode(errors="replace")
        elif number == 2 and wire == BYTES:
            for inner, _, c, d in fields(data, a, b):
                if inner == 2:
                    value = double(data, c)
                elif inner == 3:
                    value = data[c:d].decode(errors="replace")
                elif inner == 4:
                    value = bool(c)
    return key, value
