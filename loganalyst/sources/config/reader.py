"""Settings of a run as rows with dotted keys.

Formats: YAML (Lightning's hparams, Hydra, W&B's config), JSON, TOML, INI, literals in Python and printed options. The
files are not trusted: no tag builds an object, aliases are not multiplied, no program is run, pickles are not opened,
and secrets are left out. Size, depth and the number of values are bounded.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from loganalyst.model import Tables
from loganalyst.opening import whole
from loganalyst.sources.config import plaintexts, pythonsettings, secrets
from loganalyst.sources.files.flatten import TooLargeError, config_of, config_table
from loganalyst.sources.files.lineblocks import binary, gap, text
from loganalyst.sources.tables.jsonshape import parse_json, settings_name, shape

NAME = "config"

MAX_BYTES = 5_000_000  # no settings are larger
_MAX_ITEMS = 20_000  # of a plain text
_MAX_DOTS = 1000  # in a line of TOML: a dotted key takes quadratic time and memory
_OTHERS = re.compile(  # not settings: environments, vocabularies, files of another reader, our own file
    r"wandb-summary\.json|loganalyst\.ya?ml|conda.*\.ya?ml|environment\.ya?ml|pyproject\.toml|tokenizer.*\.json"
    r"|.*vocab\.json|special_tokens_map\.json|added_tokens\.json|.*\.index\.json|package(-lock)?\.json"
)
# all_results.json, eval_results.json
_RESULTS = re.compile(r"(all|train|eval|test|predict)_results\.json|wandb-metadata\.json")
_HYDRA = ("job", "runtime", "sweep", "launcher")  # kept of hydra.yaml; the rest configures Hydra's own output
_WANDB = {"python_version", "framework", "cli_version"}  # kept of W&B's own facts
_LEFT_OUT = {"cpu_freq", "cpu_freq_per_core", "disk", "email", "username"}  # of W&B's metadata


def sniff(path: Path, head: bytes) -> float:
    """How sure it is that the file holds settings: by its name; JSON must be one object without metrics."""
    name, kind = path.name.lower(), path.suffix.lower()
    if plaintexts.PICKLES.fullmatch(name):
        return 0.9
    opening = text(head)
    if _plain_text(name) and not binary(head):
        return 0.8 if kind != ".txt" or plaintexts.dump(name, opening).items else 0.0
    if _OTHERS.fullmatch(name) or binary(head) or kind not in {".yaml", ".yml", ".json", ".toml", ".py"}:
        return 0.0
    if (kind == ".json" and shape(path, opening) != "object") or (kind == ".py" and not pythonsettings.likely(opening)):
        return 0.0
    if settings_name(path):
        return 0.8
    return 0.6 if _RESULTS.fullmatch(name) else 0.5


def read(path: Path) -> Iterator[Tables]:
    """The `config` rows, and a gap row if the file is refused or broken."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        yield Tables(gaps=gap(path, f"config refused: larger than {MAX_BYTES // 1_000_000} MB", 0, size))
        return
    if plaintexts.PICKLES.fullmatch(path.name.lower()):
        if not path.with_suffix(".json").is_file():  # Ray writes the same settings as JSON
            yield Tables(gaps=gap(path, "a pickle, which may run any code, is never opened", 0, size))
        return
    found, why = _settings_in(path, text(whole(path)))
    yield replace(found, config=secrets.masked(found.config))
    if why:
        yield Tables(gaps=gap(path, why))


def _plain_text(name: str) -> bool:
    return name.endswith((".ini", ".cfg")) or bool(plaintexts.DUMPS.fullmatch(name))


def _settings_in(path: Path, content: str) -> tuple[Tables, str]:
    """The settings in a file, and its fault (empty: none)."""
    name = path.name.lower()
    if _plain_text(name):
        items, why = plaintexts.ini(content) if name.endswith((".ini", ".cfg")) else plaintexts.dump(name, content)
        return Tables(config=config_table(items[:_MAX_ITEMS], path.name)), why
    if name == "overrides.yaml":
        items = [(f"hydra.overrides.{i}", item) for i, item in enumerate(plaintexts.overrides(content)[:_MAX_ITEMS])]
        return Tables(config=config_table(items, path.name)), ""
    try:
        data, why = _parsed(path, content)
    except TooLargeError as error:
        data, why = {}, f"config refused: {error}"
    prefix = f"{path.stem}." if _RESULTS.fullmatch(name) else ""
    return config_of(_run_settings(path, data), path, prefix=prefix), why


def _parsed(path: Path, content: str) -> tuple[dict[str, Any], str]:
    """The data in a file, and its fault (empty: none)."""
    if path.suffix.lower() == ".toml":
        if any(line.count(".") > _MAX_DOTS for line in content.split("\n")):
            raise TooLargeError(f"a line with more than {_MAX_DOTS:,} dots")
        try:
            return tomllib.loads(content), ""
        except (ValueError, RecursionError) as error:
            return {}, f"not valid TOML: {error}"[:200]
    if path.suffix.lower() == ".py":
        data, fault = pythonsettings.assignments(content)
        return data, fault or ("" if data else "no literal is assigned in this Python file")
    if path.suffix.lower() == ".json":
        data = parse_json(content)
        return (data, "") if isinstance(data, dict) else ({}, "not one JSON object")
    from loganalyst.sources.config import yamltree  # the YAML library takes 25 ms; many runs have no such file

    tree, broken = yamltree.parse(content)
    if broken is not None:
        mark = getattr(broken, "problem_mark", None)
        at = f" from line {mark.line + 1} on" if mark else ""
        return tree, f"not valid YAML{at}: {getattr(broken, 'problem', broken)}"
    empty = content.split() in ([], ["{}"])  # Lightning writes this if a model has no settings
    return tree, "" if tree or empty else "no mapping in this YAML"


def _run_settings(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    """The part that is the run's settings. W&B wraps each setting in {desc, value} and adds its own facts."""
    if path.name == "wandb-metadata.json":
        return {key: value for key, value in data.items() if key not in _LEFT_OUT}
    if path.name == "hydra.yaml" and isinstance(own := data.get("hydra"), dict):
        return {"hydra": {key: own[key] for key in _HYDRA if key in own}}
    wrapped = {key: value for key, value in data.items() if key != "wandb_version"}
    if not wrapped or not all(
        isinstance(v, dict) and "value" in v and v.keys() <= {"desc", "value"} for v in wrapped.values()
    ):
        return data
    plain = {key: value["value"] for key, value in wrapped.items()}
    own = plain.pop("_wandb", None)
    facts = {key: own[key] for key in own if key in _WANDB} if isinstance(own, dict) else {}
    return plain | ({"_wandb": facts} if facts else {})
