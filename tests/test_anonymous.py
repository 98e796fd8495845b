"""`show --anonymous`: nothing that names anybody gets out, and what does gives the same diagnosis again."""

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

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import loganalyst as la
from fixtures.writers import TensorBoard
from loganalyst import anonymous
from loganalyst.anonymous import vocabulary
from loganalyst.anonymous.aliases import Names
from loganalyst.anonymous.anonymousdocument import ABOUT
from loganalyst.anonymous.clocks import without_dates
from loganalyst.anonymous.featureredaction import GIVEN
from loganalyst.anonymous.tableredaction import COLUMNS, WORDS, gap
from loganalyst.anonymous.tableredaction import anonymous as cleaned
from loganalyst.curves import roles
from loganalyst.errors import SourceError
from loganalyst.features import declared
from loganalyst.features.context import Context
from loganalyst.model import SCHEMAS, Diagnosis
from loganalyst.model import table as table_of
from tests.commandline import called

ROOT = Path(__file__).parents[1]
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
    told = json.dumps([s, names(s), settings_of(s)])
    environment = {**os.environ, "WANDB_MODE": "offline", "HOME": str(run)}
    subprocess.run([sys.executable, "-c", PROGRAM, told], env=environment, check=True, timeout=120, cwd=run)
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
    """An object a line, with texts beside the numbers."""
    rows = ({"step": i, **dict.fromkeys(names(s), loss), "by": s["user"], "at": s["host"]} for i, loss in losses(51))
    (run / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + s["sentence"] + "\n")
    (run / "config.json").write_text(json.dumps(settings_of(s)))
    return run


def log_text(s: dict[str, str]) -> str:
    """What a job prints: metrics, secrets, a failed request, a traceback."""
    told = "".join(
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
    return told + more + trace


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
    """A run with a secret wherever the format has a place for one, in a folder that is one too."""
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


def test_the_secrets_were_read(planted: Diagnosis) -> None:
    """Else the next test would show nothing: what was read of the run has them in several places."""
    read = " ".join(str(frame.to_dicts()) for frame in vars(planted.run).values() if isinstance(frame, pl.DataFrame))

    assert len(set(OWN.findall(read + str(planted.run.sources)))) >= 3


def test_no_planted_secret_gets_out(planted: Diagnosis) -> None:
    """Not one, whole or in part, in any letter case."""
    text = anonymous.render(planted)

    assert OWN.findall(text) == []
    assert not [secret for secret in SECRETS.values() if secret.lower() in text.lower()]
    assert not [part for part in planted.run.path.parts if part.startswith("zq") and part in text]
    assert json.loads(text)["schema"] == "loganalyst/anonymous/1"


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
        *WORDS,
        *GIVEN,
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
    """The texts of a document that are made of other words than ours; numbers may stand."""
    known = known_words()
    told = (text for text in strings(document) if not FREE.fullmatch(text))
    return [text for text in told if not all(is_ours(unit, known) for unit in UNIT.findall(text))]


def test_a_document_holds_only_words_of_ours(planted: Diagnosis) -> None:
    """A closed world: whatever text there is, every word of it is in a list of ours or a replacement."""
    assert closed(anonymous.document(planted)) == []


@pytest.mark.parametrize("run", RUNS[::4] + MORE, ids=lambda p: p.name)
def test_documents_of_real_runs_hold_only_words_of_ours(run: Path) -> None:
    """The same of runs that real writers wrote."""
    assert closed(anonymous.document(la.diagnose(run))) == []


TEXTS = st.text(max_size=60) | st.from_regex(r"[a-z]{2,9}[./_-][A-Za-z0-9]{1,12}(/loss)?", fullmatch=True)


@given(TEXTS)
def test_names_are_made_of_known_words(name: str) -> None:
    """Of any name only words of the vocabulary, replacements and short numbers are left, however it is written."""
    kept = Names().words(name)

    assert all(is_ours(unit, vocabulary.words()) for unit in UNIT.findall(kept))
    assert set(re.findall(r"[\W_]", kept)) <= set("/._-: ")


@given(st.lists(TEXTS, unique=True, max_size=12))
def test_two_metrics_never_get_one_name(metrics: list[str]) -> None:
    """And a name is always replaced by the same one, which is replaced by one of its kind when it is read again."""
    named = Names()
    told = [named.metric(metric) for metric in metrics]

    assert len(set(told)) == len(metrics)
    assert [named.metric(metric) for metric in metrics] == told


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("train/loss", "train/loss"),
        ("val_acc@1", "val_acc_1"),
        ("trainLoss", "trainLoss"),
        ("encoder.layers.12.attention.weight", "encoder.layers.12.attention.weight"),
        ("gpu.0.memory", "gpu.0.memory"),
        ("losses/acme_loss", "losses/anona_loss"),
        ("训练/损失", "训练/损失"),
        ("10.0.0.1/loss", "anona.anonb.anonb.anonc/loss"),
        ("layers.10.20.30.40", "layers.anona.anonb.anonc.anond"),
        ("2024-03-17", "anona-anonb-anonc"),
        ("patient 4711", "anona anonb"),
        ("node17/time", "anona/time"),
        ("a1b2c3d4e5", "anona"),
        ("", ""),
    ],
)
def test_what_becomes_of_a_name(name: str, kept: str) -> None:
    """Words of training stay; names, addresses, dates and long numbers do not."""
    assert Names().words(name) == kept


