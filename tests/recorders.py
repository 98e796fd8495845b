"""Flight-recorder dumps as NCCL's process group writes them (version 2.10), for tests of reader and features."""

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BEGIN = 1_700_000_000_000_000_000  # nanoseconds
Op = Mapping[str, Any]
LIBRARY = {"name": "wrapper", "filename": "/env/lib/python3.11/site-packages/torch/distributed/x.py", "line": 9}


def op(
    name: str, size: int = 8, *, group: str = "0", state: str = "completed", dtype: str = "Float", **more: Any
) -> Op:
    """One operation as a test names it; `more` overwrites fields of the entry."""
    return {"name": name, "size": size, "group": group, "state": state, "dtype": dtype, **more}


def dump(ops: Sequence[Op], groups: Mapping[str, Sequence[int]], first: int = 0) -> dict[str, Any]:
    """What one rank's recorder holds: `ops` in order, the groups it is in; `first` operations were overwritten."""
    numbers: dict[tuple[str, bool], int] = {}
    entries, own = [], dict[int, Any]()
    for record, o in enumerate(ops):
        p2p = o["name"].startswith(("send", "recv"))
        key = (o["group"], p2p)
        numbers[key] = numbers.get(key, 0) + 1
        created = BEGIN + (first + record) * 1_000_000_000
        begun, ended = o["state"] != "scheduled", o["state"] == "completed"
        entry = {
            "frames": [
                LIBRARY,
                own.setdefault(o["size"], {"name": "step", "filename": "/job/train.py", "line": o["size"]}),
            ],
            "record_id": first + record,
            "pg_id": int(o["group"]),
            "process_group": (o["group"], f"group {o['group']}"),
            "collective_seq_id": 0 if p2p else first + numbers[key],
            "p2p_seq_id": first + numbers[key] if p2p else 0,
            "op_id": first + numbers[key],
            "profiling_name": f"nccl:{o['name']}",
            "time_created_ns": created,
            "input_sizes": [[o["size"]]],
            "input_dtypes": [o["dtype"]],
            "output_sizes": [[o["size"]]],
            "output_dtypes": [o["dtype"]],
            "state": o["state"],
            "time_discovered_started_ns": created + 1000 if begun else None,
            "time_discovered_completed_ns": created + 2000 if ended else None,
            "retired": ended,
            "timeout_ms": 600_000,
            "is_p2p": p2p,
        }
        entries.append({**entry, **{k: v for k, v in o.items() if k in entry and k != "state"}})
    config = {name: {"name": name, "desc": f"group {name}", "ranks": str(list(r))} for name, r in groups.items()}
    return {"version": "2.10", "pg_config": config, "pg_status": {}, "nccl_comm_state": {}, "entries": entries}


def write(folder: Path, ranks: Mapping[int, Sequence[Op]], groups: Mapping[str, Sequence[int]], first: int = 0) -> Path:
    """The dumps of `ranks` as files of one folder."""
    folder.mkdir(exist_ok=True)
    for rank, ops in ranks.items():
        own = {name: members for name, members in groups.items() if rank in members}
        (folder / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump(ops, own, first), protocol=2))
    return folder
