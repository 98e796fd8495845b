"""What a name tells: which files may hold what, and which folders are parts of a run. Nothing is opened here."""

import re
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache

from loganalyst.sources.config.plaintexts import DUMPS, PICKLES


class Kind(IntEnum):
    """What a file of this name may hold."""

    NOTHING = 0
    CURVES = 1  # metrics: the folder is a run
    TABLE = 2  # a table or JSON of any content: read within a run, makes one only if metrics are seen in it
    LOG = 3  # a program's or a job's text
    NOTES = 4  # text that makes a run of its own if training is seen in it
    SETTINGS = 5  # also accounting and final results
    CHECKPOINT = 6
    DATABASE = 7  # may hold several runs
    DUMP = 8  # of a rank's flight recorder: a run of their own where nothing else is


# Not walked, as are hidden folders but Hydra's; `code` is W&B's copy of the program.
SKIPPED_FOLDERS = frozenset({
    "__pycache__", "node_modules", "venv", "site-packages", "__MACOSX", "lost+found",
})  # fmt: skip
HYDRA = ".hydra"
TRACKERS = frozenset({"wandb", "mlruns", "lightning_logs"})  # what trackers make in the program's working directory
LAST_FOLDER = "latest-run"  # W&B's second name of one of its siblings: walked last, where it is no link
MARKER_FILES = frozenset({
    "params.json", "params.pkl", "result.json", "progress.csv", "args.yaml", "opt.yaml", "results.csv",
    "trainer_state.json", "meta.yaml",
})  # fmt: skip

_PHASES = frozenset({
    "train", "val", "valid", "validation", "eval", "evaluation", "test", "dev",
})  # fmt: skip
# Folders that hold a part of a run, not a run: their files belong to the folder above.
_PARTS = frozenset({
    "files", "log", "logs", "tmp", "media", "metrics", "run_logs", "checkpoint", "checkpoints", "ckpt", "ckpts",
    "weights", "tb", "tb_log", "tb_logs", "tensorboard", "events", "summary", "summaries", "slurm", "slurm_log",
    "slurm_logs", "plot", "plots", "hydra", ".hydra", "config", "configs", "vis_data", "stdout", "stderr",
    "tensorboard_logs", "profile",
})  # fmt: skip
_NUMBERED_PART = re.compile(
    r"checkpoint-\d+|attempt_\d+|(?:(?:global|local)[-_]?)?(?:rank|worker|node|proc|process|gpu|env)s?[-_]?\d+"
    r"|eval(?:uation)?_.+"
)
_WANDB_RUN = re.compile(r"(?:offline-)?run-\d{8}_\d{6}-.+")
_VERSION = re.compile(r"version_\d+")

_PACKED = (".gz", ".zst", ".xz", ".bz2")
_CURVE_WORDS = re.compile(
    r"metric|loss|histor|progress|monitor|scalar|result|curve|training|trainlog|train_log|stats|(?:^|[^a-z])logs?(?:[^a-z]|$)"
    r"|^version_|reward|perplex|accurac|tag-"
)
_CURVE_JSON = re.compile(
    r"(?:train(?:ing)?[-_])?(?:metrics|history|log)|trainer_state|result|progress|scalars|wandb-summary|.*\.log"
)
_WEAK_JSON = re.compile(r"metrics|result|history|progress|log|scalars")
_CURVE_PARQUET = re.compile(
    r"(?:^|[^a-z])(?:metrics?|hist(?:ory|ories)?|logs?|progress|scalars?|results?|curves?|loss(?:es)?)(?:[^a-z]|$)"
)
_WANDB_HISTORY = re.compile(r"run-(.+)-history(?::v\d+)?")  # the artifact in which W&B's server keeps a history
_LOG_WORDS = re.compile(r"(?:^|[-_.])(?:log|logs|stdout|stderr|output|train|console)|slurm")
_SETTINGS = re.compile(
    r"config|hparams|hyperparams|args|arguments|opt|params|parameters|settings|run|flags|sweep|^meta$|^wandb-metadata$"
    r"|^(?:all|train|eval|test)_results$|^hydra$|^overrides$"
)
_NOT_LOGS = re.compile(
    r"^(?:readme|licen[cs]e|requirements|package(?:-lock)?|vocab|merges|tokenizer|special_tokens|added_tokens|labels?)\b"
    r"|^debug(?:-core|-internal|-cli)?(?:\.[^.]+)?\.log$|^conda"
    r"|(?:generation|tokenizer|preprocessor)_config|^(?:basic-variant|searcher|experiment)[-_]state"
)
_NOTES = re.compile(r"^(?:changelog|contributing|authors|todo|news|citation|code_of_conduct|security|install)\b")
_JOBS = re.compile(r"sacct|scontrol|seff")
_PBS = re.compile(r"\.[oe]\d+(?:-\d+)?")
_DUMP = re.compile(
    r"[\w-]*(?:trace|dump|recorder)[-_]?(?:rank)?[-_]?\d+(?:\.(?:json|pkl|pickle))?|[\w-]*rank[-_]?\d+(?:\.(?:pkl|pickle))?"
)
_LONG_NUMBER = re.compile(r"\d{3,}")  # which one it is makes no difference; `.h5` and `.o1` are endings
_ROTATED = re.compile(r"\.(?:log|out|err|[oe]\d+)\.\d+$")


