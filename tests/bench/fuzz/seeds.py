"""Small files that formats' own writers made, always the same bytes: what is mutated."""

import csv
import gzip
import io
import json
import lzma
import math
import pickle
import sqlite3
import sys
import tempfile
import tomllib
import zipfile
from bz2 import compress as bzip2
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.recorders import dump, op

T0 = 1_700_000_000


class Seed(NamedTuple):
    """A file's bytes and the path under which its reader meets it; whether it tells no steps, so that they are counted;
    whether a line that stands twice may be read once; how a line tells its step and epoch (others count from them).
    """

    path: str
    data: bytes
    counted: bool = False
    once: bool = False
    place: bytes = b""


def numbers(step: int) -> dict[str, float]:
    """What a training loop logs in a step."""
    loss = 3 / (1 + step) + math.sin(7 * step) / 50
    return {"train/loss": loss, "val/loss": loss * 1.1, "lr": 1e-3 * 0.99**step, "acc": 1 - loss / 4}


def tensorboard() -> list[Seed]:
    """A loop whose steps grow in length; the same with histograms and text between; TF1's summaries; tensors."""
    import numpy as np
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
    from tensorboard.summary.writer.record_writer import RecordWriter
    from tensorboard.util.tensor_util import make_tensor_proto

    def value(tag: str, number: float) -> Summary.Value:
        return Summary.Value(tag=tag, simple_value=number)

    def tensor(tag: str, content: object, plugin: str) -> Summary.Value:
        metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin))
        return Summary.Value(tag=tag, tensor=make_tensor_proto(content), metadata=metadata)

    def histogram(tag: str, step: int) -> Summary.Value:
        moments = {"min": -1, "max": step + 1, "num": step + 3, "sum": step, "sum_squares": 2 * step + 1}
        return Summary.Value(tag=tag, histo=HistogramProto(**moments, bucket_limit=[0, step + 1], bucket=[1, step + 2]))

    def file(events: Sequence[tuple[int, list[Summary.Value]]], begin: float) -> bytes:
        out = io.BytesIO()
        writer = RecordWriter(out)
        writer.write(Event(wall_time=begin, file_version="brain.Event:2").SerializeToString())
        for i, (step, values) in enumerate(events):
            event = Event(wall_time=begin + (i + 1) / 8, step=step, summary=Summary(value=values))
            writer.write(event.SerializeToString())
        return out.getvalue()

    plain = [(step, [value(tag, v)]) for step in range(108, 148) for tag, v in numbers(step).items()]
    mixed, old, tensors = [], [], []
    for step in range(30 * 300, 60 * 300, 300):
        mixed += [(step, [value(tag, v)]) for tag, v in numbers(step).items()]
        mixed += [(step, [histogram("weights", step)])] if step % 1500 == 0 else []
        mixed += [(step, [tensor("note/text_summary", b"at %d" % step, "text")])] if step % 3600 == 0 else []
    for step in range(114, 144):
        old.append((step, [value(tag, v) for tag, v in numbers(step).items()]))
        old += [(step, [value("eval", math.nan if step % 20 else math.inf)])] if step % 10 == 0 else []
        tensors += [(step, [tensor(tag, np.float32(v), "scalars")]) for tag, v in numbers(step).items()]
        tensors += [(step, [tensor("double", float(step) / 3, "scalars")])] if step % 7 == 0 else []
    files = enumerate((plain, mixed, old, tensors))
    return [Seed(f"events.out.tfevents.{i}", file(events, T0 + 1000 * i)) for i, events in files]


