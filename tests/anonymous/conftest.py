"""Runs with planted secrets, and a check that a document contains only known words."""

import csv
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import loganalyst as la
from fixtures.writers import TensorBoard
from loganalyst import anonymous
from loganalyst.anonymous import vocabulary
from loganalyst.anonymous.anonymousdocument import ABOUT
from loganalyst.anonymous.featureredaction import FEATURE_TEXTS
from loganalyst.anonymous.tableredaction import STATUS_WORDS
from loganalyst.curves import roles
from loganalyst.features import declared
from loganalyst.model import SCHEMAS, Diagnosis

ROOT = Path(__file__).parents[2]


RUNS = sorted(path for path in (ROOT / "fixtures/runs").iterdir() if path.is_dir())


MORE = [ROOT / "fixtures/slurm/runs/task-killed", ROOT / "fixtures/slurm/runs/requeued"]


MORE += [ROOT / "fixtures/distributed/runs/rank-raises", ROOT / "fixtures/collectives/rank-asleep"]


SECRETS = {
    "user": "zqhopper",
    "mail": "zq.hopper@navy-zq.mil",
    "host": "zqnode17.hpc.zqorg.edu",
    "ip": "10.77.203.94",
    "path": "/home/zqhopper/zqproject/zqdata.parquet",
    "token": "hf_ZqAbCdEfGhIjKlMn",
    "key": "sk-zq-51HxYzPqRs",
    "project": "ZqManhattanLM",
    "patient": "zqpatient 90210417",
    "sentence": "Zqalice trains on zqmedical records",
    "url": "https://zquser:zqpass@zqgit.example/zqrepo",
    "date": "2031-03-17T11:22:33",
}


OWN = re.compile(r"zq\w*|90210417|2031-03-17|10\.77\.203\.94|51HxYz\w*", re.IGNORECASE)


def losses(n: int = 60) -> Iterator[tuple[int, float]]:
    """A loss that falls, then is NaN."""
    yield from ((i, math.nan if i > 50 else 2 / (i + 1)) for i in range(n))


def names(s: dict[str, str]) -> list[str]:
    """Metrics with secrets in their names; the first is plain."""
    return ["train/loss", *(f"{s[key]}/loss" for key in s), *(f"val/{s[key]}" for key in s)]


def settings_of(s: dict[str, str]) -> dict[str, Any]:
    """Secrets as keys and as values, of settings that rules know too."""
    secret = {f"extra_{key}": value for key, value in s.items()} | dict.fromkeys(s.values(), 0.001)
    known = {"optimizer": s["project"], "precision": s["token"], "dataset": s["path"], "host": s["host"]}
    nested = {s["user"]: {"lr": 0.01, "note": s["sentence"]}}
    return {"lr": 0.1, "batch_size": 32, "api_key": s["key"], "user": s["user"], **known, **secret, **nested}


def tensorboard(run: Path, s: dict[str, str]) -> Path:
    """Scalars by torch's writer, with a config and a checkpoint that is named after somebody."""
    with TensorBoard(run) as writer:
        for i, loss in losses():
            writer.log(i, dict.fromkeys(names(s), loss))
        writer.writer.add_text("note", s["sentence"])
        writer.writer.add_hparams({"lr": 0.1, "who": s["user"]}, {"hparam/loss": 1.0}, run_name=".")
    (run / "config.yaml").write_text(json.dumps(settings_of(s)))
    (run / f"{s['user']}-step=30.ckpt").write_bytes(b"x" * 100)
    return run


PROGRAM = """
import json, math, sys, wandb
s, metrics, config = json.loads(sys.argv[1])
run = wandb.init(mode="offline", dir=".", project=s["project"], entity=s["user"], name=s["sentence"], notes=s["mail"],
                 tags=[s["host"]], group=s["patient"], config=config, job_type=s["user"],
                 settings=wandb.Settings(console="off", silent=True, host=s["host"], username=s["user"],
                                         email=s["mail"], program=s["path"]))
for i in range(60):
    run.log(dict.fromkeys(metrics, math.nan if i > 50 else 2 / (i + 1)))
run.summary[s["user"]] = s["sentence"]
run.finish(exit_code=1)
"""


def wandb(run: Path, s: dict[str, str]) -> Path:
    """An offline run by the real wandb, with its metadata, tags, notes and files."""
    text = json.dumps([s, names(s), settings_of(s)])
    environment = {**os.environ, "WANDB_MODE": "offline", "HOME": str(run)}
    subprocess.run([sys.executable, "-c", PROGRAM, text], env=environment, check=True, timeout=120, cwd=run)
    (made,) = (run / "wandb").glob("offline-run-*")
    (made / "files/output.log").write_text(log_text(s))
    return made


