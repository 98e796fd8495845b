"""Metrics in JSON: rows of objects, trainer states and histories, whole, broken and hostile."""

import csv
import json as json_module
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.model import SCHEMAS, Tables
from loganalyst.sources.config import reader
from loganalyst.sources.tables import json_reader

CORPUS = Path(__file__).parents[3] / "../shared/corpus/runs"


def file(tmp_path: Path, text: str | bytes, name: str = "metrics.json") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(path: Path) -> Tables:
    return Tables.concat(json_reader.read(path))


def rows(tables: Tables, *columns: str) -> list[tuple[object, ...]]:
    return tables.points.select(columns or ("metric", "step", "value")).rows()


def settings_of(tables: Tables) -> dict[str, float | None]:
    return dict(tables.config.select("key", "number").rows())


def state(**fields: object) -> dict[str, object]:
    """A trainer state in the shape Hugging Face's Trainer saves."""
    history = [
        {"epoch": 0.5, "grad_norm": math.nan, "learning_rate": 1e-4, "loss": 2.5, "step": 10},
        {"epoch": 1.0, "eval_loss": 2.25, "eval_runtime": 1.5, "step": 20},
        {"epoch": 1.0, "step": 20, "total_flos": 1e12, "train_loss": 2.4, "train_runtime": 9.0},
    ]
    return {
        "best_metric": None,
        "epoch": 1.0,
        "global_step": 20,
        "is_world_process_zero": True,
        "log_history": history,
    } | fields


def test_an_object_a_line(tmp_path):
    """Nested names are joined, lists by position; NaN and infinities are values; truth values and texts are none."""
    text = (
        '{"iteration": 19, "loss": NaN, "bbox": {"AP": 1.5, "all": [0.5, -Infinity]}, "ok": true, "note": "x"}\n'
        '{"iteration": 39, "loss": 1, "lr": null}\n'
    )
    tables = read(file(tmp_path, text))

    assert [(m, s, repr(v), n) for m, s, v, n in rows(tables, "metric", "step", "value", "line")] == [
        ("loss", 19, "nan", 1),
        ("bbox/AP", 19, "1.5", 1),
        ("bbox/all/0", 19, "0.5", 1),
        ("bbox/all/1", 19, "-inf", 1),
        ("loss", 39, "1.0", 2),
    ]
    assert tables.points.schema == SCHEMAS["points"]
    assert tables.gaps.height == 0


def test_broken_lines_are_gaps(tmp_path):
    """A line that is no object costs itself, with its place; what a line begins with is kept."""
    text = '{"step":0,"a":1}\n"oop\n[1]\n{"step":1,"a":2}{"step":2,"a":3}\n{"step":3,"a":4} x\n{"step":4,"a":'
    tables = read(file(tmp_path, text, "metrics.jsonl"))

    assert rows(tables) == [("a", 0, 1.0), ("a", 1, 2.0), ("a", 2, 3.0), ("a", 3, 4.0)]
    assert rows(tables, "line") == [(1,), (4,), (4,), (5,)]
    assert tables.gaps.select("offset", "bytes", "why").rows() == [
        (17, 8, "not a JSON object in line 2 to 3"),
        (76, 1, "not a JSON object in line 5"),
        (78, 14, "the file ends inside a record in line 6"),
    ]


def test_mode_parts_train_from_val(tmp_path):
    """Old mmcv logs: `mode` goes before the name and the in-epoch `iter` goes on."""
    text = (
        '{"env_info": "x"}\n{"mode":"train","epoch":1,"iter":50,"loss":3}\n'
        '{"mode":"train","epoch":1,"iter":100,"loss":2}\n'
        '{"mode":"val","epoch":1,"iter":20,"mAP":0.5}\n{"mode":"train","epoch":2,"iter":50,"loss":1}\n'
    )
    tables = read(file(tmp_path, text, "20240101.log.json"))

    assert rows(tables) == [
        ("train/loss", 50, 3.0),
        ("train/loss", 100, 2.0),
        ("val/mAP", 20, 0.5),
        ("train/loss", 150, 1.0),
    ]


