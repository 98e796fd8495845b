"""Which files make a run. Nothing is opened here: names, folders and links decide; readers look inside."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from loganalyst.errors import SourceError, nearest

SKIPPED_FOLDERS = {
    "__pycache__",
    ".git",
    ".ipynb_checkpoints",
    "node_modules",
    ".venv",
    "venv",
    "site-packages",
    "code",
}
CHECKPOINTS = {".ckpt", ".pt", ".pth", ".safetensors", ".h5", ".keras", ".msgpack"}
# Folders that hold a part of a run, not a run: their files belong to the folder above.
PARTS = re.compile(
    r"train(ing)?|val(id|idation)?|eval(uation)?|test(ing)?|dev|files|logs?|tmp|media|metrics|run_logs|checkpoints?"
    r"|checkpoint-\d+|tb(_logs)?|tensorboard|runs?|events|summar(y|ies)|slurm(_logs)?|plots?|\.hydra|hydra|config"
)
_METRICS = re.compile(
    r"tfevents|\.(wandb|csv|tsv|jsonl|ndjson|log|out|err)(\.\d+)?$"
    r"|(metrics|trainer_state|result|history|progress|log|scalars)[^/]*\.json$"
    r"|(^|[-_.])(log|logs|stdout|stderr|output|train|console)[^/]*\.txt$",
    re.IGNORECASE,
)
_CONFIG = re.compile(
    r"(config|hparams|hyperparams|args|arguments|opt|params|parameters|settings|training_args|run|flags|sweep)[^/]*\.(ya?ml|json|toml)$"
    r"|(all|train|eval|test)_results\.json$|wandb-metadata\.json$|(sacct|scontrol)[^/]*\.(psv|txt|json)$|\.psv$",
    re.IGNORECASE,
)
_NOT_LOGS = re.compile(
    r"^(readme|licen[cs]e|requirements|package(-lock)?|vocab|merges|tokenizer|special_tokens|added_tokens|labels?)\b"
    r"|^debug(-core|-internal|-cli)?(\.[^.]+)?\.log$|^wandb-summary\.json$|^conda"
    r"|(generation|tokenizer|preprocessor)_config",
    re.IGNORECASE,
)
MAX_FOLDERS = 100_000
READABLE = "readable are TensorBoard, W&B, CSV, JSON, SLURM and text logs"


@dataclass(frozen=True)
class Found:
    """The files of one run, sorted by path: logs and configs to read, checkpoints to list.

    `root` is what is diagnosed (a folder, a file, or `FILE#RUN` for one of several runs in a file); its real path gives
    the run's id, and the files are named by their path within it. `ignored` tells what was left out on purpose, `unread` (path, why) what would have been read.
    """

    files: tuple[Path, ...]
    checkpoints: tuple[Path, ...] = ()
    ignored: tuple[str, ...] = ()
    unread: tuple[tuple[Path, str], ...] = ()
    root: Path = Path()


def runs(root: Path) -> Iterator[Found]:
    """Every run below the folder `root` (or the one that the file `root` is), sorted by path, found while walking.

    Raises SourceError where `root` is missing or may not be read; a folder without runs gives none.
    """
    if not root.is_dir():
        yield discover(root)
        return
    found = _walk(root)
    for folder in _run_folders(root, found.files):
        files = tuple(f for f in found.files if f.is_relative_to(folder))
        yield replace(found, files=files, root=folder)


def discover(path: Path) -> Found:
    """The files of the run at `path` (a file is a run of its own).

    Raises SourceError where the path is missing, may not be read, holds nothing known, or holds several runs.
    """
    if not os.path.exists(path):  # unlike Path.exists it does not raise on names that are too long
        raise SourceError(path, *_missing(path))
    if not path.is_dir():
        if why := no_file(path):
            raise SourceError(path, why, "a run directory, a log file or a SLURM log is needed")
        return Found((path,), root=path)
    found = _walk(path)
    if not found.files:
        what = "holds no log that can be read" if any(path.iterdir()) else "is an empty directory"
        told = "; ".join(f"{file}: {why}" for file, why in found.unread[:3])
        raise SourceError(path, what + (f" ({told})" if told else ""), READABLE)
    inner = _run_folders(path, found.files)
    if len(inner) > 1:
        names = ", ".join(str(r.relative_to(path)) for r in inner[:3])
        what = f"holds {len(inner)} runs"
        raise SourceError(path, what, f"name one of them: {names}{', …' if len(inner) > 3 else ''}")
    return replace(found, root=path)


def _missing(path: Path) -> tuple[str, str]:
    """What is wrong with a path that does not exist, and what is allowed."""
    allowed = "a run directory, a log file or a SLURM log is needed"
    if str(path) == "-":
        return "no such file", "standard input is not read: name a file"
    try:
        os.lstat(path)
        return "a link that leads nowhere", allowed
    except FileNotFoundError:
        siblings = os.listdir(path.parent) if os.access(path.parent, os.R_OK) and path.parent.is_dir() else []
        return "no such file or directory", nearest(path.name, siblings) or allowed
    except OSError as error:
        return f"cannot be read ({error.strerror})", allowed


def no_file(path: Path) -> str:
    """Why a path that is no folder is not read (empty: it is)."""
    if os.path.exists(path) and not os.path.isfile(path):
        return "is no regular file"
    return "" if _encodable(path.name) else "its name is not valid UTF-8"


def _encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _walk(root: Path) -> Found:
    files: list[Path] = []
    checkpoints: list[Path] = []
    ignored: list[str] = []
    unread: list[tuple[Path, str]] = []
    real_root = os.path.realpath(root)  # unlike Path.resolve it does not raise on links that lead in a circle

    def refuse(error: OSError) -> None:
        if Path(error.filename) == root:
            raise SourceError(root, f"cannot be read ({error.strerror})", "a directory with read permission is needed")
        unread.append((Path(error.filename), f"cannot be read ({error.strerror})"))

    for count, (folder, folders, names) in enumerate(os.walk(root, onerror=refuse)):
        if count >= MAX_FOLDERS:
            unread.append((Path(folder), f"it and what follows: more than {MAX_FOLDERS:,} folders"))
            break
        here = Path(folder)
        ignored += [f"{here / f}: a link to another folder" for f in folders if (here / f).is_symlink()]
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS)
        for path in (here / name for name in sorted(names)):
            checkpoint = path.suffix in CHECKPOINTS or path.name == "pytorch_model.bin"
            if not checkpoint and not _may_be_read(path.name):
                continue
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(real_root):
                ignored.append(f"{path}: a link that leads out of the run")
            elif why := no_file(path):
                unread.append((path, why))
            else:
                (checkpoints if checkpoint else files).append(path)
    kept, copies = _without_copies(files)
    return Found(tuple(kept), tuple(checkpoints), (*ignored, *copies), tuple(unread))


def _may_be_read(name: str) -> bool:
    """Whether a file of this name may be a log or a config."""
    return bool(_METRICS.search(name) or _CONFIG.search(name)) and not _NOT_LOGS.search(name)


def _without_copies(files: list[Path]) -> tuple[list[Path], list[str]]:
    """Hugging Face writes the whole history into every checkpoint: the longest one counts."""
    states = [f for f in files if f.name == "trainer_state.json"]
    if len(states) < 2:
        return files, []
    best = min(states, key=lambda f: (len(f.parts), -_number(f.parent.name)))
    kept = [f for f in files if f.name != "trainer_state.json" or f == best]
    return kept, [f"{f}: an earlier copy of {best}" for f in states if f != best]


def _number(name: str) -> int:
    digits = re.findall(r"\d+", name)
    return int(digits[-1]) if digits else -1


def _run_folders(root: Path, files: tuple[Path, ...]) -> list[Path]:
    """The folders below `root` that are runs of their own; `root` itself once it holds metrics directly."""
    homes = sorted({_home(root, f) for f in files if _METRICS.search(f.name)})
    if root in homes:
        inner = [h for h in homes if re.fullmatch(r"(offline-)?run-.+|version_\d+", h.name)]
        return [root] if len(inner) < 2 else inner
    return homes


def _home(root: Path, file: Path) -> Path:
    folder = file.parent
    while folder != root and PARTS.fullmatch(folder.name.lower()):
        folder = folder.parent
    return folder
