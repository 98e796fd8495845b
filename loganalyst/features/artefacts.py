"""Features of input files that the config names and that do not exist: checkpoints to start from, data, logs."""

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
# keys of files that are read: "resume_from_checkpoint", "init_weights", "train_file", "best_model_path"
_INPUTS = re.compile(
    r"(resume|restore|load|init|warm_?start)(_from)?(_(checkpoint|ckpt|path|file|weights))*|(checkpoint|ckpt|weights|model|pretrained)"
    r"(_path|_file)?|best_model(_path)?|(train|val|valid|validation|test|eval|data|dataset)_(file|path)"
)
# keys of logs: "log_dir", "tensorboard_dir", "metrics_file"
_LOGS = re.compile(r"(log|logs|logging|tensorboard|metrics|history)(_(dir|file|path))?")
_SUFFIXES = (".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".npz", ".npy", ".h5", ".pkl", ".csv", ".json", ".jsonl", ".parquet", ".log", ".txt", ".out")  # fmt: skip
MAX_PARENTS = 3  # levels above the run that a relative path may start from


def compute(context: Context) -> Computed:
    """All of FEATURES; not known without a config. Paths on another machine are not judged."""
    run = context.run
    if not run.config.height or run.given:  # an anonymous run comes from another disk
        return {}
    rows = run.config.select("key", "value", "origin").rows()
    named = [(key, value, origin) for key, value, origin in rows if value and _names_input(key.lower(), value)]
    checked = [(row, exists) for row in named if (exists := _exists(run.path, row[1])) is not None]
    missing = [row for row, exists in checked if not exists]
    out: Computed = {"artefact_named_count": len(checked), "artefact_missing_count": len(missing)}
    if missing:
        key, value, origin = missing[0]
        witness = Witness(file=origin)
        out |= {
            "artefact_missing_count": (len(missing), witness),
            "artefact_missing_path": (value, witness),
            "artefact_missing_key": (key, witness),
        }
    return out


def _names_input(key: str, value: str) -> bool:
    """Whether a setting names a file or folder that must exist."""
    last = key.rpartition(".")[2]
    if "://" in value or "\n" in value or len(value) > 1000:
        return False
    plain = value.startswith(("/", "./", "../")) or value.lower().endswith(_SUFFIXES)
    if _LOGS.fullmatch(last):
        return plain or "/" in value
    return plain and _INPUTS.fullmatch(last) is not None


def _exists(run: Path, value: str) -> bool | None:
    """Whether the path exists, as it is or relative to the run or a folder above it; None if its root is missing."""
    if os.path.isabs(value):
        root = os.sep.join(value.split(os.sep)[:2])
        return os.path.exists(value) if os.path.exists(value) or os.path.isdir(root) else None
    folders = [run.absolute(), *list(run.absolute().parents)[:MAX_PARENTS]]
    return any(os.path.exists(folder / value) for folder in folders)
