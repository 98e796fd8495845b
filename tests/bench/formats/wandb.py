"""W&B's own file, written by wandb offline.

wandb ships no reader of its file in Python any more, so the peers are loops over its own compiled messages: blocks and
checksums as its former `DataStore` read them, `Record.FromString`, `json.loads` of each item. `wandb_history` leaves
all but the history aside, and so loses what stands in the summary only; `wandb_messages` takes in every item.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from formats.case import Case, Columns, Take, transposed, values

BLOCK, HEAD = 32768, struct.Struct("<IHB")
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
SEEDS = [zlib.crc32(bytes([kind])) for kind in range(LAST + 1)]
FILE_HEADER = b":W&B\xe1\xbe\x00"  # its magic number and the version


def write(folder: Path, rows: int, metrics: int) -> Path:
    import wandb

    settings = wandb.Settings(console="off", silent=True, x_disable_stats=True)
    with wandb.init(mode="offline", dir=folder, project="bench", settings=settings) as run:
        for step in range(rows):
            run.log(values(step, metrics), step=step)
    (path,) = folder.glob("wandb/offline-run-*/*.wandb")
    return path


def wandb_messages() -> Take:
    return messages("history", "summary", "stats")


def wandb_history() -> Take:
    return messages("history")


def messages(*kinds: str) -> Take:
    from wandb.proto.wandb_internal_pb2 import Record

    return partial(read, Record, kinds)


def read(message: Any, kinds: tuple[str, ...], path: Path) -> Callable[[], Columns]:
    events, summary = [], {}
    for payload in payloads(path.read_bytes()):
        record = message.FromString(payload)
        kind = record.WhichOneof("record_type")
        if kind not in kinds:
            continue
        items = record.summary.update if kind == "summary" else getattr(record, kind).item
        row = {".".join(getattr(i, "nested_key", ())) or i.key: json.loads(i.value_json) for i in items}
        if kind == "summary":
            summary |= row
        elif kind == "stats":
            events += [(f"system/{name}", None, float(value)) for name, value in row.items()]
        else:
            step = row["_step"]
            events += [(name, step, float(value)) for name, value in row.items() if name[0] != "_"]
    return lambda: transposed(events)


def payloads(data: bytes) -> Iterator[bytes]:
    """The records of an undamaged .wandb file (LevelDB blocks of 32 KiB), their checksums proven."""
    at, parts = len(FILE_HEADER), b""
    while at + HEAD.size <= len(data):
        if BLOCK - at % BLOCK < HEAD.size:
            at += BLOCK - at % BLOCK
            continue
        crc, length, kind = HEAD.unpack_from(data, at)
        part = data[at + HEAD.size : at + HEAD.size + length]
        if zlib.crc32(part, SEEDS[kind]) != crc:
            raise ValueError(f"damage at {at}")
        parts = part if kind in (FULL, FIRST) else parts + part
        if kind in (FULL, LAST):
            yield parts
        at += HEAD.size + length


def framed(records: list[bytes], at: int) -> bytes:
    """The records in LevelDB framing, for a file that is `at` bytes long so far."""
    out = bytearray()
    for record in records:
        done, kind = 0, FIRST
        while kind != LAST:
            room = BLOCK - (at + len(out)) % BLOCK
            if room < HEAD.size:
                out += bytes(room)
                room = BLOCK
            part = record[done : done + room - HEAD.size]
            kind = MIDDLE if done else FIRST
            done += len(part)
            if done == len(record):
                kind = LAST if kind == MIDDLE else FULL
            out += HEAD.pack(zlib.crc32(bytes([kind]) + part), len(part), kind) + part
            if kind == FULL:
                break
    return bytes(out)


def grow(seed: Path, path: Path, size: int) -> None:
    """The records again and again, in framing that fits where they come to stand."""
    records = list(payloads(seed.read_bytes()))
    with path.open("wb") as file:
        file.write(seed.read_bytes()[: len(FILE_HEADER)])
        while file.tell() < size:
            file.write(framed(records, file.tell()))


CASES = (Case("wandb", write, (wandb_messages, wandb_history), (23_000, 50), grow=grow),)
