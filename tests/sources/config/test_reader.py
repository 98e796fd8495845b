"""Settings of a run from YAML, JSON and TOML: values as written, and no file that does harm."""

import argparse
import json
import math
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.model import SCHEMAS, Tables
from loganalyst.sources.config import reader

CORPUS = Path(__file__).parents[3] / "../shared/corpus/runs"


def read(tmp_path: Path, text: str | bytes, name: str = "config.yaml") -> Tables:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return Tables.concat(reader.read(path))


def rows(tables: Tables) -> list[tuple[str, str, float | None]]:
    return tables.config.select("key", "value", "number").rows()


def test_keys_are_dotted_and_numbers_numbers(tmp_path):
    """Nested keys, list items by position; truth values and null have no number, texts that are numbers have one."""
    text = "lr: 1e-4\noptim:\n  betas: [0.9, 0.999]\n  fused: true\nseed: null\nclip: .inf\nname: run\nempty: {}\n"
    tables = read(tmp_path, text + "day: 2024-01-01\n")

    assert rows(tables) == [
        ("lr", "1e-4", 1e-4),
        ("optim.betas.0", "0.9", 0.9),
        ("optim.betas.1", "0.999", 0.999),
        ("optim.fused", "true", None),
        ("seed", "null", None),
        ("clip", "inf", math.inf),
        ("name", "run", None),
        ("empty", "{}", None),
        ("day", "2024-01-01", None),
    ]
    assert tables.config.schema == SCHEMAS["config"]
    assert set(tables.config["origin"]) == {"config.yaml"}
    assert tables.gaps.height == 0


def test_what_lightning_saves(tmp_path):
    """hparams.yaml as Lightning writes it, with objects in it: tags build nothing, their parts are kept."""
    pytest.importorskip("lightning")
    from lightning.pytorch.core.saving import save_hparams_to_yaml

    save_hparams_to_yaml(
        tmp_path / "hparams.yaml",
        {"lr": 0.02, "path": Path("data"), "args": argparse.Namespace(bs=8), "act": math.sqrt, "size": (1, 2)},
    )
    tables = Tables.concat(reader.read(tmp_path / "hparams.yaml"))

    found = dict(tables.config.select("key", "number").rows())
    assert found["lr"] == 0.02
    assert found["args.bs"] == 8.0
    assert (found["size.0"], found["size.1"]) == (1.0, 2.0)
    assert any(key.startswith("path") for key in found)
    assert tables.gaps.height == 0


def test_tags_build_nothing(tmp_path):
    """A tag that would run code in an unsafe loader is ignored, its text kept."""
    marker = tmp_path / "ran"
    text = f"a: !!python/object/apply:os.system ['touch {marker}']\nb: !custom 5\nc: !!python/name:math.sqrt ''\n"

    assert rows(read(tmp_path, text)) == [("a.0", f"touch {marker}", None), ("b", "5", 5.0), ("c", "", None)]
    assert not marker.exists()


def test_wandb_config(tmp_path):
    """W&B wraps each value; of its own facts three are kept."""
    text = (
        "wandb_version: 1\n_wandb:\n  desc: null\n"
        "  value:\n    cli_version: 0.14.0\n    t: {1: [1, 2]}\n    python_version: 3.8.5\n"
        "lr:\n  desc: null\n  value: 0.1\nopt:\n  value: {name: adam}\n"
    )

    assert rows(read(tmp_path, text)) == [
        ("lr", "0.1", 0.1),
        ("opt.name", "adam", None),
        ("_wandb.cli_version", "0.14.0", None),
        ("_wandb.python_version", "3.8.5", None),
    ]


def test_json_and_toml(tmp_path):
    """One JSON object and TOML read alike; result files keep their name before their keys."""
    assert rows(read(tmp_path, '{"a": {"b": 1}, "c": false}', "args.json")) == [("a.b", "1", 1.0), ("c", "false", None)]
    assert rows(read(tmp_path, "lr = 0.5\n[model]\nwidth = 64\n", "config.toml")) == [
        ("lr", "0.5", 0.5),
        ("model.width", "64", 64.0),
    ]
    assert rows(read(tmp_path, '{"train_loss": 2.5}', "train_results.json")) == [
        ("train_results.train_loss", "2.5", 2.5)
    ]