def wandb() -> list[Seed]:
    """Records of one fragment; of several in blocks; rows between system metrics, settings and summaries."""
    from wandb.proto.wandb_internal_pb2 import Record

    from tests.bench.fuzz.blocks import file

    def history(step: int, **more: object) -> Record:
        out = Record(num=step)
        for key, value in {"_step": step, "_timestamp": T0 + step / 4, **numbers(step), **more}.items():
            out.history.item.add(nested_key=key.split("."), value_json=json.dumps(value))
        return out

    def run() -> Record:
        out = Record()
        out.run.run_id, out.run.project = "abc", "demo"
        out.run.start_time.seconds = T0
        out.run.config.update.add(key="lr", value_json="0.1")
        return out

    def beside(step: int) -> list[Record]:
        stats, summary, said = Record(), Record(), Record()
        stats.stats.timestamp.seconds = T0 + step
        stats.stats.item.add(key="cpu", value_json=str(step + 0.5))
        summary.summary.update.add(nested_key=["train/loss"], value_json=str(step))
        said.output_raw.line = f"step {step}\n"
        return [stats, summary, said]

    end = Record()
    end.exit.exit_code = 1
    few = [run(), *(history(step) for step in range(20)), end]
    long = [run(), *(history(step, pad="x" * (2500 * (step % 4)), **{"deep.a": step}) for step in range(16)), end]
    mixed = [run(), *(r for s in range(16) for r in (history(s, bad=math.nan), *beside(s))), end]
    return [
        Seed(f"run-{i}.wandb", file([r.SerializeToString() for r in rows])) for i, rows in enumerate((few, long, mixed))
    ]


def _table(rows: Sequence[dict[str, object]], **style: str) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n", **style)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def wandb_summary() -> list[Seed]:
    """What W&B leaves of a run: numbers, texts, a histogram, a table."""
    histogram = {"_type": "histogram", "values": [1, 2], "bins": [0.0, 1.0, 2.0]}
    told = {**numbers(7), "_step": 7, "_timestamp": T0 + 7.5, "_wandb": {"runtime": 9}, "note": "x", "deep": {"a": 1.5}}
    path = "files/wandb-summary.json"
    return [
        Seed(path, json.dumps({**told, "h": histogram, "bad": math.nan}).encode()),
        Seed(path, json.dumps({**told, "t": {"_type": "table-file", "nrows": 3}}, indent=1).encode()),
    ]


def csv_tables() -> list[Seed]:
    """Full rows; Lightning's sparse rows; a column of texts and one of times behind tabs."""
    full = [{"step": step, **numbers(step)} for step in range(60)]
    sparse = [
        {
            "epoch": s // 10,
            "step": s,
            "train_loss": "" if s % 10 == 9 else s / 3,
            "val_loss": s / 7 if s % 10 == 9 else "",
        }
        for s in range(60)
    ]
    texts = [{"step": s, "when": f"2026-03-01 10:00:{s:02}", "note": f"a, b {s}", **numbers(s)} for s in range(50)]
    return [
        Seed("metrics.csv", _table(full), place=rb"^[^,]*,"),
        Seed("metrics.csv", _table(sparse), place=rb"^[^,]*,[^,]*,"),
        Seed("table.csv", _table(texts), place=rb"^[^,]*,"),
        Seed("table.tsv", _table(full, delimiter="\t"), place=rb"^[^\t]*\t"),
    ]


