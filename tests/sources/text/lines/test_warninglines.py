"""Lines that warn."""

import polars as pl
import pytest

from loganalyst.sources.text.lines import warninglines


@pytest.mark.parametrize(
    "line",
    [
        "/env/lib/python3.9/site-packages/sklearn/label.py:151: DeprecationWarning: The truth value is ambiguous",
        "train.py:7: RuntimeWarning: divide by zero encountered in log",
        "<string>:1: FutureWarning: Series.fillna with 'method' is deprecated",
        "scan.py:1019: Warning: In the strict mode, all shared variables must be passed",
        "2024-05-01 10:00:02,123 - train - WARNING - CUDA out of memory, trying again",
        "WARNING:root:CUDA out of memory, trying again",
        "[10:00:02] [WARN] no space left on device",
        "W0501 10:00:02.123456 77 api.py:7] closing",
        "[rank0]:[W407 10:13:23.08 ProcessGroupNCCL.cpp:1553] destroy_process_group() was not called",
        "2024-05-01 10:00:02.1: W tensorflow/core/framework/op_kernel.cc:1763] OP_REQUIRES failed",
        "warning: unused import: `serde_json::Value`",
        "MESA: warning: ../src/vk_nir.c:56: unsupported capability",
    ],
)  # fmt: skip
def test_warnings_of_python_loggers_and_tools(line: str) -> None:
    assert warninglines.warns(pl.Series([line])).to_list() == [True]


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
        "UserWarning: raised as an exception",
        "2024-05-01 10:00:02,123 - train - ERROR - warning threshold reached",
        "2024-05-01 10:00:02 ERROR loader: [WARNING] was raised to an error",
        "n1:77:99 [0] misc/ibvwrap.cc:284 NCCL WARN Call to ibv_modify_qp failed",
        "E0501 10:00:02.123456 77 api.py:7] failed (exitcode: 1)",
        "WARMUP: 100 steps",
        "loss 0.5 at 10:00:02, warnings are off",
    ],
)
def test_other_lines_do_not_warn(line: str) -> None:
    assert warninglines.warns(pl.Series([line])).to_list() == [False]


def test_only_warnings_of_python_quote_code() -> None:
    lines = pl.Series(["a.py:7: UserWarning: no grad", "WARNING:root:no grad", "  warnings.warn("])
    assert warninglines.of_python(lines).to_list() == [True, False, False]
