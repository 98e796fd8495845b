"""Small files by the real writers, one function a reader: what is mutated, and which parts stand by themselves."""

import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from formats import mlflow
from formats import wandb as leveldb
from formats.case import values

Units = list[tuple[int, int]]


@dataclass(frozen=True)
class Spec:
    """How a reader is fuzzed.

    `write(folder)` makes the seeds; those below `folder/exact` are checked for values and lost records, those below
    `folder/loose` for what must hold of any file. `units` are the records of a seed (start, end), each of which must be
    read wherever it stands whole; `logged` says of each whether it holds what was logged (a summary repeats it).
    `checked`: records carry checksums, so no value but the seed's may ever appear.
    `head` is how many bytes of the beginning give the rest its meaning.
    """

    write: Callable[[Path], None]
    units: Callable[[bytes], Units] = lambda _: []
    logged: Callable[[bytes], list[bool]] | None = None
    checked: bool = False
    head: Callable[[bytes], int] = lambda _: 0
    block: int = 0  # records cannot cross a border of so many bytes other than where the seed's do


def lines(data: bytes) -> Units:
    """Whole lines."""
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    return list(zip([0, *ends[:-1]], ends, strict=True)) if ends else []


def first_lines(count: int) -> Callable[[bytes], int]:
    return lambda data: sum(len(line) for line in data.splitlines(keepends=True)[:count])


def _text(folder: Path, name: str, content: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


# --- TensorBoard


def events(data: bytes) -> Units:
    """The records of an undamaged event file."""
    out, at = [], 0
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at : at + 8], "little")
        out.append((at, end))
        at = end
    return out


def tensorboard(folder: Path) -> None:
    import numpy as np
    from torch.utils.tensorboard import SummaryWriter

    for name, new_style, rows in (("plain", False, 40), ("tensors", True, 40), ("many", False, 700)):
        with SummaryWriter(str(folder / "exact" / name)) as writer:
            for step in range(rows):
                for metric, value in values(step, 3).items():
                    writer.add_scalar(metric, math.nan if step == 7 else value, step, new_style=new_style)
    with SummaryWriter(str(folder / "exact" / "mixed")) as writer:
        writer.add_hparams({"lr": 0.1, "name": "a", "flag": True}, {"score": 0.5}, run_name=".")
        writer.add_text("note", "some words")
        for step in range(12):
            writer.add_scalar("loss", math.inf if step == 3 else 1 / (step + 1), step)
            writer.add_histogram("weights", np.linspace(-1, step, 50), step)
            writer.add_image("picture", np.zeros((3, 4, 4)), step)


# --- W&B


def fragments(data: bytes) -> Units:
    """The records of an undamaged .wandb file, the padding inside one included."""
    out, at, begin = [], len(leveldb.FILE_HEADER), 0
    while at + leveldb.HEAD.size <= len(data):
        if leveldb.BLOCK - at % leveldb.BLOCK < leveldb.HEAD.size:
            at += leveldb.BLOCK - at % leveldb.BLOCK
            continue
        _, length, kind = leveldb.HEAD.unpack_from(data, at)
        begin = at if kind in (leveldb.FULL, leveldb.FIRST) else begin
        at += leveldb.HEAD.size + length
        if kind in (leveldb.FULL, leveldb.LAST):
            out.append((begin, at))
    return out


def histories(data: bytes) -> list[bool]:
    """Which records of a .wandb file are rows of its history."""
    from wandb.proto.wandb_internal_pb2 import Record

    return [Record.FromString(payload).HasField("history") for payload in leveldb.payloads(data)]


def wandb(folder: Path) -> None:
    import wandb as writer

    settings = writer.Settings(console="off", silent=True, x_disable_stats=True)
    for name, rows in (("small", 40), ("blocks", 150)):
        place = folder / "exact" / name
        place.mkdir(parents=True)
        with writer.init(mode="offline", dir=place, project="fuzz", config={"lr": 0.1}, settings=settings) as run:
            for step in range(rows):
                extra = {"w": writer.Histogram([1, 2, step])} if step % 8 == 3 else {}
                if name == "blocks" and step % 60 == 40:
                    extra["note"] = "words " * 8000  # a record over several blocks
                run.log({**values(step, 5), "odd": math.nan if step % 9 else math.inf, **extra}, step=step)


