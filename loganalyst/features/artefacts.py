"""Features of files that the config names and that are not there: checkpoints to start from, data, logs."""

import os
import re
from pathlib import Path

from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature, Witness

FEATURES = (
    Feature("artefact_named_count", "int", "files", "input files and folders that the config names", "config"),
    Feature("artefact_missing_count", "int", "files", "input files and folders that the config names and that do not exist (0 = all exist)", "config"),
    Feature("artefact_missing_path", "text", "", "path of the first missing one", "config"),
    Feature("artefact_missing_key", "text", "", "setting that names it", "config"),
)  # fmt: skip
_INPUTS = re.compile(
    r"(resume|restore|load|init|warm_?start)(_from)?(_(checkpoint|ckpt|path|file|weights))*|(checkpoint|ckpt|weights|model|pretrained)"
    r"(_path|_file)?|best_model(_path)?|(train|val|valid|validation|test|eval|data|dataset)_(file|path)"
)
_LOGS = re.compile(r"(log|logs|logging|tensorboard|metrics|history)(_(dir|file|path))?")
_SUFFIXES = (".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".npz", ".npy", ".h5", ".pkl", ".csv", ".json", ".jsonl", ".parquet", ".log", ".txt", ".out")  # fmt: skip
UP = 3  # folders above the run that a path may be relative to


def compute(context: Context) -> Computed:
    """All of FEATURES; not known without a config, and of places on another machine nothing is said."""
    run = context.run
    if not run.config.height or run.given:  # of an anonymous run the disk is another one
        return {}
    rows = run.config.select("key", "value", "origin").rows()
    named = [(key, value, origin) for key, value, origin in rows if value and _names(key.lower(), value)]
    judged = [(row, there) for row in named if (there := _there(run.path, row[1])) is not None]
    lost = [row for row, there in judged if not there]
    out: Computed = {"artefact_named_count": len(judged), "artefact_missing_count": len(lost)}
    if lost:
        key, value, origin = lost[0]
        witness = Witness(file=origin)
        out |= {
            "artefact_missing_count": (len(lost), witness),
            "artefact_missing_path": (value, witness),
            "artefact_missing_key": (key, witness),
        }
    return out


def _names(key: str, value: str) -> bool:
    """Whether a setting names a file or a folder that has to be there."""
    last = key.rpartition(".")[2]
    if "://" in value or "\n" in value or len(value) > 1000:
        return False
    plain = value.startswith(("/", "./", "../")) or value.lower().endswith(_SUFFIXES)
    if _LOGS.fullmatch(last):
        return plain or "/" in value
    return plain and _INPUTS.fullmatch(last) is not None


def _there(run: Path, value: str) -> bool | None:
    """Whether the path is there, as it stands or below the run or a folder above it; None where its root is not."""
    if os.path.isabs(value):
        root = os.sep.join(value.split(os.sep)[:2])
        return os.path.exists(value) if os.path.exists(value) or os.path.isdir(root) else None
    folders = [run.absolute(), *list(run.absolute().parents)[:UP]]
    return any(os.path.exists(folder / value) for folder in folders)
