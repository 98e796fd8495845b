"""Arguments that a program printed at its start: `Namespace(...)`, a list with dots, the environment of a job, and the
names of the tokenizer and model that it loads.

Source of the list: Megatron-LM, `megatron/training/arguments.py`; DeepSpeed prints its configuration alike.
"""

import polars as pl

from loganalyst.model import table
from loganalyst.sources.config.pythoncode import keywords
from loganalyst.sources.text.lines.prefixes import described

CALL, DOTS, ENVIRONMENT = "Namespace(", " ....", "SLURM_"
LOADED = ("okenizer", "oading model", "oaded model", "oading weights", "oaded weights", "oading checkpoint", "--model")
MAX_CALLS = 20  # of a batch
MAX_CALL_CHARS = 20_000  # characters of a Namespace that are read
# `SLURM_JOB_ID=77`, `export SLURM_NTASKS="8"`, `declare -x SLURM_NNODES="2"`
_ENVIRONMENT = r"^(?:export |declare -x )?(SLURM_[A-Z_]+)=[\"']?([^\"'\n]*)"
# `  num_layers ...................................... 32`; `async_io ....... [NO]` of a report is no argument
_LISTED = r"(?:^|\s\s)([a-z]\w{0,63}) \.{4,64} ([^\s\[][^\n]{0,200}?)\s*$"
# `Loading tokenizer from gpt2`, `--tokenizer_name meta-llama/Llama-3.1-8B`
_TOKENIZER = (
    r"(?:[Ll]oad(?:ing|ed) (?:the |pretrained )*tokenizer(?: from|:)?|--tokenizer(?:_name_or_path|_name|_path|_id)?)"
    r"[ =][\"']?([A-Za-z][A-Za-z0-9_./-]*)"
)
# `loading weights file model.safetensors from checkpoint gpt2`, `--model_name_or_path Qwen/Qwen3-8B`
_MODEL = (
    r"(?:[Ll]oad(?:ing|ed) (?:the )?(?:pretrained |base )?(?:model|weights|checkpoint)[^\n]* from(?: checkpoint)?"
    r"|--(?:base_)?model(?:_name_or_path|_name|_path|_id)?)"
    r"[ =][\"']?([A-Za-z][A-Za-z0-9_./-]*)"
)
_NAMES = {"loaded_tokenizer": _TOKENIZER, "loaded_model": _MODEL}
MAX_NAMING = 200  # lines of a batch that may name them


def arguments(text: pl.Series, origin: str) -> pl.DataFrame:
    """The `config` rows of the lines `text` (String), each with CALL, DOTS, ENVIRONMENT or one of LOADED."""
    if not len(text):
        return table("config")
    keys: list[str] = []
    values: list[str] = []
    text = described(text)["body"]
    for call in text.filter(text.str.contains(CALL, literal=True)).head(MAX_CALLS):
        for key, value in keywords(call[call.index(CALL) :][:MAX_CALL_CHARS]) or []:
            keys.append(key)
            values.append(value)
    slurm = text.filter(text.str.starts_with(ENVIRONMENT) | text.str.contains(f"x {ENVIRONMENT}", literal=True))
    for some, form in ((text.filter(text.str.contains(DOTS, literal=True)), _LISTED), (slurm, _ENVIRONMENT)):
        groups = some.str.extract_groups(form).struct.unnest().drop_nulls().unique("1", maintain_order=True)
        keys += groups["1"].to_list()
        values += groups["2"].to_list()
    for key, form in _NAMES.items():
        named = text.head(MAX_NAMING).str.extract(form).drop_nulls().str.strip_chars_end(".")
        keys += [key] * min(1, len(named))
        values += named.head(1).to_list()
    number = pl.Series(values, dtype=pl.String).cast(pl.Float64, strict=False)
    return table("config", {"key": keys, "value": values, "number": number, "origin": origin})