def test_wandb_metadata(tmp_path):
    """The machine's facts without the person's."""
    text = json.dumps(
        {"host": "node1", "email": "a@b", "username": "c", "cpu_freq_per_core": [1], "slurm": {"job_id": "7"}}
    )

    assert rows(read(tmp_path, text, "wandb-metadata.json")) == [
        ("wandb-metadata.host", "node1", None),
        ("wandb-metadata.slurm.job_id", "7", 7.0),
    ]


def test_anchors_merges_and_documents(tmp_path):
    """Aliases are followed, `<<` fills in what is missing, several documents are one mapping."""
    text = "base: &b {lr: 1, bs: 2}\nrun:\n  <<: [*b, {x: 5}]\n  bs: 3\nsame: *b\n---\nlast: 4\n'<<': 6\n"

    assert rows(read(tmp_path, text)) == [
        ("base.lr", "1", 1.0),
        ("base.bs", "2", 2.0),
        ("run.lr", "1", 1.0),
        ("run.bs", "3", 3.0),
        ("run.x", "5", 5.0),
        ("same.lr", "1", 1.0),
        ("same.bs", "2", 2.0),
        ("last", "4", 4.0),
        ("<<", "6", 6.0),
    ]


def bomb(item: str) -> str:
    """Ten levels, each with nine aliases of the one before: 10**9 values."""
    return f"a0: &a0 {item}\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10))


MERGES = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}], k{i}: 1}}\n" for i in range(1, 2000)
)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("config.yaml", bomb("[x, y]"), "config refused: more than 20,000 values (a YAML alias bomb?)"),
        ("config.yaml", bomb("[]"), "config refused: more than 20,000 values (a YAML alias bomb?)"),
        ("config.yaml", MERGES, "config refused: too many values (a YAML alias bomb?)"),
        ("config.yaml", "a: &a [*a]", None),
        ("config.yaml", "a: &a [1, *a]", "config refused: nested too deeply"),
        ("config.yaml", "[" * 500_000, "config refused: nested deeper than 40"),
        ("config.yaml", "{a: " * 100, "config refused: nested deeper than 40"),
        ("config.yaml", "a: 1" + ":1" * 1_000_000, None),
        ("config.yaml", "- 1\n- 2\n", "no mapping in this YAML"),
        ("config.json", "[" * 500_000, "not one JSON object"),
        ("config.toml", "a=" + "[" * 500_000, "not valid TOML: maximum recursion depth exceeded"),
        ("config.toml", ".".join(["a"] * 200_000) + "=1", "config refused: a line with more than 1,000 dots"),
        ("config.toml", "a = 0x" + "f" * 5000, None),
        ("config.yaml", "#" * 5_000_001, "config refused: larger than 5 MB"),
        ("config.yaml", b"\xff\xfe\x00", None),
        ("config.yaml", "a: \x07", "not valid YAML"),
    ],
)
def test_hostile_files(tmp_path, name, text, why):
    """Bombs, endless nesting and rubbish end in one clear gap, not in an error or a long wait."""
    tables = read(tmp_path, text, name)

    if why is not None:
        assert [found[: len(why)] for found in tables.gaps["why"]] == [why]
        assert tables.config.height == 0


def test_broken_end_keeps_the_beginning(tmp_path):
    """What stands before a syntax error is read, the rest is a gap with its line."""
    tables = read(tmp_path, "lr: 0.1\nmodel:\n  depth: 4\n  bad: [1, 2\nnext: 3\n")

    assert rows(tables)[:2] == [("lr", "0.1", 0.1), ("model.depth", "4", 4.0)]
    assert tables.gaps.height == 1
    assert tables.gaps["why"][0].startswith("not valid YAML from line 5 on")


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("hparams.yaml", 0.8),
        ("config.yaml", 0.8),
        ("opt.yaml", 0.8),
        ("training_args.toml", 0.8),
        ("model_config.yml", 0.8),
        ("data.yaml", 0.5),
        ("loganalyst.yaml", 0.0),
        ("conda-environment.yaml", 0.0),
        ("config.txt", 0.8),
        ("notes.txt", 0.0),
        ("environment.txt", 0.0),
        ("darknet.cfg", 0.8),
        ("training_args.bin", 0.9),
    ],
)
def test_sniff(tmp_path, name, score):
    """Names that say settings are likely, other YAML plausible; the environment's and the tool's own are none."""
    assert reader.sniff(tmp_path / name, b"a: 1\n") == score