def json_files() -> list[Seed]:
    """Objects a line, flat and nested; a list of objects, a trainer's state, numbers by metric."""
    rows = [{"step": step, **numbers(step)} for step in range(50)]
    nested = [
        {"iter": s, "epoch": s // 10, "time": T0 + s, "train": {"loss": s / 3, "x": [1, s]}, "n": None}
        for s in range(50)
    ]
    state = {"log_history": [{"epoch": s / 10, "step": s, "loss": s / 3} for s in range(30)], "global_step": 30}
    lines = ["".join(json.dumps(row) + "\n" for row in every).encode() for every in (rows, nested)]
    history = {key: [row[key] for row in rows] for key in ("train/loss", "acc")}
    whole = [json.dumps(thing, indent=1).encode() for thing in (rows[:20], state, history)]
    names = ("array.json", "trainer_state.json", "history.json")
    place = rb'"(?:iter|step|epoch|time)": [^,]*'
    return [*(Seed("metrics.jsonl", data, place=place) for data in lines), *map(Seed, names, whole)]


def text() -> list[Seed]:
    """Words and numbers; printed dicts; progress bars; a log that ends in a traceback."""
    words = [
        f"step {s} | loss {n['train/loss']:.4f} | lr {n['lr']:.2e} | acc {n['acc']:.3f}"
        for s in range(60)
        for n in [numbers(s)]
    ]
    dicts = [str({"loss": round(3 / (1 + s), 4), "grad_norm": s + 0.5, "epoch": s / 10}) for s in range(50)]
    stamped = [
        f"2026-03-01 10:{s:02}:00,123 INFO train: epoch={s} step={10 * s} loss={3 / (1 + s):.5f}" for s in range(50)
    ]
    bars = "".join(
        f"\rEpoch {s // 20}:  {s % 20 * 5}%|##   | {s % 20}/20 [00:0{s % 10}<00:09, 2.5it/s, loss={s / 7:.3f}]"
        for s in range(60)
    )
    failed = [
        *stamped[:30],
        "[rank1]: Traceback (most recent call last):",
        '[rank1]:   File "/x/train.py", line 3, in <module>',
        "[rank1]:     main()",
        "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "slurmstepd: error: *** JOB 71 ON gpu1 CANCELLED AT 2026-03-01T10:31:00 DUE TO TIME LIMIT ***",
    ]
    return [
        Seed("train.log", "\n".join([*words, ""]).encode(), once=True, place=rb"step.*(?=loss)"),
        Seed("stdout.txt", "\n".join([*dicts, ""]).encode(), counted=True, once=True),
        Seed("slurm-71.out", "\n".join([*failed, ""]).encode(), once=True, place=rb"(?:step|epoch).*(?=loss)"),
        Seed("bars.log", bars.encode(), once=True),
    ]


def slurm() -> list[Seed]:
    """`sacct -P`, `sacct --json`, `scontrol show job`."""
    header = "JobID|JobName|State|ExitCode|Elapsed|Timelimit|ReqMem|MaxRSS|NodeList|Start|End"
    states, day = ("TIMEOUT", "FAILED", "COMPLETED"), "2026-03-01T10:00:00|2026-03-02T10:00:30"
    rows = [
        f"{n}{part}|train {n}|{states[n % 3]}|{n % 2}:{n % 16}|1-00:00:30|1-00:00:00|8G|{n}K|gpu{n}|{day}"
        for n in range(71, 101)
        for part in ("", ".batch")
    ]
    show = "".join(
        f"JobId={n} JobName=my train\n   UserId=me(1000)\n   JobState=TIMEOUT Reason=TimeLimit ExitCode=0:15\n"
        f"   RunTime=1-00:00:30 TimeLimit=1-00:00:00\n   StartTime=2026-03-01T10:00:00 EndTime=2026-03-02T10:00:30\n"
        f"   NodeList=gpu[1-2]\n   NumNodes=2 TRES=cpu=8,mem=8G,node=2\n\n"
        for n in range(71, 76)
    )
    step = {
        "step": {"id": "71.batch", "name": "batch"},
        "state": ["FAILED"],
        "exit_code": {"return_code": {"number": 1}},
    }
    number = {"set": True, "infinite": False, "number": 3}
    times = {"start": T0, "end": {**number, "number": T0 + 60}, "elapsed": 60, "limit": number}
    job = {
        "name": "train",
        "derived_exit_code": {},
        "steps": [step],
        "nodes": "n[1-2]",
        "state": {"current": ["FAILED"]},
        "time": times,
    }
    jobs = {"meta": {}, "jobs": [{"job_id": n, **job, "exit_code": {"return_code": number}} for n in (71, 72)]}
    return [
        Seed("sacct.psv", "\n".join([header, *rows, ""]).encode()),
        Seed("sacct.json", json.dumps(jobs, indent=1).encode()),
        Seed("scontrol.txt", show.encode()),
    ]


def config() -> list[Seed]:
    """YAML, JSON, TOML, INI and printed options."""
    options = {
        "seed": 1,
        "model": {"name": "gpt", "layers": 12, "dropout": 0.1, "dims": [128, 256], "act": None},
        "optim": {"lr": 3e-4, "betas": [0.9, 0.95], "fused": True, "schedule": {"warmup": 100, "kind": "cosine"}},
        "data": [{"path": "/a", "weight": 0.3}, {"path": "/b: c", "weight": 0.7}],
    }
    toml = 'seed = 1\n[optim]\nlr = 3e-4\nbetas = [0.9, 0.95]\nwhen = 2026-03-01T10:00:00Z\n[[data]]\npath = "/a"\n'
    tomllib.loads(toml)
    return [
        Seed("config.yaml", yaml.safe_dump(options).encode()),
        Seed(
            "hparams.yaml", b"a: &x {lr: 0.1, n: 1e3}\nb: *x\nc: [1, 2.5, ~, yes]\nd: |\n  text\n  more\ne: !!str 3\n"
        ),
        Seed("config.json", json.dumps(options, indent=1).encode()),
        Seed("config.toml", toml.encode()),
        Seed("setup.ini", b"[train]\nlr = 0.1\nsteps: 30\n; a remark\n[data]\npath = /a\n  b\n"),
        Seed("args.txt", b"Namespace(lr=0.1, name='x', betas=(0.9, 0.95))\nlr: 0.1\nbatch_size = 32\n"),
    ]


def mlflow() -> list[Seed]:
    """A metric with steps, one without, one of old versions; a parameter, a tag, the run's own file."""
    run = "mlruns/0/aa/"
    meta = {
        "run_id": "aa",
        "run_name": "x",
        "status": 3,
        "start_time": T0 * 1000,
        "end_time": None,
        "lifecycle_stage": "active",
    }
    stepped = "".join(f"{T0 * 1000 + 37 * s} {3 / (1 + s)} {s + 5}\n" for s in range(80))
    plain = "".join(f"{T0 * 1000 + 37 * s} {s / 3} 0\n" for s in range(60))
    old = "".join(f"{T0 * 1000 + 37 * s} {'nan' if s % 9 == 0 else s}\n" for s in range(60))
    return [
        Seed(run + "metrics/train/loss", stepped.encode()),
        Seed(run + "metrics/acc", plain.encode(), counted=True),
        Seed(run + "metrics/old", old.encode(), counted=True),
        Seed(run + "params/lr", b"0.1\n"),
        Seed(run + "tags/mlflow.note", b"several\nlines"),
        Seed(run + "meta.yaml", yaml.safe_dump(meta).encode()),
    ]


def mlflowdb() -> list[Seed]:
    """A store of one run, of small pages, of two runs."""
    tables = """
    CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), status VARCHAR(9), start_time BIGINT,
      end_time BIGINT, lifecycle_stage VARCHAR(20));
    CREATE TABLE metrics (key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL,
      run_uuid VARCHAR(32) NOT NULL, step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL,
      PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan));
    CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);
    CREATE TABLE params (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid));
    CREATE TABLE tags (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid));
    """

    def store(page: int, *runs: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "mlflow.db")
            with closing(sqlite3.connect(path)) as db:
                db.executescript(f"PRAGMA page_size={page}; {tables}")
                for run in runs:
                    db.execute(f"INSERT INTO runs VALUES ('{run}', 'x', 'FINISHED', {T0 * 1000}, NULL, 'active')")
                    db.execute("INSERT INTO params VALUES ('lr', '0.1', ?)", (run,))
                    db.execute("INSERT INTO tags VALUES ('mlflow.user', 'me', ?)", (run,))
                    rows = [(k, v, T0 * 1000 + s, run, s) for s in range(40) for k, v in numbers(s).items()]
                    db.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, 0)", rows)
                db.commit()
            return path.read_bytes()

    return [
        Seed("mlflow.db", store(4096, "aa11")),
        Seed("mlflow.db", store(512, "aa11")),
        Seed("mlflow.db", store(1024, "aa11", "bb")),
    ]


