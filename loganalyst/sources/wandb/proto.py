"""W&B's record messages (wandb/proto/wandb_internal.proto), decoded without compiled protobuf classes."""

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from loganalyst.sources.files.flatten import Leaf
from loganalyst.sources.files.protobuf import BYTES, FIXED64, VARINT, double, fields, signed, varint

# fields of Record
HISTORY, SUMMARY, CONFIG, STATS, OUTPUT, RUN, EXIT, PREEMPTING, ENVIRONMENT = 2, 3, 5, 7, 13, 17, 18, 23, 26
NOT_READ = {4: "output", 8: "artifact", 9: "TensorBoard link", 10: "alert", 25: "used artifact", 27: "logger output"}
KINDS = {HISTORY, SUMMARY, CONFIG, STATS, OUTPUT, RUN, EXIT, PREEMPTING, ENVIRONMENT, *NOT_READ}
# fields of these messages
HISTORY_ITEM, HISTORY_STEP = 1, 2
UPDATE, REMOVE = 1, 2  # of SummaryRecord and ConfigRecord
STATS_TIME, STATS_ITEM = 2, 3
OUTPUT_TIME, OUTPUT_LINE = 2, 3  # of OutputRawRecord
RUN_CONFIG, RUN_START = 4, 17
EXIT_CODE = 1
# fields of an item; since 0.2x a history item may hold a typed value instead of JSON
KEY, NESTED_KEY, VALUE_JSON = 1, 2, 16
NONE, BOOLEAN, INTEGER, NUMBER, TEXT, JSON = 3, 4, 5, 6, 7, 8
VALUE_JSON_TAG = b"\x82\x01"
NESTED_ITEM_TAG = {number: number << 3 | BYTES for number in (1, 2, 3)}

Schema: TypeAlias = Mapping[int, "str | tuple[str, Schema]"]
MAP_ENTRY: Schema = {}  # marks a map<string, string>

_GIT: Schema = {1: "remote_url", 2: "commit"}
RUN_FIELDS: Schema = {
    1: "run_id", 2: "entity", 3: "project", 6: "group", 7: "job_type", 8: "display_name", 9: "notes", 10: "tags",
    12: "sweep_id", 13: "host", 14: "starting_step", 18: "resumed", 21: ("git", _GIT), 22: "forked",
}  # fmt: skip
# without `email` and `username`, which no diagnosis needs
ENVIRONMENT_FIELDS: Schema = {
    1: "os", 2: "python", 4: "docker", 5: "args", 6: "program", 7: "code_path", 9: ("git", _GIT), 11: "root",
    12: "host", 14: "executable", 16: "cpu_count", 17: "cpu_count_logical", 18: "gpu_type", 19: "gpu_count",
    21: ("memory", {1: "total"}), 22: ("cpu", {3: "model"}),
    24: ("gpu", {1: "name", 2: "memory_total", 3: "cuda_cores", 4: "architecture", 5: "uuid"}),
    25: "cuda_version", 27: ("slurm", MAP_ENTRY),
}  # fmt: skip


def record(data: bytes) -> tuple[int, int, int]:
    """(kind, start, end) of the message in a Record; kind 0 if no reader needs it. Raises ValueError."""
    for number, wire, a, b in fields(data):
        if wire == BYTES and number in KINDS:
            return number, a, b
    return 0, 0, 0


def items(data: bytes, at: int, end: int, wanted: int) -> tuple[list[bytes], list[bytes]]:
    """The items in field `wanted` of a message: raw keys (see `path`) and values as JSON text."""
    keys: list[bytes] = []
    values: list[bytes] = []
    tag = NESTED_ITEM_TAG[wanted]
    while at < end:
        if data[at] == tag:
            length, start = data[at + 1], at + 2
            if length > 0x7F:
                length, start = varint(data, at + 1)
            at = start + length
            if at > end:
                raise ValueError("an item ends past its message")
            key, value = _item(data, start, at)
            keys.append(key)
            values.append(value)
        else:
            at = _behind(data, at, end)
    return keys, values


def _behind(data: bytes, at: int, end: int) -> int:
    """The offset behind the field at `at`."""
    *_, behind = next(fields(data, at, end))
    return behind


