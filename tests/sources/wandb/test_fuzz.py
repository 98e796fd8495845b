"""Mutated W&B files: nothing is raised, and decoding in parallel gives the same as decoding one by one.

python tests/sources/wandb/test_fuzz.py [INPUTS] [SEED]    as many inputs as wanted
"""

import json
import random
import struct
import sys
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from wandb.proto.wandb_internal_pb2 import Record

from loganalyst.model import Tables
from loganalyst.sources.wandb import reader

HEADER = b":W&B\xe1\xbe\x00"
NAMES = ("loss", "_step", "_timestamp", "epoch", "a.b", "train/accuracy", "")
VALUES = (
    "1",
    "-0.5",
    "1e-7",
    "NaN",
    '"NaN"',
    "null",
    "[1, 2]",
    '"x"',
    '{"a": 1}',
    '{"_type": "histogram", "values": [1]}',
)


def message(rng: random.Random) -> bytes:
    """A record as a writer could have written it."""
    out = Record(num=rng.choice([0, 1, 300]))
    kind = rng.choice(["history", "history", "summary", "stats", "config", "output_raw", "exit", "run", "telemetry"])
    if kind in {"history", "stats"}:
        for _ in range(rng.randrange(6)):
            item = getattr(out, kind).item.add(value_json=rng.choice(VALUES))
            if kind == "stats" or rng.random() < 0.5:
                item.key = rng.choice(NAMES)
            else:
                item.nested_key.extend(rng.choices([*NAMES, "_type"], k=rng.randint(1, 3)))
    elif kind in {"summary", "config"}:
        for _ in range(rng.randrange(4)):
            getattr(out, kind).update.add(key=rng.choice(NAMES), value_json=rng.choice(VALUES))
        if rng.random() < 0.3:
            getattr(out, kind).remove.add(nested_key=[rng.choice(NAMES)])
    else:
        getattr(out, kind).SetInParent()
    if rng.random() < 0.5 and kind in {"history", "stats"}:
        out.history.step.num = 5
    return out.SerializeToString()


def mutated(rng: random.Random, data: bytes, most: int) -> bytes:
    """The same bytes with some changed, left out, put in or doubled."""
    out = bytearray(data)
    for _ in range(rng.randint(0, most) if out else 0):
        at, length = rng.randrange(len(out) or 1), rng.randint(1, 30)
        match rng.randrange(4):
            case 0:
                out[at : at + 1] = rng.randbytes(1)
            case 1:
                del out[at : at + length]
            case 2:
                out[at:at] = rng.randbytes(length)
            case _:
                out[at:at] = out[at : at + length]
    return bytes(out)


def mutant(rng: random.Random) -> bytes:
    """A file of mutated messages with right checksums, or of right messages with mutated framing."""
    payloads = [message(rng) for _ in range(rng.randint(1, 8))]
    inside = rng.random() < 0.7
    out = HEADER
    for payload in payloads:
        data = mutated(rng, payload, 3) if inside else payload
        out += struct.pack("<IHB", zlib.crc32(data, zlib.crc32(b"\x01")), len(data), 1) + data
    return out if inside else mutated(rng, out, 4)


def contents(path: Path, **limits: int) -> list[str]:
    """Everything that is read, as text (in which NaN equals NaN)."""
    tables = Tables.concat(reader.read(path, **limits))
    names = ("points", "distributions", "config", "gaps", "sessions")
    return [json.dumps(getattr(tables, name).rows(), default=str) for name in names]


def check(path: Path, seed: int) -> None:
    """One input, read both ways."""
    path.write_bytes(mutant(random.Random(seed)))
    assert contents(path) == contents(path, max_value=-1), seed


@pytest.mark.parametrize("start", range(0, 600, 100))
def test_mutants(tmp_path, start):
    """A seeded slice of the mutants."""
    for seed in range(start, start + 100):
        check(tmp_path / "run-x.wandb", seed)


if __name__ == "__main__":
    inputs, first = (int(value) for value in [*sys.argv[1:], *("200000", "0")[len(sys.argv) - 1 :]])
    with TemporaryDirectory() as folder:
        for number in range(first, first + inputs):
            check(Path(folder) / "run-x.wandb", number)
    print(f"{inputs} inputs: nothing raised, both ways alike")
