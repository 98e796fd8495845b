"""File kinds by name, and which folders are parts of a run. Nothing is opened here."""

import re
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache

from loganalyst import filemeasure
from loganalyst.sources.config.plaintexts import DUMPS, PICKLES


class Kind(IntEnum):
    """The possible content of a file, by its name."""

    NOTHING = 0
    CURVES = 1  # metrics: the folder is a run
    TABLE = 2  # a table or JSON of any content: read within a run; makes a run only if it holds metrics
    LOG = 3  # text of a program or a job
    NOTES = 4  # text that makes a run only if it shows training
    SETTINGS = 5  # also accounting and final results
    CHECKPOINT = 6
    DATABASE = 7  # may hold several runs
    DUMP = 8  # of a flight recorder, of GPU memory or of stacks: makes a run where nothing else does


# Folders that are not walked. Nor are hidden ones except Hydra's, and W&B's copy of the program (`files/code`).
SKIPPED_FOLDERS = frozenset({
    "__pycache__", "node_modules", "venv", "site-packages", "__MACOSX", "lost+found",
})  # fmt: skip
HYDRA = ".hydra"
HIDDEN = frozenset({HYDRA, ".neptune"})  # hidden folders that are walked
TRACKERS = frozenset({"wandb", "mlruns", "lightning_logs"})  # folders that trackers make in the working directory
LAST_FOLDER = "latest-run"  # W&B's second name of a sibling folder: if it is no link, it is walked last
MARKER_FILES = frozenset({
    "params.json", "params.pkl", "result.json", "progress.csv", "args.yaml", "opt.yaml", "results.csv",
    "trainer_state.json", "meta.yaml",
})  # fmt: skip

_PHASES = frozenset({
    "train", "val", "valid", "validation", "eval", "evaluation", "test", "dev",
})  # fmt: skip
# Folders that hold a part of a run: their files belong to the folder above.
_PARTS = frozenset({
    "files", "log", "logs", "tmp", "media", "metrics", "run_logs", "checkpoint", "checkpoints", "ckpt", "ckpts",
    "weights", "tb", "tb_log", "tb_logs", "tensorboard", "events", "summary", "summaries", "slurm", "slurm_log",
    "slurm_logs", "plot", "plots", "hydra", ".hydra", "config", "configs", "vis_data", "stdout", "stderr",
    "tensorboard_logs", "profile",
})  # fmt: skip
# checkpoint-500, attempt_2, global-rank_3, eval_imagenet
_NUMBERED_PART = re.compile(
    r"checkpoint-\d+|attempt_\d+|(?:(?:global|local)[-_]?)?(?:rank|worker|node|proc|process|gpu|env)s?[-_]?\d+"
    r"|eval(?:uation)?_.+"
)
# offline-run-20240501_101500-3f9a1c02
_WANDB_RUN = re.compile(r"(?:offline-)?run-\d{8}_\d{6}-.+")
_VERSION = re.compile(r"version_\d+")