def trackio() -> list[Seed]:
    """A store of one run and of two, with ids of runs and, as older versions wrote them, without."""
    tables = """
    CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, {id} timestamp TEXT NOT NULL, run_name TEXT NOT NULL,
      step INTEGER NOT NULL, metrics TEXT NOT NULL);
    CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, {id} run_name TEXT NOT NULL, config TEXT NOT NULL,
      created_at TEXT NOT NULL, UNIQUE(run_name));
    CREATE TABLE system_metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, {id} timestamp TEXT NOT NULL,
      run_name TEXT NOT NULL, metrics TEXT NOT NULL);
    """

    def store(page: int, key: str, *runs: str) -> bytes:
        at, key_column = "2026-11-26T04:13:13.056025+00:00", key and f"{key} TEXT NOT NULL,"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "demo.db")
            with closing(sqlite3.connect(path)) as db:
                db.executescript(f"PRAGMA page_size={page}; {tables.format(id=key_column)}")
                for run in runs:
                    own = [run] if key else []
                    marks, names = "?, " * len(own), f"{key}, " if key else ""
                    db.execute(
                        f"INSERT INTO configs ({names}run_name, config, created_at) VALUES ({marks}?, ?, ?)",
                        [*own, run, json.dumps({"lr": 0.1, "_Created": at}).encode(), at],
                    )
                    db.executemany(
                        f"INSERT INTO metrics ({names}run_name, timestamp, step, metrics) VALUES ({marks}?, ?, ?, ?)",
                        [[*own, run, at, s, json.dumps(numbers(s)).encode()] for s in range(40)],
                    )
                db.commit()
            return path.read_bytes()

    return [
        Seed("demo.db", store(4096, "run_id", "one")),
        Seed("demo.db", store(512, "", "one")),
        Seed("demo.db", store(1024, "run_id", "one", "two")),
    ]


