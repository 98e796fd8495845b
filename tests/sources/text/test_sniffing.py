"""Which files are job logs."""

from pathlib import Path

import pytest

from loganalyst.sources.text import sniffing

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


@pytest.mark.parametrize(
    ("name", "content", "least", "most"),
    [
        ("slurm-12.out", "anything at all\n", 0.6, 0.6),
        ("train.log", "epoch 1 loss 0.5\n", 0.4, 0.6),
        ("stdout", "epoch 1 loss 0.5\n", 0.4, 0.6),
        ("result.md", f"some words\n{OOM}\n", 0.4, 0.4),
        ("dask-scheduler.e", "distributed.scheduler - INFO - Clear task state\n", 0.4, 0.4),
        ("main.o", "\x7fELF\x02\x01\x01" + "\x00" * 9 + "\x01\x00\x3e\x00\x01\x02\x03\x04", 0, 0),
        ("notes.txt", "buy milk\n", 0, 0),
        ("train.py", "total = 0\nprint('epoch 1 loss 0.5')\n", 0, 0),
        ("train.py", '"""Prints loss: 0.5"""\nmain()\n', 0, 0),
        ("train.cpp", 'int main() {\n  printf("loss: 0.5");\n}\n', 0, 0),
        ("training_log.py", "Epoch 1/2\n30s - loss: 1.25 - acc: 0.5\n", 0.4, 0.4),
        ("config.log.yaml", "---\nloss: 1\n", 0, 0),
        ("print.log", "---\n[Epoch 1] Train loss=0.5\n", 0.5, 0.5),
        ("metrics.log", '{"loss": 0.5}\n{"loss": 0.4}\n', 0, 0),
        ("table.log", "step\tloss\tlr\n1\t0.5\t0.1\n", 0, 0),
        ("catboost.log", "0:\tlearn: 0.69\ttest: 0.68\n1:\tlearn: 0.6\ttest: 0.6\n", 0.5, 0.5),
        ("train.log", "Epoch: [0][0/391]\tTime 0.5 (0.5)\tLoss 2.3 (2.3)\n", 0.5, 0.5),
        ("table.log", "step,loss,lr\n1,0.5,0.1\n2,0.4,0.1\n3,0.3,0.1\n4,0.2,0.1\n", 0, 0),
        ("train.log", "".join(f"epoch: {i}, loss: 0.{i}, acc: 0.5\n" for i in range(1, 6)), 0.5, 0.5),
        ("train.log", "".join(f"{{'loss': 0.{i}, 'lr': 0.1, 'epoch': {i}}}\n" for i in range(1, 6)), 0.5, 0.5),
        ("train.log", "".join(f"{{'loss': '0.{i}', 'lr': '1e-05', 'epoch': '{i}'}}\n" for i in range(1, 6)), 0.5, 0.5),
        (
            "run.log",
            "1/9 [0:01, 1.5it/s]a,b\n" + "".join(f"{{'loss': '0.{i}', 'lr': '0.1', 'epoch': '1'}}\n" for i in range(5)),
            0.5,
            0.5,
        ),
        (
            "run.log",
            "seed,data,lr\n" + "".join(f"{{'loss': 0.{i}, 'lr': 0.1, 'epoch': 1}}\n" for i in range(5)),
            0.5,
            0.5,
        ),
        ("history.csv", "".join(f"Epoch:{i}, cost is 0.{i}\n" for i in range(1, 6)), 0.4, 0.4),
        ("history.csv", "step,loss\n1,0.5\n2,0.4\n", 0, 0),
        ("out.csv", 'start\n  File "/home/u/train.py", line 12, in <module>\n    main()\nKeyError: 1\n', 0.4, 0.4),
        ("answers.csv", "question,answer\nwhat is loss: 0.5,no\nnothing,yes\nwhere,here\n", 0, 0),
        ("rows.log", "".join(f"2026-01-02T03:04:0{i},{i},0.{i}\n" for i in range(1, 6)), 0, 0),
        ("run.out", "\x7fELF\x01\x02\x03\x04" * 20, 0, 0),
        ("run8.txt", "Score of Epoch #1 : 2.5\n", 0.4, 0.4),
        ("run7.txt", "Episode 10\nAverage reward: 3.5\n", 0.4, 0.4),
        ("script.txt", "#!/bin/bash\necho epoch 1\n", 0, 0),
        ("script.txt", "import torch.nn as nn\nepoch = 1\n", 0, 0),
        ("script.txt", "import { log } from 'log'\nepoch = 1\n", 0, 0),
        ("job.txt", "import sparse tasks from ['/opt/tasks']\nepoch 1 loss 0.5\n", 0.4, 0.4),
    ],
)
def test_sniff(name: str, content: str, least: float, most: float) -> None:
    """Logs are recognised by name and content; code, JSON, tables and binaries are not logs."""
    assert least <= sniffing.likeness(Path(name), content.encode()) <= most
