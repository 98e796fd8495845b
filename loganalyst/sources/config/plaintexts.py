"""Settings in plain text: .ini files, printed options, and dumps of the environment."""

import configparser
import re
from typing import NamedTuple

import polars as pl

from loganalyst.sources.config import secrets
from loganalyst.sources.config.pythoncode import keywords
from loganalyst.sources.files.flatten import Leaf

# names of files: env.txt, environment_variables.txt; args.txt, train_options.txt; training_args.bin, params.pkl
_ENVIRONMENT = r"(?:print)?env(?:iron(?:ment)?)?(?:[-_]?var(?:iable)?s)?\.txt"
_OPTIONS = r"(?:[a-z]+[-_])?(?:args|arguments|opts?|options|params|hparams|config|flags|settings)\.txt"
DUMPS = re.compile(f"{_ENVIRONMENT}|{_OPTIONS}")
PICKLES = re.compile(r"training_args\.bin|(?:params|args|hparams|config|opts?)\.(?:pkl|pickle)")
MAX_CALL = 100_000  # characters of a Namespace; Python's parser needs 500 bytes per character
MAX_LINE = 2000  # characters; _LINE tries each length of a key
# batch_size: 32, --lr = 0.1, model ......... gpt2
_LINE = re.compile(r"\s*(?:--)?([A-Za-z_][\w./-]{0,100})\s*(?:\.{3,}(?!\.)|[:=])\s*(\S.{0,1000})?", re.ASCII)
# what some programs print behind a value: [default: 32]
_DEFAULT = re.compile(r"\[default: [^\]]{0,200}\]$")
_BLANKS = re.compile(r"[^\S\n]{50,}")  # the parser of .ini files takes quadratic time on long runs of blanks
# CUDA_VISIBLE_DEVICES=0, export RANK=3
_VARIABLE = re.compile(r"(?:export |declare -x )?([A-Za-z_]\w{0,200})=(.{0,10000})", re.ASCII)
_KEPT = re.compile(  # variables of trainings; those of users and shells are left out
    r"(SLURM|CUDA|NVIDIA|NCCL|TORCH|PYTORCH|OMP|MKL|OPENBLAS|XLA|TF|JAX|ROCM|HIP|HSA|GLOO|UCX|FI|WANDB|MLFLOW|HF|TRANSFORMERS"
    r"|TOKENIZERS|ACCELERATE|DEEPSPEED|DS|MEGATRON|RAY|LIGHTNING|PL|TRITON|CUBLAS|CUDNN|PBS|LSB|SGE|OMPI|PMI|PMIX|KUBERNETES"
    r"|POLARS|NUMEXPR|MALLOC|TPU|NEURON|HABANA)_\w+|(LOCAL_|GLOBAL_|NODE_|GROUP_)?(WORLD_SIZE|RANK)|MASTER_(ADDR|PORT)"
    r"|HOSTNAME|PYTHONHASHSEED|PYTHONPATH|LD_LIBRARY_PATH|LD_PRELOAD|CONDA_DEFAULT_ENV|VIRTUAL_ENV|TZ"
)


class Settings(NamedTuple):
    """Keys and values as written, and why the rest was left out (empty: nothing was)."""

    items: list[tuple[str, Leaf]]
    why: str = ""


def dump(name: str, content: str) -> Settings:
    """The settings in a file whose name matches DUMPS: environment variables or options."""
    return environment(content) if re.fullmatch(_ENVIRONMENT, name) else options(content)


def ini(content: str) -> Settings:
    """The options of an .ini file as ``section.option``. The last of repeated options counts."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    why = ""
    try:
        parser.read_string(_BLANKS.sub(" ", content))
    except configparser.MissingSectionHeaderError:
        return options(content)
    except (configparser.Error, ValueError, AttributeError) as error:
        why = f"not valid INI: {' '.join(str(error).split())}"[:200]
    default = [(key, _joined(value)) for key, value in parser.defaults().items()]
    named = [(f"{s}.{key}", _joined(value)) for s in parser.sections() for key, value in parser._sections[s].items()]  # type: ignore[attr-defined]
    return Settings([*default, *named], why)


def _joined(value: str | list[str] | None) -> str:
    """A value as text. The parser returns a list of lines if it met an error before it joined them."""
    return "\n".join(value).rstrip() if isinstance(value, list) else value or ""


def options(content: str) -> Settings:
    """Lines of ``name: value``, ``name = value`` or ``name ..... value``, or a printed Namespace."""
    if "Namespace(" in content:
        return _namespace(content[content.index("Namespace(") :])
    lines = [line for line in content.splitlines() if line.strip(" -=#*\t")]
    short = (line.strip() for line in lines if len(line) <= MAX_LINE)
    hits = [hit for line in short if (hit := _LINE.fullmatch(_DEFAULT.sub("", line).rstrip()))]
    if 2 * len(hits) < len(lines):
        return Settings([], "no settings: most lines are not `name: value`")
    others = len(lines) - len(hits)
    why = f"{others} lines are not `name: value`" if others else ""
    return Settings([(hit[1], hit[2] or "") for hit in hits], why)


def environment(content: str) -> Settings:
    """SLURM's variables under their own names, and other variables of trainings under ``env.``.

    Variables that look like secrets are left out and counted.
    """
    variables = [hit for line in content.splitlines() if (hit := _VARIABLE.fullmatch(line.strip()))]
    secret = [hit for hit in variables if secrets.variable(hit[1])]
    kept = [hit for hit in variables if _KEPT.fullmatch(hit[1]) and not secrets.variable(hit[1])]
    items = [(hit[1] if hit[1].startswith("SLURM_") else f"env.{hit[1]}", hit[2].strip("\"'")) for hit in kept]
    others = len(variables) - len(kept) - len(secret)
    counts = ((len(secret), "that look like secrets"), (others, "of a user or a shell"))
    left_out = ", ".join(f"{count} {kind}" for count, kind in counts if count)
    return Settings(items, f"variables left out: {left_out}" if left_out else "")


def _namespace(call: str) -> Settings:
    words = keywords(call[:MAX_CALL])
    if words is None:
        return Settings([], "a Namespace that is cut off or contains more than plain values")
    return Settings([*words])


def overrides(content: str) -> pl.Series:
    """The items of Hydra's overrides.yaml, a list of ``name=value``."""
    lines = pl.Series(content.splitlines(), dtype=pl.String)
    return lines.str.extract(r"^- ['\"]?(.+?)['\"]?$").drop_nulls()