def number_lists() -> list[Seed]:
    """`json.dump` of a list and of pairs, a list a line, TensorBoard's download."""
    losses = [numbers(s)["train/loss"] for s in range(60)]
    pairs = [[10 * s, loss] for s, loss in enumerate(losses)]
    return [
        Seed("train_loss_60epochs.json", json.dumps(losses).encode()),
        Seed("loss.json", json.dumps(pairs, indent=1).encode()),
        Seed("loss.txt", "".join(f"{pair}\n" for pair in pairs).encode()),
        Seed("run-a-tag-loss.json", json.dumps([[T0 + s, s, loss] for s, loss in enumerate(losses)]).encode()),
    ]


def list_cells() -> list[Seed]:
    """A frame of lists, as pandas writes it."""
    curves = {model: [numbers(s)["train/loss"] for s in range(n)] for model, n in (("BOW", 40), ("LSTM", 20))}
    rows = "".join(f'{model},"{curve}",0.5\n' for model, curve in curves.items())
    return [Seed("losses.csv", f"Model,Loss,F1\n{rows}".encode())]


def numpy_arrays() -> list[Seed]:
    """Numpy's `save` of a curve and of rows, `savez` and `savez_compressed` of several."""
    import numpy as np

    losses = np.array([numbers(s)["train/loss"] for s in range(60)])
    curve, rows, plain, packed = (io.BytesIO() for _ in range(4))
    np.save(curve, losses)
    np.save(rows, np.stack([np.arange(60.0), losses], 1))
    np.savez(plain, epoch=np.arange(60), loss=losses, images=np.zeros((2, 3, 3)))
    np.savez_compressed(packed, loss=losses, val_loss=losses)
    files = {"a/loss.npy": curve, "b/loss.npy": rows, "a/history.npz": plain, "b/history.npz": packed}
    return [Seed(path, content.getvalue()) for path, content in files.items()]