def test_a_host_that_the_run_tells_is_found_in_names() -> None:
    """Even one that is made of words which everybody uses."""
    assert Names(["gpu-node-17"]).words("gpu-node-17/loss") == "anona /loss"
    assert Names(["train"]).words("train/loss") == "train/loss"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.from_regex(r"[A-Za-z0-9@:/._-]{6,24}", fullmatch=True), min_size=1, max_size=6, unique=True))
def test_random_secrets_stay_inside(tmp_path: Path, secrets: list[str]) -> None:
    """Of random strings in a CSV's header, a config and a log none is in the document."""
    own = [f"xq{secret}qx" for secret in secrets]
    s = dict(zip(SECRETS, (own * len(SECRETS))[: len(SECRETS)], strict=True))
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    table(folder, s)
    (folder / "train.log").write_text(log_text(s))
    text = anonymous.render(la.diagnose(folder)).lower()

    assert not [secret for secret in own if secret.lower() in text]
    assert "xq" not in text


@pytest.mark.parametrize("run", RUNS + MORE, ids=lambda p: p.name)
def test_the_document_gives_the_same_diagnosis(run: Path, tmp_path: Path) -> None:
    """Status, causes in their order, symptoms, and nearly the same confidence."""
    found = la.diagnose(run)
    file = tmp_path / "case.json"
    file.write_text(anonymous.render(found))
    again = la.diagnose(file)

    assert again.status == found.status
    assert [c.id for c in again.causes] == [c.id for c in found.causes]
    assert [s.id for s in again.symptoms] == [s.id for s in found.symptoms]
    assert again.confidence == pytest.approx(found.confidence, abs=0.01)
    assert [c.confidence for c in again.causes] == pytest.approx([c.confidence for c in found.causes], abs=0.01)
    assert [m.role for m in again.metrics] == [m.role for m in found.metrics]


def test_curves_are_the_same_to_the_last_digit(tmp_path: Path) -> None:
    """Steps and values are those of the run, NaN and infinities too; times keep their distances."""
    run = tmp_path / "metrics.csv"
    values = [0.1, 1 / 3, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, -0.0, *[0.5] * 30]
    run.write_text("step,loss\n" + "".join(f"{i},{value!r}\n" for i, value in enumerate(values)))
    file = tmp_path / "case.json"
    file.write_text(anonymous.render(la.diagnose(run)))
    again = la.read_run(file).points

    assert again["step"].to_list() == list(range(len(values)))
    assert list(map(repr, again["value"])) == list(map(repr, values))
    timed = la.read_run(ROOT / "fixtures/runs/nan-lr")
    file.write_text(anonymous.render(la.diagnose(timed)))
    back = la.read_run(file)
    assert back.started is not None
    assert back.started.year == 2000
    assert timed.ended is not None
    assert timed.started is not None
    assert back.ended - back.started == timed.ended - timed.started
    for metric in timed.points["metric"].unique():
        ours, theirs = (run.points.filter(metric=metric)["time"].diff() for run in (back, timed))
        assert ours.equals(theirs)


