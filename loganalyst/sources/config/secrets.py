"""Secrets in settings and logs: keys, tokens and passwords, recognised by name, never reach a store or a report."""

import re

import polars as pl

LEFT_OUT = "(left out: looks like a secret)"
# names of environment variables: WANDB_API_KEY, DB_PASSWORD
_VARIABLE = re.compile(r"TOKEN|KEY|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|JWT|PRIVATE|SIGNATURE", re.IGNORECASE)
_SETTING = (  # the last part of a dotted key: `api_key`, `hub_token`; not `max_tokens`, `key_dim`
    r"(?i)(?:^|[./])(?:(?:\w+[_-])?(?:api|access|private|secret|account|encryption)[_-]?key|secret|\w+[_-]secret"
    r"|(?:\w+[_-])?passw(?:or)?d|passphrase|credentials?"
    r"|(?:\w+[_-])?(?:auth|access|hub|hf|api|bot|bearer|refresh|wandb|github|huggingface)[_-]?token|token)$"
)
_SET = re.compile(  # an assignment in a line: `token=abcd`, `"api_key": "abcd`
    r"(?i)((?:\b|_)(?:token|api[_-]?key|access[_-]?key|secret(?:[_-]?key)?|passw(?:or)?d|passphrase|credentials?)"
    r"[\"']?\s*[=:]\s*[\"']?)(?!None\b|null\b)[^\s\"',;]{4,}"
)
_WITH_PASSWORD = r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@]*:[^/\s@]+@"  # https://user:password@host


def variable(name: str) -> bool:
    """Whether the name of an environment variable looks like a secret's."""
    return bool(_VARIABLE.search(name))


def masked(config: pl.DataFrame) -> pl.DataFrame:
    """`config` rows in which LEFT_OUT replaces texts whose key looks like a secret's, and URLs with a password."""
    text = pl.col("number").is_null() & ~pl.col("value").is_in(["null", "true", "false", "", "None", "none"])
    secret = pl.col("key").str.contains(_SETTING) | pl.col("value").str.contains(_WITH_PASSWORD)
    return config.with_columns(value=pl.when(text & secret).then(pl.lit(LEFT_OUT)).otherwise("value"))


def masked_line(text: str) -> str:
    """A line of a log in which LEFT_OUT replaces values assigned to names that look like a secret's."""
    return _SET.sub(rf"\1{LEFT_OUT}", text)