def accounts(name: str) -> bool:
    """Whether the name is that of a scheduler's accounting file."""
    low = name.lower()
    return (low.startswith(("sacct", "scontrol", "seff")) or low.endswith(".psv")) and kind(name) is Kind.SETTINGS


def kind(name: str) -> Kind:
    """What a file of this name may hold."""
    return _kind(_LONG_NUMBER.sub("000", name))


@lru_cache(1 << 14)  # names like metrics.csv stand in every run, and job logs differ in a number alone
def _kind(name: str) -> Kind:
    if name.startswith("."):
        return Kind.NOTHING
    name = name.lower()
    if "tfevents" in name:
        return Kind.NOTHING if name.endswith("profile-empty") else Kind.CURVES
    if name.endswith(_PACKED):
        name = name[: name.rindex(".")]
    stem, dot, suffix = name.rpartition(".")
    found = _by_suffix(name, stem, dot + suffix)
    return Kind.NOTHING if found and found != Kind.CHECKPOINT and _NOT_LOGS.search(name) else found


def _by_suffix(name: str, stem: str, suffix: str) -> Kind:
    if name == "pytorch_model.bin":
        return Kind.CHECKPOINT
    if PICKLES.fullmatch(name):
        return Kind.SETTINGS
    if _DUMP.fullmatch(name):
        return Kind.DUMP
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix](stem)
    return Kind.LOG if _is_log(name, suffix) else Kind.NOTHING


def _table(stem: str) -> Kind:
    return Kind.CURVES if _CURVE_WORDS.search(stem) else Kind.TABLE


def _parquet(stem: str) -> Kind:
    return Kind.CURVES if _CURVE_PARQUET.search(stem) else Kind.NOTHING  # data sets are kept so too


def _settings(stem: str) -> Kind:
    return Kind.SETTINGS if _SETTINGS.search(stem) else Kind.NOTHING


def _json(stem: str) -> Kind:
    if _CURVE_JSON.fullmatch(stem):
        return Kind.CURVES
    if _SETTINGS.search(stem) or _JOBS.match(stem):
        return Kind.SETTINGS
    return Kind.TABLE if _WEAK_JSON.search(stem) else Kind.NOTHING


def _text(stem: str) -> Kind:
    if _JOBS.match(stem) or DUMPS.fullmatch(f"{stem}.txt"):
        return Kind.SETTINGS
    return Kind.LOG if _LOG_WORDS.search(stem) else _notes(stem)


def _notes(stem: str) -> Kind:
    return Kind.NOTHING if _NOTES.match(stem) else Kind.NOTES


_WEIGHTS = (".ckpt", ".pt", ".pth", ".safetensors", ".distcp", ".h5", ".keras", ".msgpack")
_BY_SUFFIX: dict[str, Callable[[str], Kind]] = {
    **dict.fromkeys((".csv", ".tsv", ".jsonl", ".ndjson"), _table),
    **dict.fromkeys((".yaml", ".yml", ".toml", ".ini", ".cfg"), _settings),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), lambda _: Kind.DATABASE),
    **dict.fromkeys((".log", ".out", ".err"), lambda _: Kind.LOG),
    **dict.fromkeys(_WEIGHTS, lambda _: Kind.CHECKPOINT),
    ".wandb": lambda _: Kind.CURVES,
    ".psv": lambda _: Kind.SETTINGS,
    ".parquet": _parquet,
    ".dat": _parquet,  # DeepXDE's `loss.dat`; other `.dat` files are data
    ".npz": lambda stem: Kind.CURVES if stem == "evaluations" else Kind.NOTHING,  # Stable-Baselines3's `EvalCallback`
    ".json": _json,
    ".txt": _text,
    ".md": _notes,
}


def _is_log(name: str, suffix: str) -> bool:
    """`x.log`, `x.log.1`, `x.o123`, `log.txt.rank1`."""
    return bool(_PBS.fullmatch(suffix) or _ROTATED.search(name)) or name.startswith("log.txt.rank")


def is_part(name: str, parent: str) -> bool:
    """Whether a folder `name` in `parent` holds a part of a run."""
    name = name.lower()
    if name in _PHASES or name in _PARTS or _NUMBERED_PART.fullmatch(name):
        return True
    return name.isdecimal() and parent.startswith("attempt_")


def may_be_table(name: str) -> bool:
    """Whether a text of this name may be a table of metrics (`progress.txt`, `scores.txt`)."""
    stem = name.lower().rpartition(".")[0]
    return stem == "scores" or bool(_CURVE_WORDS.search(stem))


def is_run(name: str) -> bool:
    """Whether a logger names the folders of its runs like this: W&B's run-DATE_TIME-ID, Lightning's version_N."""
    return bool(_WANDB_RUN.fullmatch(name) or _VERSION.fullmatch(name))


def history_of(folder: str) -> str:
    """The id of the W&B run whose history a folder of this name is (its files are 0000.parquet …), else empty."""
    found = _WANDB_HISTORY.fullmatch(folder)
    return found[1] if found else ""


def writer(name: str) -> str:
    """Who wrote an event file, by its name: host and process (empty: not told, or Keras, which has one writer a run).

    torch's `add_scalars` opens a writer for every curve: same process, other folder.
    """
    _, _, rest = name.partition("tfevents.")
    _, _, rest = rest.partition(".")
    if not rest or rest.endswith(".v2"):
        return ""
    head, _, number = rest.rpartition(".")
    return head if number.isdecimal() and head else rest