def test_roles_that_the_user_corrected_are_told(tmp_path: Path) -> None:
    """A name that says nothing keeps the role that loganalyst.yaml gave it."""
    (tmp_path / "metrics.csv").write_text("step,zqthing\n" + "".join(f"{i},{2 / (i + 1)}\n" for i in range(60)))
    (tmp_path / "corrections.yaml").write_text("roles: {zqthing: val_loss}\n")
    found = la.diagnose(tmp_path / "metrics.csv", config=tmp_path / "corrections.yaml")
    file = tmp_path / "case.json"
    file.write_text(anonymous.render(found))

    assert json.loads(file.read_text())["roles"] == {"anona": "val_loss"}
    assert [m.role for m in la.diagnose(file).metrics] == ["val_loss"]


def test_dates_that_are_logged_as_numbers_are_shifted() -> None:
    """A metric of timestamps and steps that are seconds since 1970 begin at 0; a count of tokens stays as it is."""
    at = 1_750_000_000
    metrics = ["_timestamp", "_timestamp", "loss"]
    rows = pl.DataFrame({"metric": metrics, "step": [at, at + 60, at + 90], "value": [at, at + 60, 0.5]}, strict=False)
    tokens = pl.DataFrame({"metric": ["loss"] * 3, "step": [0, at, 2 * at], "value": [1.0, 1.0e9, 2.0e9]})
    moved = without_dates(rows)

    assert moved["value"].to_list() == [0.0, 60.0, 0.5]
    assert moved["step"].to_list() == [0, 60, 90]
    assert without_dates(tokens).equals(tokens)
    assert without_dates(rows.clear()).height == 0


def test_every_column_is_decided() -> None:
    """A column that is added to a table must be told what becomes of it."""
    tables = {name for name in SCHEMAS if name not in ("findings", "feature_sources", "config")}

    assert set(COLUMNS) == tables
    assert {name: list(COLUMNS[name]) for name in tables if set(COLUMNS[name]) != set(SCHEMAS[name])} == {}


def test_settings_that_features_ask_for_may_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number that a feature asks of a config has its key in the list, else a document loses the feature."""
    asked: set[str] = set()
    number = Context.number
    monkeypatch.setattr(Context, "number", lambda self, *keys: asked.update(keys) or number(self, *keys))
    for run in RUNS[::5]:
        la.diagnose(run)

    assert len(asked) > 100
    assert asked - vocabulary.allowed("settings") == set()


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("5,192 more lines like 'zqsecret' not listed", "more lines like"),
        ("the reader failed (ValueError: zqsecret)", "the reader failed"),
        ("zqsecret", "another reason"),
    ],
)
def test_gaps_are_told_by_their_reason_alone(why: str, told: str) -> None:
    """What a reason quotes is left out."""
    assert gap(why) == told


def test_captures_are_numbers_and_classes_of_everybody() -> None:
    """Of what a pattern captured a known key with a number stays, and the class of an exception; no words."""
    said = {"step": "12", "tried": "2.50 GiB", "rank": "zq7", "path": "/home/zq", "exception": "zq.errors.ZqError"}
    said |= {"total": "79.15 GiB; zqhost", "used": "1" * 40, "operation": "zqop", "bytes": "4096"}
    rows = pl.DataFrame({"captures": [json.dumps(said), "no JSON", "[1]", None]})
    kept = cleaned("lines", table_of("lines", {"captures": rows["captures"]}), Names())["captures"].to_list()

    assert json.loads(kept[0]) == {"step": "12", "tried": "2.50 GiB", "exception": "Error", "bytes": "4096"}
    assert kept[1:] == [None, None, None]


def broken(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Documents that no program of ours wrote."""

    def with_points(**changes: Any) -> dict[str, Any]:
        points = [{**document["tables"]["points"][0], **changes}]
        return {**document, "tables": {**document["tables"], "points": points}}

    yield "no rows", {**document, "tables": {"points": [{"step": [1]}]}}
    yield "another schema", {**document, "schema": "loganalyst/anonymous/99"}
    yield "too few values", with_points(step=[1, 2, 3])
    yield "an unknown column", with_points(secret=1)
    yield "words for numbers", with_points(value="lots")
    yield "rows that are no number", with_points(rows="7")
    yield "very many rows", with_points(rows=10**12, step=0, value=0.5)
    yield "a large number", with_points(step=2**70)
    yield "no tables", {key: value for key, value in document.items() if key != "tables"}
    yield "a list for tables", {**document, "tables": []}


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return json.loads(anonymous.render(la.diagnose(ROOT / "fixtures/runs/nan-lr")))