def test_ray_tune_results(tmp_path):
    """Ray repeats its settings in every row: they are configuration, told once."""
    row = {
        "training_iteration": 1,
        "episode_reward_mean": 5.5,
        "timestamp": 1700000000,
        "config": {"lr": 1e-4, "env": "x"},
    }
    text = "".join(json_module.dumps(row | {"training_iteration": i}) + "\n" for i in (1, 2))
    tables = read(file(tmp_path, text, "result.json"))

    assert rows(tables) == [("episode_reward_mean", 1, 5.5), ("episode_reward_mean", 2, 5.5)]
    assert tables.points["time"].to_list() == [datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)] * 2
    assert settings_of(tables) == {"lr": 1e-4, "env": None}


def test_ray_counts_its_rows_beside_the_steps(tmp_path):
    """Where environment steps are the axis the number of a result is no metric; a restart changes nothing."""
    first = {"timesteps_total": 4000, "training_iteration": 1, "iterations_since_restore": 1, "loss": 2.0}
    then = {"timesteps_total": 8000, "training_iteration": 2, "iterations_since_restore": 1, "loss": 1.0}
    path = file(tmp_path, "".join(json_module.dumps(row) + "\n" for row in (first, then)), "result.json")

    assert rows(read(path)) == [("loss", 4000, 2.0), ("loss", 8000, 1.0)]


def test_media_and_long_lists_are_left_out(tmp_path):
    """W&B's media and lists longer than a metric has parts are no metrics: one gap counts them."""
    row = {"_step": 3, "loss": 1.0, "h": {"_type": "histogram", "values": [1, 2]}, "image": list(range(100))}
    tables = read(file(tmp_path, json_module.dumps(row) + "\n", "history.jsonl"))

    assert rows(tables) == [("loss", 3, 1.0)]
    assert tables.gaps["why"].to_list() == ["2 values are media, or lists longer than 64, the first 'h'"]


def lines(*records: dict[str, object]) -> str:
    return "".join(json_module.dumps(record) + "\n" for record in records)


def test_wandb_events(tmp_path):
    """Old W&B's measurements of the machine are named as in its run files; they have a time and no step."""
    row = {"system.cpu": 12.5, "system.gpu.0.temp": 50.0, "_runtime": 15.0}
    measured = [row | {"_timestamp": 1700000000 + i} for i in (0, 15)]
    tables = read(file(tmp_path, lines(*measured), "wandb-events.jsonl"))

    assert rows(tables) == [("system/cpu", None, 12.5), ("system/gpu.0.temp", None, 50.0)] * 2
    assert tables.points["time"].null_count() == 0


def test_detr(tmp_path):
    """DETR's log.txt: an epoch a row, a list of results by position."""
    records = [{"train_loss": 3.5 - e, "test_bbox": [0.25, 0.5], "epoch": e, "n_parameters": 41} for e in range(2)]
    path = file(tmp_path, lines(*records), "log.txt")

    assert json_reader.sniff(path, path.read_bytes()) == 0.95
    assert rows(read(path)) == [
        *[("train_loss", 0, 3.5), ("test_bbox/0", 0, 0.25), ("test_bbox/1", 0, 0.5), ("n_parameters", 0, 41.0)],
        *[("train_loss", 1, 2.5), ("test_bbox/0", 1, 0.25), ("test_bbox/1", 1, 0.5), ("n_parameters", 1, 41.0)],
    ]


def test_mmengine(tmp_path):
    """In scalars.json of mmengine `step` counts and `iter` stays a metric; results have the epoch for a step."""
    train = {"lr": 0.5, "loss": 1.5, "epoch": 1, "iter": 50, "memory": 300, "step": 50}
    tables = read(file(tmp_path, lines(train, {"coco/bbox_mAP": 0.5, "step": 1}), "scalars.json"))

    assert rows(tables) == [
        *[("lr", 50, 0.5), ("loss", 50, 1.5), ("iter", 50, 50.0), ("memory", 50, 300.0)],
        ("coco/bbox_mAP", 1, 0.5),
    ]


def test_detectron2(tmp_path):
    """detectron2's metrics.json: `iteration` counts; `time` holds durations and is a metric."""
    tables = read(file(tmp_path, lines({"iteration": 19, "time": 0.25, "eta_seconds": 9.5}), "metrics.json"))

    assert rows(tables) == [("time", 19, 0.25), ("eta_seconds", 19, 9.5)]


