"""Settings that nobody wants to find again in a store or a report: keys, tokens and passwords are left out by name."""

import re

import polars as pl

LEFT_OUT = "(left out: looks like a secret)"
_VARIABLE = re.compile(r"TOKEN|KEY|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|JWT|PRIVATE|SIGNATURE", re.IGNORECASE)
_SETTING = (  # the last part of a dotted key: `max_tokens` and `key_dim` are none
    r"(?i)(?:^|[./])(?:(?:\w+[_-])?(?:api|access|private|secret|account|encryption)[_-]?key|secret|\w+[_-]secret"
    r"|(?:\w+[_-])?passw(?:or)?d|passphrase|credentials?"
    r"|(?:\w+[_-])?(?:auth|access|hub|hf|api|bot|bearer|refresh|wandb|github|huggingface)[_-]?token|token)$"
)
_SET = re.compile(
    r"(?i)((?:\b|_)(?:token|api[_-]?key|access[_-]?key|secret(?:[_-]?key)?|passw(?:or)?d|passphrase|credentials?)"
    r"[\"']?\s*[=:]\s*[\"']?)(?!None\b|null\b)[^\s\"',;]{4,}"
)
_WITH_PASSWORD = r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@]*:[^/\s@]+@"


def variable(name: str) -> bool:
    """Whether an environment variable looks like a secret."""
    return bool(_VARIABLE.search(name))


def masked(config: pl.DataFrame) -> pl.DataFrame:
    """`config` rows with LEFT_OUT in place of a text whose key looks like a secret's, or of a URL with a password."""
    text = pl.col("number").is_null() & ~pl.col("value").is_in(["null", "true", "false", "", "None", "none"])
    secret = pl.col("key").str.contains(_SETTING) | pl.col("value").str.contains(_WITH_PASSWORD)
    return config.with_columns(value=pl.when(text & secret).then(pl.lit(LEFT_OUT)).otherwise("value"))


def masked_line(text: str) -> str:
    """A line of a log with LEFT_OUT in place of what is set to a name that looks like a secret's."""
    return _SET.sub(rf"\1{LEFT_OUT}", text)