def test_a_broken_document_is_told_with_its_file(written: dict[str, Any], tmp_path: Path) -> None:
    """Each is refused in one line that names the file; nothing else is raised."""
    for what, document in broken(written):
        file = tmp_path / "case.json"
        file.write_text(json.dumps(document))
        with pytest.raises(SourceError) as refused:
            la.read_run(file)
        assert "case.json" in str(refused.value), what
    file.write_text('{"schema": "loganalyst/anonymous/1", "tables": ' + "[" * 100_000)
    with pytest.raises(SourceError, match="cannot be read"):
        la.read_run(file)


def test_only_a_file_may_be_a_document(tmp_path: Path) -> None:
    """A pipe is not waited for; a folder, a link to nothing and an empty file are none."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nothing")

    assert not any(anonymous.is_document(tmp_path / name) for name in ("pipe", "empty", "link", "nothing", "."))


def test_a_documents_own_text_is_not_read(written: dict[str, Any], tmp_path: Path) -> None:
    """Whoever wrote the document: no text of theirs, and no file that they name, gets into a report."""
    (tmp_path / "zqfile").write_text("zqsecret\n" * 100)
    told = json.loads(json.dumps(written))
    for pack in told["tables"]["points"]:
        pack |= {"metric": f"zq\x1b[31m{pack['metric']}", "source": "../zqfile"}
    line = {
        "rows": 1,
        "session": 0,
        "file": "zqfile",
        "line": 1,
        "offset": 0,
        "pattern": "zqpattern",
        "text": "zqsecret",
    }
    told["tables"]["lines"] = [{**line, "label": "nan_loss", "captures": '{"path": "zqfile"}'}]
    told["tables"]["config"] = [{"rows": 1, "key": "zq.lr", "value": "zqvalue", "number": 0.1, "origin": "zqfile"}]
    told["features"] |= {"log_root_message": "zqmessage", "artefact_missing_path": "zqpath", "zqfeature": 1}
    told["run"]["status"] = "zqstatus"
    (tmp_path / "case.json").write_text(json.dumps(told))
    found = la.diagnose(tmp_path / "case.json")
    report = "\n".join(
        [found.to_json(), found.to_markdown(), found.to_html(), called("show", tmp_path / "case.json").out]
    )

    assert re.findall(r"zq\w*", report.replace(str(tmp_path), ""), re.IGNORECASE) == []
    assert "\x1b" not in report


def test_the_command(tmp_path: Path) -> None:
    """To stdout or a file; the other options do not go with it; `diagnose` and `show` take the file."""
    run = ROOT / "fixtures/runs/nan-lr"
    code, out, err = called("show", "--anonymous", run)
    assert (code, err) == (0, "")
    assert called("show", "--anonymous", run, "-o", tmp_path / "case.json") == (0, "", "")
    assert (tmp_path / "case.json").read_text() == out
    assert max(map(len, out.splitlines())) > 1000
    assert called("show", "--anonymous", "--features", run).code == 2
    told = called("diagnose", tmp_path / "case.json")
    assert told.code == 1
    assert "Learning rate too high" in told.out
    assert "train/loss" in called("show", tmp_path / "case.json").out


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("metric", json.loads("[" * 600 + "]" * 600), "metric has values that are no String"),
        ("value", {"a": 1}, "value has values that are no Float64"),
        ("step", [[1]], "step has values that are no Int64"),
        ("time", 10**18, "time has times beyond the years 1 to 9999"),
        ("time", -(10**17), "time has times beyond the years 1 to 9999"),
        ("rows", 19_000_000, "more than 10,000 rows need a column with a value for each"),
        ("evil", 1, "no column 'evil'"),
    ],
)
def test_a_forged_part_costs_neither_memory_nor_the_process(tmp_path: Path, column: str, value: Any, why: str) -> None:
    part = {"rows": 1, "session": 0, "metric": "train/loss", "step": 1, "value": 0.5, column: value}
    forged = {"schema": "loganalyst/anonymous/1", "run": {}, "sources": [], "tables": {"points": [part]}}
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    with pytest.raises(SourceError, match=why):
        la.read_run(tmp_path / "forged.json")