def test_words_as_python_prints_them(tmp_path):
    """A hand-made line has `nan` and `inf` in lower case; such words in a text stay."""
    text = '{"step":1,"loss":0.5}\n{"step":2,"loss":nan,"g":[inf, -inf],"s":"a: nan,"}\n'

    assert [(m, s, repr(v)) for m, s, v in rows(read(file(tmp_path, text)))] == [
        ("loss", 1, "0.5"),
        ("loss", 2, "nan"),
        ("g/0", 2, "inf"),
        ("g/1", 2, "-inf"),
    ]


def test_numbers_as_texts(tmp_path):
    """Words for non-finite values and decimal texts are numbers, other texts are not."""
    text = '{"step":1,"a":"NaN","b":"-Infinity","c":"0.5","d":"123","e":"1e5f0"}\n{"step":2}\n'
    tables = read(file(tmp_path, text))

    assert [(m, repr(v)) for m, _, v in rows(tables)] == [("a", "nan"), ("b", "-inf"), ("c", "0.5")]


def test_trainer_state(tmp_path):
    """The history is points; the run's totals and the state's own fields are configuration."""
    tables = read(file(tmp_path, json_module.dumps(state(), indent=2), "trainer_state.json"))

    assert [(m, s, e, repr(v)) for m, s, e, v in rows(tables, "metric", "step", "epoch", "value")] == [
        ("grad_norm", 10, 0.5, "nan"),
        ("learning_rate", 10, 0.5, "0.0001"),
        ("loss", 10, 0.5, "2.5"),
        ("eval_loss", 20, 1.0, "2.25"),
        ("eval_runtime", 20, 1.0, "1.5"),
    ]
    facts = settings_of(tables)
    assert facts["trainer_state.train_loss"] == 2.4
    assert facts["trainer_state.global_step"] == 20.0
    assert "trainer_state.best_metric" in facts
    assert tables.points["line"].null_count() == 5


def test_trainer_state_that_breaks_off(tmp_path):
    """The intact entries are read, the rest is one gap."""
    text = json_module.dumps(state())
    cut = text.index('"eval_loss"')
    tables = read(file(tmp_path, text[:cut], "trainer_state.json"))

    assert rows(tables, "metric") == [("grad_norm",), ("learning_rate",), ("loss",)]
    begin = text.index('{"epoch": 1.0')
    assert tables.gaps.rows() == [("trainer_state.json", begin, cut - begin, "broken JSON after 1 entries")]


def test_list_of_objects(tmp_path):
    """A list of objects reads like lines without numbers."""
    tables = read(file(tmp_path, '[\n {"epoch": 0, "loss": 2},\n {"epoch": 1, "loss": 1.5}\n]', "history.json"))

    assert rows(tables, "metric", "step", "epoch", "value") == [("loss", 0, 0.0, 2.0), ("loss", 1, 1.0, 1.5)]


def test_keras_history(tmp_path):
    """Lists of numbers by metric are a table by index; what stands beside them is configuration."""
    history = {"loss": [3, 2.5], "val": {"loss": [math.nan, 2.0]}, "best_epoch": 1}
    tables = read(file(tmp_path, json_module.dumps(history), "history.json"))

    assert [(m, s, repr(v)) for m, s, v in rows(tables)] == [
        ("loss", 0, "3.0"),
        ("val/loss", 0, "nan"),
        ("loss", 1, "2.5"),
        ("val/loss", 1, "2.0"),
    ]
    assert settings_of(tables) == {"history.best_epoch": 1.0}