def pickled_histories() -> list[Seed]:
    """A history as Keras returns it, with numbers of Python and of NumPy, by two protocols."""
    import numpy as np

    losses = [numbers(s)["train/loss"] for s in range(40)]
    history = {"loss": losses, "val_loss": np.array(losses), "lr": [np.float32(x) for x in losses[:20]]}
    return [Seed(f"{n}/history.pkl", pickle.dumps(history, protocol=n)) for n in (2, 5)]


def json_curves() -> list[Seed]:
    """`metrics.json` as Sacred writes it; ClearML's reported scalars."""
    steps = list(range(40))
    times = [f"2026-11-26T04:32:{s:02}.568705" for s in steps]
    losses = [numbers(s)["train/loss"] for s in steps]
    of_sacred = {name: {"steps": steps, "timestamps": times, "values": losses} for name in ("acc", "loss")}
    of_clearml = {"loss": {"train": {"name": "train", "x": steps, "y": losses}}}
    return [
        Seed("metrics.json", json.dumps(of_sacred, indent=2, sort_keys=True).encode()),
        Seed("scalars.json", json.dumps(of_clearml).encode()),
    ]


def sacred() -> list[Seed]:
    """`run.json` of a run that failed."""
    trace = ["Traceback (most recent call last):\n", '  File "r.py", line 11, in main\n    f()\n', "ValueError: boom\n"]
    times = {"start_time": "2026-11-26T04:32:56.557421", "stop_time": "2026-11-26T04:33:56.557421"}
    facts = {"command": "main", "experiment": {"name": "t"}, "heartbeat": None, "status": "FAILED"}
    return [Seed("run.json", json.dumps({**facts, **times, "fail_trace": trace}, indent=2, sort_keys=True).encode())]


def zipped(files: dict[str, str]) -> bytes:
    """An archive of these files, always the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in files.items():
            archive.writestr(zipfile.ZipInfo(name), lines)
    return content.getvalue()


def comet() -> list[Seed]:
    """The archive of an offline experiment."""
    at = T0 * 1000
    messages: list[object] = [
        {"payload": {"local_timestamp": at, "param": {"paramName": "lr", "paramValue": 0.1}}, "type": "parameter_msg"},
        *(
            {"payload": {"local_timestamp": at + s, "metric": {"metricName": name, "metricValue": value, "step": s}}}
            for s in range(40)
            for name, value in numbers(s).items()
        ),
        {"payload": {"local_timestamp": at, "output": "ValueError: boom\n"}, "type": "standard_output"},
    ]
    lines = "".join(f"{json.dumps(message)}\n" for message in messages)
    return [Seed("8350.zip", zipped({"experiment.json": json.dumps({"start_time": at}), "messages.json": lines}))]


def clearml() -> list[Seed]:
    """The files of an offline session, and their archive."""
    facts = {"timestamp": T0 * 1000, "type": "training_stats_scalar", "task": "offline-9420"}
    events = [
        [{**facts, "iter": s, "metric": name, "variant": "train", "value": value} for name, value in numbers(s).items()]
        for s in range(40)
    ]
    task = {"hyperparams": {"General": {"lr": {"name": "lr", "value": "0.1"}}}, "offline_folder": "/x"}
    files = {
        "metrics.jsonl": "".join(f"{json.dumps(event)}\n" for event in events),
        "log.jsonl": json.dumps([{**facts, "type": "log", "msg": "ValueError: boom"}]),
        "task.json": json.dumps(task),
    }
    return [*(Seed(name, lines.encode()) for name, lines in files.items()), Seed("offline-9420.zip", zipped(files))]


def neptune() -> list[Seed]:
    """The operations of an offline run."""
    operations: list[dict[str, object]] = [
        {"type": "AssignFloat", "path": ["parameters", "lr"], "value": 0.1},
        *(
            {"type": "LogFloats", "path": name.split("/"), "values": [{"value": value, "step": s, "ts": T0 + s}]}
            for s in range(40)
            for name, value in numbers(s).items()
        ),
        {"type": "LogStrings", "path": ["monitoring", "f9", "stderr"], "values": [{"value": "ValueError: boom"}]},
    ]
    lines = (json.dumps({"obj": obj, "version": n, "at": T0 + n}) for n, obj in enumerate(operations))
    return [Seed("data-1.log", "".join(f"{line}\n" for line in lines).encode())]


def parquet() -> list[Seed]:
    """Polars' writer: plain and packed columns, small row groups, a long table, lists and structs."""
    import polars as pl

    wide = pl.DataFrame([{"_step": step, **numbers(step)} for step in range(120)])
    long = wide.unpivot(index="_step", variable_name="metric").rename({"_step": "step"})
    odd = wide.with_columns(h=pl.lit([1.0, 2.0]), s=pl.struct("lr", "acc"), t=pl.lit("x"), n=pl.lit(None, pl.Float64))
    styles = ({"compression": "uncompressed"}, {"compression": "zstd", "row_group_size": 30}, {"compression": "snappy"})
    out = []
    for frame, style in zip((wide, long, odd), styles, strict=True):
        file = io.BytesIO()
        frame.write_parquet(file, **style)
        out.append(Seed("history.parquet", file.getvalue()))
    return out


