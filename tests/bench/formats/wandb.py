"""W&B's own file, written by wandb offline.

wandb ships no reader of its file in Python, so the peer is the shortest loop over its own compiled messages.
"""

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from formats.case import Case, Columns, Take, transposed, values

BLOCK, HEAD = 32768, struct.Struct("<IHB")
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
FILE_HEADER = b":W&B\xec!\x00"  # its magic number and the version


def write(folder: Path, rows: int, metrics: int) -> Path:
    import wandb

    settings = wandb.Settings(console="off", silent=True, x_disable_stats=True)
    with wandb.init(mode="offline", dir=folder, project="bench", settings=settings) as run:
        for step in range(rows):
            run.log(values(step, metrics), step=step)
    (path,) = folder.glob("wandb/offline-run-*/*.wandb")
    return path


def wandb_messages() -> Take:
    from wandb.proto.wandb_internal_pb2 import Record

    def take(path: Path) -> Callable[[], Columns]:
        events = []
        for payload in payloads(path.read_bytes()):
            record = Record.FromString(payload)
            if record.HasField("history"):
                row = {"/".join(i.nested_key) or i.key: json.loads(i.value_json) for i in record.history.item}
                step = row["_step"]
                events += [(name, step, value) for name, value in row.items() if name[0] != "_"]
        return lambda: transposed(events)

    return take


def payloads(data: bytes) -> list[bytes]:
    """The records of an undamaged .wandb file (LevelDB blocks of 32 KiB)."""
    at, parts, out = len(FILE_HEADER), b"", []
    while at + HEAD.size <= len(data):
        if BLOCK - at % BLOCK < HEAD.size:
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = HEAD.unpack_from(data, at)
        part = data[at + HEAD.size : at + HEAD.size + length]
        parts = part if kind in (FULL, FIRST) else parts + part
        if kind in (FULL, LAST):
            out.append(parts)
        at += HEAD.size + length
    return out


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
    records = payloads(seed.read_bytes())
    with path.open("wb") as file:
        file.write(seed.read_bytes()[: len(FILE_HEADER)])
        while file.tell() < size:
            file.write(framed(records, file.tell()))


CASES = (Case("wandb", write, (wandb_messages,), (23_000, 50), grow=grow),)