def table(run: Path, s: dict[str, str]) -> Path:
    """CSV with a header of secrets, and a column of text."""
    with (run / "metrics.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["step", *names(s), "note"])
        out.writerows([i, *[loss] * len(names(s)), s["sentence"]] for i, loss in losses())
    (run / "hparams.yaml").write_text(json.dumps(settings_of(s)))
    return run


def lines_of_json(run: Path, s: dict[str, str]) -> Path:
    """One object per line, with texts and numbers."""
    rows = ({"step": i, **dict.fromkeys(names(s), loss), "by": s["user"], "at": s["host"]} for i, loss in losses(51))
    (run / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + s["sentence"] + "\n")
    (run / "config.json").write_text(json.dumps(settings_of(s)))
    return run


def log_text(s: dict[str, str]) -> str:
    """What a job prints: metrics, secrets, a failed request, a traceback."""
    text = "".join(
        f"{key} = {value}\n{s['date']} [{s['host']}] step {i}: loss {2 / (i + 1):.4f}\n"
        for i, (key, value) in enumerate(s.items())
    )
    more = "".join(f"[rank{i % 2}]: step {i} loss {1 / i:.4f} {s['user']}_loss {1 / i:.3f}\n" for i in range(12, 40))
    trace = (
        f'Traceback (most recent call last):\n  File "{s["path"]}", line 12, in {s["user"]}\n'
        f"    main('{s['token']}')\n"
        f"{s['user']}.errors.{s['project']}Error: {s['sentence']}\n"
        f"FileNotFoundError: [Errno 2] No such file or directory: '{s['path']}'\n"
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. {s['sentence']}\n"
        f"slurmstepd: error: *** JOB 90210417 ON {s['host']} CANCELLED AT {s['date']} DUE TO TIME LIMIT ***\n"
    )
    return text + more + trace


def log(run: Path, s: dict[str, str]) -> Path:
    """A job log alone, named after a user."""
    path = run / f"{s['user']}-90210417.out"
    path.write_text(log_text(s))
    return path


def slurm(run: Path, s: dict[str, str]) -> Path:
    """A run with its job log and what sacct says of the job."""
    (run / "slurm-90210417.out").write_text(log_text(s))
    head = (
        "JobID|JobName|User|Partition|State|ExitCode|Elapsed|Timelimit|Start|End|NodeList|ReqMem|MaxRSS|NNodes|Reason"
    )
    row = f"90210417|{s['project']}|{s['user']}|{s['user']}part|CANCELLED by {s['user']}|1:9|00:10:00|00:10:00"
    row += f"|{s['date']}|2031-03-17T11:32:33|{s['host']}|16G||1|{s['user']}"
    (run / "sacct.psv").write_text(f"{head}\n{row}\n{row.replace('90210417', '90210417.batch', 1)}\n")
    return run


MAKERS: list[Callable[[Path, dict[str, str]], Path]] = [tensorboard, wandb, table, lines_of_json, log, slurm]


@pytest.fixture(scope="module", params=MAKERS, ids=lambda make: make.__name__)
def planted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """A run with a secret in every place that the format has, in a folder whose name is one too."""
    folder = tmp_path_factory.mktemp("zqrun") / SECRETS["project"] / SECRETS["user"]
    folder.mkdir(parents=True)
    found = la.diagnose(request.param(folder, SECRETS))
    assert found.run.points.height or found.run.lines.height
    return found


def strings(tree: Any) -> Iterator[str]:
    """Every text of a document, keys too."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield key
            yield from strings(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from strings(value)


UNIT = re.compile(r"[^\W_]+")


ODD = re.compile(r"anon[a-z]+|[a-z]+\d{1,3}|\d{1,3}")


KEYS = """schema about loganalyst run sources roles tables features diagnosis rows path format bytes status confidence
causes symptoms verdict id job started ended diagnosis_complete cause_unknown healthy insufficient_data likely possible
unlikely unknown NaN Infinity null true false file node group own another reason none"""


FREE = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?|[\d:, –-]+|\{.*\}|\[[\d, \[\]]*\]")  # numbers; captures have their own test


def known_words() -> set[str]:
    """Every word of ours that a document may hold."""
    texts = [text for name in vocabulary.LISTS for text in vocabulary.allowed(name)]
    texts += [
        *vocabulary.words(),
        *vocabulary.patterns(),
        *vocabulary.rules(),
        *declared(),
        *SCHEMAS,
        KEYS,
        *STATUS_WORDS,
        *FEATURE_TEXTS,
    ]
    texts += [key for schema in SCHEMAS.values() for key in schema]
    texts += [*roles.all_roles(), anonymous.SCHEMA, la.__version__, ABOUT]
    return {word.lower() for text in texts for word in UNIT.findall(text)}


def is_ours(unit: str, known: set[str]) -> bool:
    """Whether a word is known, by its capitals too, or a replacement, or short."""
    pieces = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", unit)
    by_case = "".join(pieces) == unit and all(piece.lower() in known for piece in pieces)
    low = unit.lower()
    return low in known or bool(ODD.fullmatch(low)) or by_case or any(p.fullmatch(low) for p in vocabulary.languages())


def closed(document: dict[str, Any]) -> list[str]:
    """The texts of a document with unknown words; numbers are allowed."""
    known = known_words()
    texts = (text for text in strings(document) if not FREE.fullmatch(text))
    return [text for text in texts if not all(is_ours(unit, known) for unit in UNIT.findall(text))]
