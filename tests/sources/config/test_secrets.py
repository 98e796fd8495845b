"""Secrets in settings, environment variables and lines of logs."""

import pytest

from loganalyst.sources.config import secrets
from loganalyst.sources.files.flatten import config_table


@pytest.mark.parametrize(
    ("name", "secret"),
    [("WANDB_API_KEY", True), ("DB_PASSWORD", True), ("HF_TOKEN", True), ("CUDA_VISIBLE_DEVICES", False)],
)
def test_variables(name, secret):
    """By the name of the variable."""
    assert secrets.variable(name) is secret


def test_settings():
    """Texts under a secret's key and URLs with a password are replaced; numbers and similar keys are kept."""
    rows = {
        "wandb.api_key": "abcd",
        "hub_token": "hf_1",
        "max_tokens": "many",
        "token": 7,
        "key_dim": "wide",
        "url": "https://me:pw@host/x",
        "password": None,
    }
    masked = secrets.masked(config_table(rows.items(), "c.yaml"))

    assert dict(masked.select("key", "value").rows()) == {
        **dict.fromkeys(("wandb.api_key", "hub_token", "url"), secrets.LEFT_OUT),
        "max_tokens": "many",
        "token": "7",
        "key_dim": "wide",
        "password": "null",
    }


def test_lines():
    """Only the value is replaced."""
    assert secrets.masked_line("login token=abcd1234, ok") == f"login token={secrets.LEFT_OUT}, ok"
    assert secrets.masked_line("token=None") == "token=None"