def _item(data: bytes, at: int, end: int) -> tuple[bytes, bytes]:
    """Key and value of an item. All writers put the JSON last; any other item is walked field by field."""
    mark = data.find(VALUE_JSON_TAG, at, end)
    if mark >= 0:
        length, start = data[mark + 2], mark + 3
        if length > 0x7F:
            length, start = varint(data, mark + 2)
        if start + length == end:
            return data[at:mark], data[start:end]
    key, value = b"", b"null"
    for number, wire, a, b in fields(data, at, end):
        if number in (KEY, NESTED_KEY) and wire == BYTES:
            key += bytes([number << 3 | BYTES]) + _length(b - a) + data[a:b]
        else:
            value = _typed(data, (number, wire, a, b), value)
    return key, value


def _typed(data: bytes, field: tuple[int, int, int, int], otherwise: bytes) -> bytes:
    number, wire, a, b = field
    if wire == BYTES and number in (VALUE_JSON, JSON):
        return data[a:b]
    if wire == BYTES and number == TEXT:
        return json.dumps(data[a:b].decode(errors="replace")).encode()
    if wire == VARINT and number == BOOLEAN:
        return b"true" if a else b"false"
    if wire == VARINT and number == INTEGER:
        return str((a >> 1) ^ -(a & 1)).encode()  # zigzag
    if wire == FIXED64 and number == NUMBER:
        return json.dumps(double(data, a)).encode()
    return otherwise


def _length(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def path(key: bytes) -> tuple[str, ...]:
    """The names in the raw key of an item, several for nested mappings. Raises ValueError or IndexError."""
    parts = [span for number, wire, *span in fields(key) if wire == BYTES and number in (KEY, NESTED_KEY)]
    return tuple(key[a:b].decode(errors="replace") for a, b in parts)


def number(data: bytes, at: int, end: int, wanted: int) -> int:
    """An integer field of a message; 0 if it is not set."""
    found = [signed(a) for n, wire, a, _ in fields(data, at, end) if n == wanted and wire == VARINT]
    return found[-1] if found else 0


def spans(data: bytes, at: int, end: int, wanted: int) -> Iterator[tuple[int, int]]:
    """The start and end of each message in field `wanted` of a message."""
    return ((a, b) for n, wire, a, b in fields(data, at, end) if n == wanted and wire == BYTES)


def time(data: bytes, at: int, end: int, wanted: int) -> float:
    """A Timestamp field of a message, in seconds since 1970; 0 if it is not set."""
    found = next(spans(data, at, end, wanted), None)
    return number(data, *found, 1) + number(data, *found, 2) / 1e9 if found else 0.0


def stats_head(data: bytes, at: int, end: int) -> tuple[float, int]:
    """The time of a StatsRecord in seconds, and the offset of its first item. Raises ValueError or IndexError."""
    first = at
    for field, _, _, behind in fields(data, at, end):
        if field == STATS_ITEM:
            break
        first = behind
    return time(data, at, first, STATS_TIME), first


def step(data: bytes, at: int, end: int) -> int | None:
    """The step that a HistoryRecord has outside its items."""
    found = next(spans(data, at, end, HISTORY_STEP), None)
    return number(data, *found, 1) if found else None


def settings(data: bytes, at: int, end: int, schema: Schema) -> dict[str, Leaf]:
    """The fields of a message that are set and named by `schema`.

    Nested fields get dotted names, map entries their keys. Repeated fields are joined by blanks.
    """
    found: dict[str, Leaf] = {}
    for key, value in _settings(data, at, end, schema):
        found[key] = f"{found[key]} {value}" if key in found else value
    return found


def _settings(data: bytes, at: int, end: int, schema: Schema) -> Iterator[tuple[str, Leaf]]:
    if schema is MAP_ENTRY:
        entry = {n: data[a:b].decode(errors="replace") for n, wire, a, b in fields(data, at, end) if wire == BYTES}
        yield entry.get(1, ""), entry.get(2, "")
        return
    for n, wire, a, b in fields(data, at, end):
        known = schema.get(n)
        if isinstance(known, str):
            yield known, data[a:b].decode(errors="replace") if wire == BYTES else signed(a)
        elif known and wire == BYTES:
            name, inner = known
            yield from ((f"{name}.{key}", value) for key, value in _settings(data, a, b, inner))