def compressed() -> list[Seed]:
    """JSON lines by each packer, and by gzip in two members."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    content = json_files()[0].data
    half = len(content) // 2
    checked = {zstd.CompressionParameter.checksum_flag: 1}
    return [
        Seed("metrics.jsonl.gz", gzip.compress(content, mtime=0)),
        Seed("metrics.jsonl.gz", gzip.compress(content[:half], mtime=0) + gzip.compress(content[half:], mtime=0)),
        Seed("metrics.jsonl.zst", zstd.compress(content, options=checked)),
        Seed("metrics.jsonl.xz", lzma.compress(content)),
        Seed("metrics.jsonl.bz2", bzip2(content)),
    ]


def flightrecorder() -> list[Seed]:
    """A rank's dump as the watchdog pickles it, by two protocols, and as JSON."""
    ops = [
        op("all_reduce" if seq % 2 else "all_gather", state="completed" if seq < 9 else "started")
        for seq in range(1, 11)
    ]
    told = dump(ops, {"0": [0, 1, 2, 3]})
    pickles = [Seed(f"traces/nccl_trace_rank_{n}", pickle.dumps(told, protocol=n)) for n in (2, 4)]
    return [*pickles, Seed("traces/rank_1.json", json.dumps(told).encode())]


def stack_profile() -> list[Seed]:
    """A profile of py-spy in its raw format, and one as speedscope's JSON."""
    stacks = {"backward (torch/_tensor.py:522)": 60, "__next__ (torch/utils/data/dataloader.py:630)": 7}
    text = "".join(f"main (train.py:3);{stack} {n}\n" for stack, n in stacks.items())
    frame = {"name": "main", "file": "train.py", "line": 3}
    profile = {"type": "sampled", "samples": [[0], [0]], "weights": [0.1, 0.1]}
    schema = "https://www.speedscope.app/file-format-schema.json"
    document = {"$schema": schema, "shared": {"frames": [frame]}, "profiles": [profile]}
    return [Seed("profile.raw", text.encode()), Seed("profile.speedscope.json", json.dumps(document).encode())]


def stack_dump() -> list[Seed]:
    """Two processes as py-spy prints them, and one as JSON."""
    frames = "    all_reduce (torch/distributed/distributed_c10d.py:2450)\n    step (train.py:88)\n"
    heads = [f'Process {n}: python train.py --local_rank={n}\nThread {n} (idle): "MainThread"\n' for n in (7, 8)]
    text = "".join(head + frames for head in heads)
    frame = {"name": "step", "filename": "/a/train.py", "short_filename": "train.py", "line": 88}
    thread = {"pid": 7, "thread_id": 7, "thread_name": "MainThread", "frames": [frame]}
    return [Seed("pyspy.txt", text.encode()), Seed("pyspy.json", json.dumps([thread]).encode())]