# --- lines


def csv(folder: Path) -> None:
    rows = [values(step, 4) for step in range(40)]
    names = ("step", *rows[0])
    table = "\n".join(",".join(map(str, row)) for row in [names, *((i, *r.values()) for i, r in enumerate(rows))])
    _text(folder, "exact/metrics.csv", table + "\n")
    _text(folder, "exact/progress.csv", table.replace(",", ";") + "\n")
    monitor = "".join(f"{i / 7},{i + 3},{i * 1.5}\n" for i in range(30))
    _text(folder, "loose/monitor.csv", '#{"t_start": 1700000000.5, "env_id": "x"}\nr,l,t\n' + monitor)
    sparse = "".join(f"{i // 5},{i},{'' if i % 3 else i / 9},{i / 2 if i % 2 else 'nan'}\n" for i in range(40))
    _text(folder, "loose/metrics.csv", ("epoch,step,val_loss,train_loss\n" + sparse) * 2)
    _text(folder, "loose/results.csv", '"epoch" ,"loss"\n1,"0.5"\n2,"0,25"\n3,"a\nb"\n4,\n')


def jsonl(folder: Path) -> None:
    rows = [{"step": i, **values(i, 3), "odd": math.nan if i % 2 else 1.0} for i in range(40)]
    _text(folder, "exact/metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    nested = [{"iteration": i, "info": {"a": i, "deep": {"b": [1, 2]}}, "time_total_s": i * 2.5} for i in range(20)]
    _text(folder, "loose/result.json", "".join(json.dumps(row) + "\n" for row in nested))
    history = [{"epoch": i / 4, "step": i, "loss": 1 / (i + 1), "learning_rate": 1e-3} for i in range(20)]
    state = {"best_metric": None, "global_step": 20, "log_history": history, "max_steps": 20}
    _text(folder, "loose/trainer_state.json", json.dumps(state, indent=2))
    _text(folder, "loose/history.json", json.dumps({"loss": [1.0, 0.5, math.nan], "val_loss": [1, 2, 3]}))
    _text(folder, "loose/list.json", json.dumps(history))


TRACEBACK = """Traceback (most recent call last):
  File "/job/train.py", line 12, in <module>
    main()
  File "/job/train.py", line 7, in main
    loss.backward()
RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB
"""


def text(folder: Path) -> None:
    body = "".join(f"step {i}: " + " ".join(f"{k}={v:.6g}" for k, v in values(i, 3).items()) + "\n" for i in range(60))
    _text(folder, "exact/train.log", body)
    epochs = "".join(
        f"[2026-01-02 03:{i:02}:05,123] INFO Epoch {i}/20\n[rank{i % 2}]: loss: {1 / (i + 1):.4f} | lr 1e-3\n"
        f" 50%|#####     | {i}/40 [00:0{i % 9}<00:09,  3.2it/s, loss={i}]\r"
        for i in range(20)
    )
    _text(folder, "loose/job.out", "Namespace(lr=0.1, epochs=20)\n" + epochs + "\n" + TRACEBACK)
    cells = "".join(f"| {i:5} | {i / 7:8.4f} | {i / 9:8.4f} |\n" for i in range(15))
    _text(folder, "loose/table.log", "| epoch |   loss   |   acc    |\n|-------|----------|----------|\n" + cells)
    _text(
        folder, "loose/slurm-7.out", body[:700] + "slurmstepd: error: *** JOB 7 ON n1 CANCELLED DUE TO TIME LIMIT ***\n"
    )


def slurm(folder: Path) -> None:
    rows = "".join(
        f"{i}|run{i}|{('COMPLETED', 'FAILED', 'TIMEOUT')[i % 3]}|{i % 3}:0|2026-01-02T03:04:{i:02}|"
        f"2026-01-02T05:04:{i:02}|02:00:00|1-00:00:00|n{i}\n"
        for i in range(10, 40)
    )
    head = "JobID|JobName|State|ExitCode|Start|End|Elapsed|Timelimit|NodeList\n"
    _text(folder, "exact/sacct.txt", head + rows)
    shown = (
        "JobId=7 JobName=a\n   UserId=u(1) Priority=1\n   JobState=FAILED Reason=x\n   ExitCode=1:0 RunTime=00:01:00\n"
    )
    _text(folder, "loose/scontrol.txt", (shown + "   StartTime=2026-01-02T03:04:05 EndTime=Unknown NumNodes=1\n\n") * 3)
    state = {"current": ["FAILED"], "reason": "None"}
    exit_ = {"return_code": {"set": True, "number": 1}, "signal": {"id": {"set": False, "number": 0}}}
    job = {"job_id": 7, "name": "a", "state": state, "exit_code": exit_, "derived_exit_code": exit_}
    job |= {"time": {"start": 1767323045, "end": 0, "elapsed": 60, "limit": {"set": True, "number": 5}}, "steps": []}
    _text(folder, "loose/sacct.json", json.dumps({"jobs": [job, job | {"job_id": 8}]}, indent=1))


# --- whole documents


def config(folder: Path) -> None:
    import yaml

    settings = {"lr": 0.1, "model": {"layers": [1, 2, {"a": None}], "name": "x: y"}, "steps": 100, "on": True}
    _text(folder, "loose/config.yaml", yaml.safe_dump(settings) + "base: &b {k: 1}\nmore: *b\ntext: |\n  a\n  b\n")
    _text(folder, "loose/hparams.yaml", "".join(f"key_{i}: {i / 3}\n" for i in range(30)))
    _text(folder, "loose/config.json", json.dumps(settings, indent=2))
    _text(folder, "loose/wandb/config.yaml", yaml.safe_dump({"lr": {"desc": None, "value": 0.1}, "wandb_version": 1}))


def mlflow_files(folder: Path) -> None:
    run = "mlruns/0/aa"
    _text(folder, f"exact/{run}/metrics/loss", "".join(f"{mlflow.BEGIN + i} {i / 7} {i}\n" for i in range(40)))
    _text(folder, f"loose/{run}/meta.yaml", "run_id: aa\nstatus: 3\nstart_time: 1700000000000\nend_time: null\n")
    _text(folder, f"loose/{run}/params/lr", "0.1")


def mlflow_db(folder: Path) -> None:
    (folder / "loose").mkdir(parents=True)
    path = mlflow.write_db(folder / "loose", 20, 3)
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM")


def parquet(folder: Path) -> None:
    import polars as pl

    (folder / "loose").mkdir(parents=True)
    frame = pl.DataFrame([{"step": i, **values(i, 3), "name": "x"} for i in range(60)])
    for compression in ("zstd", "snappy", "uncompressed"):
        frame.write_parquet(folder / "loose" / f"{compression}.parquet", compression=compression, row_group_size=20)


def wandb_summary(folder: Path) -> None:
    summary = {"loss": 0.5, "_step": 9, "_timestamp": 1.7e9, "_runtime": 5, "w": {"_type": "histogram", "values": [1]}}
    _text(folder, "loose/wandb-summary.json", json.dumps(summary))


SPECS: dict[str, Spec] = {
    "tensorboard": Spec(tensorboard, events, checked=True),
    "wandb": Spec(
        wandb, fragments, histories, checked=True, head=lambda _: len(leveldb.FILE_HEADER), block=leveldb.BLOCK
    ),
    "csv": Spec(csv, lines, head=first_lines(2)),
    "json": Spec(jsonl, lines, head=first_lines(1)),
    "text": Spec(text, lines, head=first_lines(1)),
    "slurm": Spec(slurm, lines, head=first_lines(1)),
    "mlflow": Spec(mlflow_files, lines, head=first_lines(1)),
    "mlflowdb": Spec(mlflow_db),
    "parquet": Spec(parquet),
    "config": Spec(config),
    "wandb-summary": Spec(wandb_summary),
}