_PACKED = (".gz", ".zst", ".xz", ".bz2")
# train_metrics, loss_history, log-3: stems of tables with metrics
_CURVE_WORDS = re.compile(
    r"metric|loss|histor|progress|monitor|scalar|result|curve|training|trainlog|train_log|stats|(?:^|[^a-z])logs?(?:[^a-z]|$)"
    r"|^version_|reward|perplex|accurac|tag-"
)
# train_metrics.json, log_history.json, trainer_state.json
_CURVE_JSON = re.compile(
    r"(?:(?:train(?:ing)?|log|loss(?:es)?|metrics?)[-_])?(?:metrics|history|log)|trainer_state|result|progress|scalars|wandb-summary|.*\.log"
)
# my_result_2.json: may hold metrics
_SCORES = r"loss(?:es)?|acc(?:uracy|uracies)?"
_WEAK_JSON = re.compile(
    rf"metrics|result|history|progress|log|scalars|curve|(?:^|train(?:ing)?[-_])stats$|(?:^|[^a-z])(?:{_SCORES})(?:[^a-z]|$)"
)
# training_history.yaml, learning-curve.json
_WEAK_YAML = re.compile(r"histor|curve|train(?:ing)?[-_](?:metrics|log|stats)")
# train_losses.npy, history.npz, val_acc.pkl
_HISTORY = re.compile(rf"(?:^|[^a-z])(?:{_SCORES}|hist(?:ory|ories)?|metrics?|curves?|rewards?)(?:[^a-z]|$)")
# trainHistoryDict, history_dict: pickles of Keras' histories, also without an ending
_HISTORY_DICT = re.compile(r"(?:train(?:ing)?|model)[-_]?hist(?:ory)?(?:[-_]?dict)?|hist(?:ory)?[-_]?dict")
# run-metrics.parquet, not dialogs.parquet
_CURVE_PARQUET = re.compile(
    r"(?:^|[^a-z])(?:metrics?|hist(?:ory|ories)?|logs?|progress|scalars?|results?|curves?|loss(?:es)?)(?:[^a-z]|$)"
)
_WANDB_HISTORY = re.compile(r"run-(.+)-history(?::v\d+)?")  # run-3f9a1c02-history:v0, W&B's artifact with a history
# train_log.txt, stdout.txt, my-output.txt; cout.txt of Sacred; rank_3.txt
_LOG_WORDS = re.compile(
    r"(?:^|[-_.])(?:log|logs|stdout|stderr|output|train|console)|slurm|^cout$|^(?:rank|worker|node|proc)[-_]?\d{1,5}$"
)
_LOG_FOLDERS = frozenset({"log", "logs", "stdout", "stderr"})  # in which a file may have a bare number as its name
# log.0, out.0.1, stdout.3: of the processes of a job
_OF_PROCESS = re.compile(r"(?:log|out|err|stdout|stderr|output)(?:\.\d{1,5}){1,2}")
# config.yaml, training_args.json, all_results.json
_SETTINGS = re.compile(
    r"config|hparams|hyperparams|args|arguments|opt|params|parameters|settings|run|flags|sweep|^task$|^meta$|^wandb-metadata$"
    r"|^(?:all|train|eval|test)_results$|^hydra$|^overrides$"
)
# readme.txt, requirements.txt, W&B's own debug-internal.log, generation_config.json, Ray's experiment_state-….json
_NOT_LOGS = re.compile(
    r"^(?:readme|licen[cs]e|requirements|package(?:-lock)?|vocab|merges|tokenizer|special_tokens|added_tokens|labels?)\b"
    r"|^debug(?:-core|-internal|-cli)?(?:\.[^.]+)?\.log$|^conda"
    r"|(?:generation|tokenizer|preprocessor)_config|^(?:basic-variant|searcher|experiment)[-_]state"
)
_NOTES = re.compile(r"^(?:changelog|contributing|authors|todo|news|citation|code_of_conduct|security|install)\b")
_JOBS = re.compile(r"sacct|scontrol|seff")
# .o123, .e123-4
_PBS = re.compile(r"\.[oe]\d+(?:-\d+)?")
# nccl_trace_rank_3, fr_dump_7.json; oom_snapshot.pickle; pyspy_rank3.txt, py-spy.4711.json, stack_dump-0.txt;
# profile.speedscope.json, profile.raw
_DUMP = re.compile(
    r"[\w-]*(?:trace|dump|recorder)[-_]?(?:rank)?[-_]?\d+(?:\.(?:json|pkl|pickle))?|[\w-]*rank[-_]?\d+(?:\.(?:pkl|pickle))?"
    r"|[\w-]*(?:oom|memory|snapshot)[\w-]*\.(?:pkl|pickle)"
    r"|(?:py-?spy|faulthandler|stacks|stack[-_]?(?:dump|trace)s?)[\w.-]{0,60}"
    r"|[\w.-]{1,60}\.speedscope(?:\.json)?|(?:profile|flame(?:graph)?)[\w.-]{0,60}\.(?:raw|collapsed|folded|txt)"
)
_LONG_NUMBER = re.compile(r"\d{3,}")  # its value does not matter; that of a shorter one may: `.h5`, `.o1`
# .log.1, .o123.2
_ROTATED = re.compile(r"\.(?:log|out|err|[oe]\d+)\.\d+$")


def is_accounting(name: str) -> bool:
    """Whether a scheduler's accounting file has such a name."""
    low = name.lower()
    return (low.startswith(("sacct", "scontrol", "seff")) or low.endswith(".psv")) and kind(name) is Kind.SETTINGS


def kind(name: str) -> Kind:
    """The kind of a file of this name."""
    return _kind(_LONG_NUMBER.sub("000", name))


@lru_cache(1 << 14)  # every run has names like metrics.csv, and job logs differ only in a number
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
    if _HISTORY_DICT.fullmatch(name):
        return Kind.TABLE
    return Kind.LOG if _is_log(name, suffix) else Kind.NOTHING


def _table(stem: str) -> Kind:
    return Kind.CURVES if _CURVE_WORDS.search(stem) else Kind.TABLE


def _parquet(stem: str) -> Kind:
    return Kind.CURVES if _CURVE_PARQUET.search(stem) else Kind.NOTHING  # data sets have this format too


def _settings(stem: str) -> Kind:
    return Kind.SETTINGS if _SETTINGS.search(stem) else Kind.NOTHING


