"""How long the dumps of many ranks take to be judged: processor seconds and memory, and whether the answer is right.

Run: python tests/bench/flight_recorders.py [--ranks N] [--entries N] [--format pickle|json]

Every rank has filled its recorder with collectives of one large group and, in turn, of groups of eight; the ranks of
one node never enter the last one. One rank was dumped long before the others: it is not to blame.
"""

import argparse
import json
import pickle
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loganalyst import diagnose

NODE = 8  # ranks of a node, and of a small group
BEGAN = 1_714_557_600_000_000_000  # nanoseconds since 1970
FRAMES = [
    {"name": "all_reduce", "filename": "/env/lib/python3.11/site-packages/torch/distributed/c10d.py", "line": 25},
    {"name": "step", "filename": "/job/train.py", "line": 42},
]  # fmt: skip


def entries(rank: int, count: int, first: int, hangs: bool) -> Iterator[dict[str, Any]]:
    """The last `count` operations of a rank, from number `first` on; the last of all is open unless the rank hangs."""
    for k in range(count):
        number = first + k
        small = number % 2 == 1
        over = hangs or k + 1 < count
        created = BEGAN + number * 50_000_000 + rank * 1000
        shape = [[1024, 1024 if small else 64]]
        yield {
            "frames": FRAMES,
            "record_id": number,
            "pg_id": 1 + rank // NODE if small else 0,
            "process_group": [str(1 + rank // NODE), "tensor"] if small else ["0", "default_pg"],
            "collective_seq_id": number // 2 + 1,
            "p2p_seq_id": 0,
            "op_id": number,
            "profiling_name": "nccl:all_reduce",
            "time_created_ns": created,
            "time_discovered_started_ns": created + 10_000,
            "time_discovered_completed_ns": created + 9_000_000 if over else None,
            "input_sizes": shape,
            "input_dtypes": ["BFloat16"],
            "output_sizes": shape,
            "output_dtypes": ["BFloat16"],
            "state": "completed" if over else "started",
            "timeout_ms": 600_000,
            "is_p2p": False,
            "retired": over,
        }


def dump(rank: int, ranks: int, count: int, hanging: range, earlier: int) -> dict[str, Any]:
    """What one rank wrote: with `count` operations, the last number even, so of the large group."""
    last = 3 * count + count % 2  # the recorder has overwritten what came before
    hangs = rank in hanging
    last -= 1 if hangs else 0
    if rank == earlier:
        last, hangs = count + count % 2, True
    members = list(range(rank // NODE * NODE, min(rank // NODE * NODE + NODE, ranks)))
    return {
        "version": "2.10",
        "pg_config": {
            "0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(ranks)))},
            str(1 + rank // NODE): {"name": str(1 + rank // NODE), "desc": "tensor", "ranks": str(members)},
        },
        "pg_status": {},
        "entries": list(entries(rank, count, last - count + 1, hangs)),
    }


def main() -> None:
    """Write the dumps, judge them, print."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--ranks", type=int, default=1000)
    asked.add_argument("--entries", type=int, default=2000)
    asked.add_argument("--format", choices=("pickle", "json"), default="pickle")
    args = asked.parse_args()
    hanging = range(args.ranks // 2, args.ranks // 2 + NODE)
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(args.ranks):
            told = dump(rank, args.ranks, args.entries, hanging, earlier=3)
            data = pickle.dumps(told, 2) if args.format == "pickle" else json.dumps(told).encode()
            (Path(folder) / f"trace_rank_{rank}").write_bytes(data)
        size = sum(p.stat().st_size for p in Path(folder).iterdir())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.process_time()
        values = diagnose(folder).features.values
        spent = time.process_time() - begin
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    missing, earlier = (values[f"collective_{which}_ranks"] for which in ("missing", "earlier"))
    right = "right" if (missing, earlier) == (f"{hanging[0]}-{hanging[-1]}", "3") else "WRONG"
    print(f"{args.ranks} ranks x {args.entries} operations, {args.format}, {size / 1e6:.0f} MB")
    print(f"{spent:.1f} s of processor time, {more >> 10} MiB more memory")
    print(f"missing {missing}, dumped earlier {earlier}: {right}")


if __name__ == "__main__":
    main()