def memory_snapshot() -> list[Seed]:
    """A snapshot of torch's GPU memory with an allocation that failed, by two protocols."""
    frames = [{"filename": "/home/me/train.py", "line": 31, "name": "forward"}]
    sizes = {"total_size": 1 << 30, "allocated_size": 1 << 29, "active_size": 1 << 29}
    blocks = [{"size": 1 << 20, "state": "active_allocated", "frames": frames} for _ in range(20)]
    events = [{"action": action, "size": 1 << 30, "device_free": 7, "frames": frames} for action in ("alloc", "oom")]
    told = {"segments": [{"device": 0, **sizes, "blocks": blocks}], "device_traces": [events], "allocator_settings": {}}
    return [Seed("oom_snapshot.pickle", pickle.dumps(told, protocol=n)) for n in (2, 4)]


def named_rows() -> list[Seed]:
    """A log of build-nanogpt, by its own format string; one with values that are not finite."""
    log = "".join(f"{step} train {numbers(step)['train/loss']:.6f}\n" for step in range(60))
    evaluated = "".join(
        f"{step} val {numbers(step)['val/loss']:.4f}\n{step} hella 0.2463\n" for step in range(0, 60, 20)
    )
    return [Seed("log.txt", (evaluated + log).encode()), Seed("bad.txt", b"0 train 2.5\n1 train nan\n2 train -inf\n")]


def number_columns() -> list[Seed]:
    """Numpy's `savetxt`: DeepXDE's losses with their comment, and columns without names."""
    import numpy as np

    rows = np.array([[500 * step, *numbers(step).values()] for step in range(40)])
    header = io.BytesIO()
    np.savetxt(header, rows, header="step, loss_train, loss_test, metrics_test")
    bare = io.BytesIO()
    np.savetxt(bare, rows[:, 1:3])
    return [Seed("loss.dat", header.getvalue()), Seed("losses.dat", bare.getvalue())]


def evaluations() -> list[Seed]:
    """Numpy's `savez`, as the callback of Stable-Baselines3 calls it; with and without success rates."""
    import numpy as np

    arrays = {"timesteps": np.arange(0, 5000, 1000), "results": np.ones((5, 3)), "ep_lengths": np.full((5, 3), 200)}
    seeds = []
    for name, more in (("a", {}), ("b", {"successes": np.ones((5, 3), bool)})):
        packed = io.BytesIO()
        np.savez(packed, **arrays, **more)
        seeds.append(Seed(f"{name}/evaluations.npz", packed.getvalue()))
    return seeds


def named_lists() -> list[Seed]:
    """Lists of losses, as PyYAML writes them, in TOML, and as Python prints them."""
    import yaml

    data = {"lr": 0.001, "train_loss": [numbers(s)["train/loss"] for s in range(40)]}
    toml = f"lr = 0.001\ntrain_loss = {data['train_loss']}\n"
    texts = {"hist.yaml": yaml.safe_dump(data), "hist.toml": toml, "hist.txt": repr(data)}
    return [Seed(name, content.encode()) for name, content in texts.items()]


WRITERS: dict[str, Callable[[], list[Seed]]] = {
    "tensorboard": tensorboard,
    "wandb": wandb,
    "wandb-summary": wandb_summary,
    "csv": csv_tables,
    "json": json_files,
    "text": text,
    "slurm": slurm,
    "config": config,
    "mlflow": mlflow,
    "mlflowdb": mlflowdb,
    "trackio": trackio,
    "numberlists": number_lists,
    "namedlists": named_lists,
    "listcells": list_cells,
    "numpy": numpy_arrays,
    "pickle": pickled_histories,
    "jsoncurves": json_curves,
    "sacred": sacred,
    "comet": comet,
    "clearml": clearml,
    "neptune": neptune,
    "parquet": parquet,
    "compressed": compressed,
    "flightrecorder": flightrecorder,
    "memorysnapshot": memory_snapshot,
    "stackdump": stack_dump,
    "profile": stack_profile,
    "namedrows": named_rows,
    "numbercolumns": number_columns,
    "sb3evaluations": evaluations,
}