def _yaml(stem: str) -> Kind:
    found = _settings(stem)
    return found or (Kind.TABLE if _WEAK_YAML.search(stem) or filemeasure.is_metric(stem) else found)


def _json(stem: str) -> Kind:
    if _CURVE_JSON.fullmatch(stem):
        return Kind.CURVES
    if _SETTINGS.search(stem) or _JOBS.match(stem):
        return Kind.SETTINGS
    return Kind.TABLE if _WEAK_JSON.search(stem) or filemeasure.is_metric(stem) else Kind.NOTHING


def _array(stem: str) -> Kind:
    if stem == "evaluations":  # Stable-Baselines3's `EvalCallback`
        return Kind.CURVES
    return (
        Kind.TABLE if _HISTORY.search(stem) or filemeasure.is_metric(stem) else Kind.NOTHING
    )  # data sets have this format too


def _pickle(stem: str) -> Kind:
    return Kind.TABLE if _HISTORY_DICT.fullmatch(stem) else _array(stem)


def _text(stem: str) -> Kind:
    if _JOBS.match(stem) or DUMPS.fullmatch(f"{stem}.txt"):
        return Kind.SETTINGS
    return Kind.LOG if _LOG_WORDS.search(stem) else _notes(stem)


def _notes(stem: str) -> Kind:
    return Kind.NOTHING if _NOTES.match(stem) else Kind.NOTES


_WEIGHTS = (".ckpt", ".pt", ".pth", ".safetensors", ".distcp", ".h5", ".keras", ".msgpack")
_BY_SUFFIX: dict[str, Callable[[str], Kind]] = {
    **dict.fromkeys((".csv", ".tsv", ".jsonl", ".ndjson"), _table),
    **dict.fromkeys((".yaml", ".yml"), _yaml),
    **dict.fromkeys((".toml", ".ini", ".cfg"), _settings),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), lambda _: Kind.DATABASE),
    **dict.fromkeys((".log", ".out", ".rout", ".err", ".stdout", ".stderr"), lambda _: Kind.LOG),
    **dict.fromkeys(_WEIGHTS, lambda _: Kind.CHECKPOINT),
    ".wandb": lambda _: Kind.CURVES,
    ".psv": lambda _: Kind.SETTINGS,
    ".parquet": _parquet,
    ".dat": _parquet,  # DeepXDE's `loss.dat`; other `.dat` files are data
    **dict.fromkeys((".npy", ".npz"), _array),
    **dict.fromkeys((".pkl", ".pickle", ".p"), _pickle),
    ".json": _json,
    ".txt": _text,
    ".md": _notes,
}


def _is_log(name: str, suffix: str) -> bool:
    """`x.log`, `x.log.1`, `x.o123`, `log.0`, `log.txt.rank1`."""
    known = _PBS.fullmatch(suffix) or _ROTATED.search(name) or _OF_PROCESS.fullmatch(name)
    return bool(known) or name.startswith("log.txt.rank")


def is_part(name: str, parent: str) -> bool:
    """Whether the folder `name` in `parent` holds a part of a run."""
    name = name.lower()
    if name in _PHASES or name in _PARTS or _NUMBERED_PART.fullmatch(name):
        return True
    return name.isdecimal() and parent.startswith("attempt_")


def is_of_logs(folder: str) -> bool:
    """Whether files of this folder that are named by a number are logs: `logs/0`, `stderr/3`."""
    return folder.lower() in _LOG_FOLDERS


def may_be_table(name: str) -> bool:
    """Whether a text file of this name may be a table of metrics (`progress.txt`, `scores.txt`)."""
    stem = name.lower().rpartition(".")[0]
    return stem == "scores" or bool(_CURVE_WORDS.search(stem))


def is_run(name: str) -> bool:
    """Whether loggers name folders of runs like this: W&B's run-DATE_TIME-ID, Lightning's version_N."""
    return bool(_WANDB_RUN.fullmatch(name) or _VERSION.fullmatch(name))


def history_of(folder: str) -> str:
    """The id of the W&B run whose history the folder of this name holds (as 0000.parquet …); empty if it is none."""
    found = _WANDB_HISTORY.fullmatch(folder)
    return found[1] if found else ""


def writer(name: str) -> str:
    """The host and process that wrote an event file, by its name. Empty where the name does not say, and for Keras,
    which has one writer a run.

    torch's `add_scalars` opens a writer for each curve: the same process writes into another folder.
    """
    _, _, rest = name.partition("tfevents.")
    _, _, rest = rest.partition(".")
    if not rest or rest.endswith(".v2"):
        return ""
    head, _, number = rest.rpartition(".")
    return head if number.isdecimal() and head else rest