@pytest.mark.parametrize(
    ("name", "text", "metrics", "settings"),
    [
        ("metrics.json", '{"iteration": 1, "loss": 2}\n{"iteration": 2, "loss": 2}\n', 0.95, 0.0),
        ("metrics.json", '{"iteration": 1, "loss": 2}\n', 0.95, 0.0),
        ("log.txt", '{"epoch": 1, "train_loss": 2}\n', 0.95, 0.0),
        ("app.jsonl", '{"msg": "x"}\n{"msg": "y"}\n', 0.3, 0.0),
        ("trainer_state.json", json_module.dumps(state()), 1.0, 0.0),
        ("history.json", '{"acc": [1, 2, 3]}', 0.8, 0.0),
        ("history.json", '{"loss": [1, 2, 3]}', 0.95, 0.0),
        ("x.json", '{"lr": 1, "log": [' + '{"epoch": 1, "acc": 2}, ' * 3 + "{}]}", 0.0, 0.5),
        ("x.json", '{"lr": 1, "log": [' + ", ".join('{"epoch": 1, "acc": 2}' for _ in range(3)) + "]}", 0.95, 0.0),
        ("x.json", '{"step": [1, 2, 3], "loss": [3, 2, 1]}', 0.95, 0.0),
        ("history.json", '{"loss": [' + "1.5, " * 20_000, 0.95, 0.0),
        ("history.json", '[{"loss": 1}]', 0.7, 0.0),
        ("wandb-summary.json", '{"_step": 1, "loss": 2}', 0.0, 0.0),
        ("config.json", '{"betas": [0.9, 0.999]}', 0.0, 0.8),
        ("all_results.json", '{"eval_loss": 1}', 0.0, 0.6),
        ("x.json", '{\n "a": 1\n}\n', 0.0, 0.5),
        ("slurm.out", "[2024-01-01] step 1 loss 2\n", 0.0, 0.0),
        ("x.json", "", 0.0, 0.0),
    ],
)
def test_sniff(tmp_path, name, text, metrics, settings):
    """Metrics and settings are told apart by their shape: no file is claimed by both readers."""
    head = text.encode()[: 1 << 16]

    assert json_reader.sniff(tmp_path / name, head) == metrics
    assert reader.sniff(tmp_path / name, head) == settings


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, '{"step": 1, "a": ' + "9" * 5000 + "}", '{"a": "\\ud800"}']
)
def test_hostile_json(tmp_path, text):
    """Endless nesting, numbers of thousands of digits and half surrogates end in a gap or in nothing."""
    for name in ("metrics.json", "metrics.jsonl", "trainer_state.json"):
        path = file(tmp_path, text, name)
        assert 0.0 <= json_reader.sniff(path, text.encode()[: 1 << 16]) <= 1.0
        assert read(path).points.height == 0


KEY = st.text(max_size=8).filter(lambda k: k not in ("step", "config", "_type"))
FLOAT = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.dictionaries(st.sampled_from(["a", "b/c", "größe", "d e"]), FLOAT, min_size=1), min_size=1, max_size=20)
)
def test_values_round_trip(tmp_path, records):
    """What json.dumps writes, NaN and Infinity among it, comes back bit for bit and in order."""
    text = "".join(json_module.dumps({"step": i} | record) + "\n" for i, record in enumerate(records))
    tables = read(file(tmp_path, text, "metrics.jsonl"))

    expected = [(key, i, repr(value)) for i, record in enumerate(records) for key, value in record.items()]
    assert [(m, s, repr(v)) for m, s, v in rows(tables)] == expected


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOAT | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEY, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    data=st.lists(st.dictionaries(KEY, NESTED, max_size=4), max_size=4), cut=st.integers(0, 400), lines=st.booleans()
)
def test_never_raises(tmp_path, data, cut, lines):
    """Whatever the objects, and wherever the file breaks off, sniffing and reading end."""
    text = "\n".join(map(json_module.dumps, data)) if lines else json_module.dumps(data)
    path = file(tmp_path, text.encode()[:cut], "metrics.jsonl" if lines else "metrics.json")

    assert 0.0 <= json_reader.sniff(path, path.read_bytes()) <= 1.0
    read(path)


def test_corpus_metrics_match_their_labels():
    """Every JSON log of the corpus is read whole, with the metrics its label lists."""
    if not CORPUS.exists():
        pytest.skip("no corpus here")
    for row in csv.DictReader((CORPUS / "labels.csv").open()):
        if row["format"] == "detectron2-json":
            tables = read(next((CORPUS / row["run_path"]).rglob("metrics.json")))
            named = {name for name in row["metrics"].split(";") if not name.startswith("... (")}
            assert named <= set(tables.points["metric"])
            assert tables.gaps.height == 0
            nan = set(tables.points.filter(pl.col("value").is_nan())["metric"])
            assert nan == {"bbox/APl", "bbox/APm", "bbox/AP-Objects"}
        elif row["format"] == "hf-trainer-state":
            tables = read(CORPUS / row["read_first"])
            assert rows(tables)[:3] == [
                ("grad_norm", 10, 47.77210235595703),
                ("learning_rate", 10, 0.00016),
                ("loss", 10, 8.3368),
            ]
            assert tables.points.height == 12