def test_options_as_text(tmp_path):
    """Lines of name and value however they are parted, CycleGAN's marks of defaults, a printed Namespace."""
    text = "----- Options -----\n  batch_size: 1   \t[default: 4]\n name: a b\n--lr=0.1\n seed ..... 3\n gpu:\n----\n"

    assert rows(read(tmp_path, text, "train_opt.txt")) == [
        ("batch_size", "1", 1.0),
        ("name", "a b", None),
        ("lr", "0.1", 0.1),
        ("seed", "3", 3.0),
        ("gpu", "", None),
    ]
    assert rows(read(tmp_path, "Namespace(lr=0.1, act='relu',\n  sizes=[1, 2])\n", "args.txt")) == [
        ("lr", "0.1", 0.1),
        ("act", "relu", None),
        ("sizes", "[1, 2]", None),
    ]
    assert read(tmp_path, "Namespace(lr=0.1, act='re", "args.txt").gaps.height == 1
    assert "most lines" in read(tmp_path, "We trained\nfor long\nlr: 1\n", "params.txt").gaps["why"][0]


def test_ini(tmp_path):
    """Sections before their options; of one repeated the last counts; without a section lines of options."""
    text = "[DEFAULT]\nseed = 1\n[net]\nLR = 1e-4\nflag\n[net]\nLR = 1e-5\n"

    assert rows(read(tmp_path, text, "config.ini")) == [
        ("seed", "1", 1.0),
        ("net.LR", "1e-5", 1e-5),
        ("net.flag", "", None),
    ]
    assert rows(read(tmp_path, "lr = 2\n", "train.cfg")) == [("lr", "2", 2.0)]
    assert "not valid INI" in read(tmp_path, "[a]\n  = 3\n[", "config.ini").gaps["why"][0]


def test_damaged_ini(tmp_path):
    """A line that is none is told; the options around it are read, those of several lines too."""
    found = read(tmp_path, "[net]\nLR = 1e-4\n/x\npath = a\n  b\n\nflag\n = 3\n", "config.ini")

    assert rows(found) == [
        ("net.LR", "1e-4", 1e-4),
        ("net./x", "", None),
        ("net.path", "a\nb", None),
        ("net.flag", "", None),
    ]
    assert "not valid INI" in found.gaps["why"][0]


