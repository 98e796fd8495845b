"""Arguments and SLURM variables that a program prints at its start."""

import polars as pl

from loganalyst.sources.text.lines.printedarguments import arguments


def test_calls_and_variables_become_settings() -> None:
    """A variable counts once, with its first value; a call that is cut off gives nothing."""
    lines = ["[rank0]: Namespace(lr=0.1, f=None)", 'declare -x SLURM_NNODES="2"', "SLURM_NNODES=3", "Namespace(lr="]

    assert arguments(pl.Series(lines), "a.log").rows() == [
        ("lr", "0.1", 0.1, "a.log"),
        ("f", "None", None, "a.log"),
        ("SLURM_NNODES", "2", 2.0, "a.log"),
    ]


def test_lists_with_dots_become_settings() -> None:
    """Megatron-LM's and DeepSpeed's; a report on what is installed is no argument, nor is a sentence with dots."""
    lines = [
        "  fp8_amax_history_len ............................ 1",
        "[2026-03-04 10:00:11,123] [INFO] [config.py:1003:print]   zero_optimization_stage ......... 2",
        "  fp8_amax_history_len ............................ 4",
        "async_io ............... [NO] ....... [OKAY]",
        "Loading the data .... done",
    ]

    assert arguments(pl.Series(lines), "a.log").rows() == [
        ("fp8_amax_history_len", "1", 1.0, "a.log"),
        ("zero_optimization_stage", "2", 2.0, "a.log"),
    ]


def test_names_of_what_is_loaded_become_settings() -> None:
    """By sentences or by a printed command; the first name counts. A sentence about a tokenizer names none."""
    lines = [
        "You're using a LlamaTokenizerFast tokenizer.",
        "Loading tokenizer from gpt2",
        "loading weights file model.safetensors from checkpoint Qwen/Qwen2.5-1.5B.",
        "+ python train.py --model_name_or_path other/model --tokenizer_name other/tokenizer",
    ]

    assert arguments(pl.Series(lines), "a.log").rows() == [
        ("loaded_tokenizer", "gpt2", None, "a.log"),
        ("loaded_model", "Qwen/Qwen2.5-1.5B", None, "a.log"),
    ]
    assert arguments(pl.Series(lines[-1:]), "a.log")["value"].to_list() == ["other/tokenizer", "other/model"]


def test_no_lines_give_no_settings() -> None:
    assert arguments(pl.Series([], dtype=pl.String), "a.log").height == 0
