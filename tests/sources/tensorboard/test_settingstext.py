"""Settings that a program logged as text."""

import pytest

from loganalyst.sources.tensorboard.settingstext import MAX_PARSED, MAX_SETTINGS, MAX_TEXT, settings_in

TABLE = "|param|value|\n|-|-|\n|gamma|0.99|\n|env_id|CartPole-v1|\n"


def test_an_object_gives_dotted_keys() -> None:
    """Hugging Face's callback logs its arguments as JSON."""
    text = '{\n "max_steps": 120,\n "fp16": false,\n "optim_args": null,\n "kwargs": {"min_lr": 1e-05}\n}'
    assert settings_in("args", text) == [
        ("args.max_steps", 120), ("args.fp16", False), ("args.optim_args", None), ("args.kwargs.min_lr", 1e-05),
    ]  # fmt: skip


def test_a_table_of_two_columns_gives_its_rows() -> None:
    """CleanRL logs its arguments as a Markdown table; a value may contain a bar."""
    assert settings_in("hyperparameters", TABLE) == [
        ("hyperparameters.gamma", "0.99"), ("hyperparameters.env_id", "CartPole-v1"),
    ]  # fmt: skip
    assert settings_in("h", "| a | b |\n| :--- | ---: |\n| x | 1|2 |") == [("h.x", "1|2")]


@pytest.mark.parametrize(
    "text",
    [
        "second try",
        "",
        "{not json",
        "{}",
        '["a", 1]',
        "|only|a head|\n|-|-|",
        "|three|columns|here|\n|-|-|-|\n|1|2|3|",
        '{"a":' * 5_000 + "1" + "}" * 5_000,  # nested too deeply
        "{" + ",".join(f'"k{n}":1' for n in range(MAX_SETTINGS + 1)) + "}",  # too many
        '{"a": "' + "x" * MAX_PARSED + '"}',  # too long
    ],
)
def test_any_other_text_is_one_setting(text: str) -> None:
    """Notes, damaged objects and texts beyond the bounds stay texts, cut to MAX_TEXT characters."""
    assert settings_in("note", text) == [("note", text[:MAX_TEXT])]