SPELLINGS = (
    "1", "-0", "-0.0", "0.1", "1e400", "-1E+400", "5e-324", "9007199254740993", "123456789012345678901234567890",
    "0.30000000000000004", "NaN", "Infinity", "-Infinity", '"NaN"', '"-Infinity"', '"1.5"', "true", "false", "null",
    "[]", "[1, 2.5]", '{"a": 1.5, "b": {"c": -0.0}}', '"word"', '{"_type": "image"}', "1" * 400,
)  # fmt: skip


@pytest.mark.parametrize("value", SPELLINGS, ids=lambda v: v[:24])
def test_every_spelling_of_a_value(tmp_path: Path, value: str) -> None:
    """A value reads the same to the bit in a plain line and in one with blanks around or a second object behind."""
    found = []
    for line in (f'{{"x": {value}, "step": 3}}', f' {{"x": {value}, "step": 3}} ', f'{{"x": {value}, "step": 3}}{{}}'):
        path = tmp_path / "metrics.jsonl"
        path.write_text(f'{{"loss": 1.0, "step": 1}}\n{line}\n{{"loss": 2.0, "step": 4}}\n')
        points = Tables.concat(json_reader.read(path)).points.filter(pl.col("metric") != "loss")
        found.append(
            [(m, s, "nan" if v != v else v.hex()) for m, s, v in points["metric", "step", "value"].iter_rows()]
        )
    expected = json_module.loads(value)

    assert found[0] == found[1] == found[2]
    if isinstance(expected, float):
        assert found[0] == [("x", 3, "nan" if expected != expected else expected.hex())]


def test_a_number_called_config_beside_settings(tmp_path: Path) -> None:
    """Where rows repeat their settings under `config`, a number there is no metric; elsewhere it is one."""
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "config": 0.5, "loss": 1.5}\n{"step": 2, "loss": 2.5}\n')
    alone = Tables.concat(json_reader.read(path)).points["metric"].to_list()
    path.write_text('{"step": 1, "config": 0.5, "loss": 1.5}\n{"step": 2, "config": {"lr": 1.0}, "loss": 2.5}\n')

    assert alone == ["config", "loss", "loss"]
    assert Tables.concat(json_reader.read(path)).points["metric"].to_list() == ["loss", "loss"]


def test_gap_in_latin_1(tmp_path):
    """Where a file is Latin-1 a gap still counts the file's own bytes."""
    path = tmp_path / "metrics.jsonl"
    rows = ['{"step": 1, "note": "éé", "loss": 1.5}', "ééé", '{"step": 2, "loss": 0.5}', ""]
    path.write_bytes("\n".join(rows).encode("latin-1"))

    assert read(path).gaps.select("offset", "bytes").rows() == [(39, 3)]

    path = tmp_path / "array.json"
    path.write_bytes('[{"step": 1, "note": "é", "loss": 1.5}, éé'.encode("latin-1"))

    assert read(path).gaps.select("offset", "bytes").rows() == [(40, 2)]


def test_a_damaged_time_changes_no_other(tmp_path):
    """A text among the numbers of a time column is not known; the others keep theirs."""
    times = ["2023-1", *(1_700_000_000 + i for i in range(1, 30))]
    found = read(file(tmp_path, lines(*({"step": i, "time": t, "loss": 0.5} for i, t in enumerate(times)))))
    start = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)

    assert rows(found, "metric", "time") == [("loss", start + timedelta(seconds=i) if i else None) for i in range(30)]


@pytest.mark.parametrize(
    "content",
    [
        '{"train": [0.5, 0.6, 0.75], "test": [0.25, 0.5, 0.5]}',
        '[{"epoch": 0, "train": 0.5, "test": 0.25}, {"epoch": 1, "train": 0.6, "test": 0.5},'
        ' {"epoch": 2, "train": 0.75, "test": 0.5}]',
        '{"epoch": 0, "train": 0.5, "test": 0.25}\n{"epoch": 1, "train": 0.6, "test": 0.5}\n'
        '{"epoch": 2, "train": 0.75, "test": 0.5}\n',
    ],
)
def test_names_of_data_get_the_measure_of_the_file(tmp_path, content):
    path = tmp_path / "accuracy_history.json"
    path.write_text(content)
    points = Tables.concat(json_reader.read(path)).points.sort("metric", "step")

    assert points.select("metric", "value").rows() == [
        *(("test/accuracy", value) for value in (0.25, 0.5, 0.5)),
        *(("train/accuracy", value) for value in (0.5, 0.6, 0.75)),
    ]