@pytest.mark.parametrize("name", ["args.txt", "train.ini"])
@pytest.mark.parametrize("filler", [" ", "a", "-", ".", "[default: ", "a ", "a="])
def test_long_lines_take_no_time(tmp_path, name, filler):
    """A line of a megabyte is looked at once, whatever it holds."""
    line = filler * (1_000_000 // len(filler))
    found = read(tmp_path, f"lr: 1 [default: 2]  \n{line}x\nseed: 2\nn: 3\n", name)
    with_section = read(tmp_path, f"[a]\nlr: 1\nn{line}x\nseed: 2\n", "train.ini")

    assert rows(found)[0] == ("lr", "1", 1.0)
    assert rows(with_section)[0] == ("a.lr", "1", 1.0)


def test_hydra(tmp_path):
    """The overrides as they were given, and of Hydra's own settings those of the job."""
    text = "- lr=0.1\n- 'model.act=relu'\n"
    own = "hydra:\n  run: {dir: x}\n  job: {name: train}\n  runtime: {version: 1.3.2}\n  help: {template: y}\n"

    assert rows(read(tmp_path, text, "overrides.yaml")) == [
        ("hydra.overrides.0", "lr=0.1", None),
        ("hydra.overrides.1", "model.act=relu", None),
    ]
    assert read(tmp_path, "[]\n", "overrides.yaml").gaps.height == 0
    assert [key for key, *_ in rows(read(tmp_path, own, "hydra.yaml"))] == ["hydra.job.name", "hydra.runtime.version"]


def test_environment(tmp_path):
    """SLURM's variables and others of a training are kept, a person's counted, secrets never stored."""
    text = (
        "SLURM_JOB_ID=17\nexport CUDA_VISIBLE_DEVICES='0,1'\nHOME=/home/me\nWANDB_API_KEY=abc123\nHF_TOKEN=hf_xyz\n"
        "WORLD_SIZE=8\nrubbish\nSLURM_JWT=eyJ\n"
    )
    found = read(tmp_path, text, "env.txt")

    assert rows(found) == [
        ("SLURM_JOB_ID", "17", 17.0),
        ("env.CUDA_VISIBLE_DEVICES", "0,1", None),
        ("env.WORLD_SIZE", "8", 8.0),
    ]
    assert found.gaps["why"].to_list() == ["variables left out: 3 that look like secrets, 1 of a user or a shell"]


def test_secrets_are_left_out_of_settings(tmp_path):
    """Keys, tokens and passwords by name, and URLs with a password; numbers and words that only sound alike stay."""
    text = (
        "wandb_api_key: abc\nhub_token: hf_x\ndb: {password: p, url: 'postgres://me:pw@host/db'}\ntoken: null\n"
        "max_tokens: 512\nkey_dim: 64\npad_token: <pad>\nurl: https://host/a\n"
    )
    found = {key: value for key, value, _ in rows(read(tmp_path, text))}

    assert [key for key, value in found.items() if "left out" in value] == [
        "wandb_api_key",
        "hub_token",
        "db.password",
        "db.url",
    ]
    assert found["pad_token"] == "<pad>"
    assert found["token"] == "null"


def test_a_pickle_is_never_opened(tmp_path):
    """It may run any code; where the same stands beside it as JSON (Ray) nothing is lost."""
    assert read(tmp_path, b"\x80\x04.", "training_args.bin").gaps["why"].to_list() == [
        "a pickle, which may run any code, is never opened"
    ]
    (tmp_path / "params.json").write_text("{}")
    assert read(tmp_path, b"\x80\x04.", "params.pkl").gaps.height == 0


LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
TREE = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=5), TREE, min_size=1, max_size=5))
def test_yaml_reads_like_the_library(tmp_path, data):
    """What PyYAML dumps gives the rows of what PyYAML reads."""
    from loganalyst.sources.files.flatten import leaves, number

    text = yaml.safe_dump(data, allow_unicode=True)
    tables = read(tmp_path, text)

    expected = [(key, repr(number(value))) for key, value in leaves(yaml.safe_load(text)) if key]
    assert sorted((key, repr(found)) for key, _, found in rows(tables)) == sorted(expected)
    assert tables.gaps.height == 0


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    data=st.binary(max_size=100) | st.text("ab:-[]{}&*!<>|'\"\n #1.", max_size=60).map(str.encode),
    kind=st.sampled_from(["yaml", "json", "toml"]),
)
def test_never_raises(tmp_path, data, kind):
    """Whatever the bytes, sniffing and reading end."""
    assert 0.0 <= reader.sniff(tmp_path / f"config.{kind}", data) <= 1.0
    read(tmp_path, data, f"config.{kind}")


def test_corpus_settings():
    """Every settings file of the corpus is read without a gap."""
    if not CORPUS.exists():
        pytest.skip("no corpus here")
    paths = [path for ending in ("yaml", "yml", "json") for path in CORPUS.rglob(f"*.{ending}")]
    claimed = [path for path in paths if reader.sniff(path, path.read_bytes()[: 1 << 16]) > 0]
    assert len(claimed) >= 30
    for path in claimed:
        tables = Tables.concat(reader.read(path))
        assert tables.config.height > 0, path
        assert tables.gaps.height == 0, path


@pytest.mark.parametrize("text", ["", "\n", "{}\n"])
def test_no_settings_are_nothing_unread(tmp_path, text):
    """Lightning writes an empty mapping where a model has no settings."""
    (tmp_path / "hparams.yaml").write_text(text)
    tables = Tables.concat(reader.read(tmp_path / "hparams.yaml"))

    assert (tables.config.height, tables.gaps.height) == (0, 0)
