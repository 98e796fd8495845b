from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from loganalyst.blame import rootline
from loganalyst.blame.survival import outlived
from loganalyst.features import text
from loganalyst.features.context import Context
from loganalyst.model import Features, Run, Source, Witness, table
from loganalyst.sources.ingest import ingest

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has a total capacity of 80.00 GiB "
    "of which 1.00 GiB is free. Of the allocated memory 60.00 GiB is allocated by PyTorch, and 16.00 GiB is reserved "
    "by PyTorch but unallocated."
)
STEPS = "".join(f"step {i} loss {1 / i:.4f}\n" for i in range(1, 9))
TRACE = 'Traceback (most recent call last):\n  File "/home/me/train.py", line 12, in step\n    x()\n'
CANCEL = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-01T00:00:00 ***\n"
LIMIT = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***\n"


def features(run: Run) -> Features:
    computed = text.compute(Context(run=run, curves=(), findings=table("findings")))
    pairs = {k: v if isinstance(v, tuple) else (v, None) for k, v in computed.items()}
    return Features({k: v for k, (v, _) in pairs.items()}, {k: w for k, (_, w) in pairs.items() if w})


def values(folder: Path, log: str, name: str = "slurm-7.out") -> Features:
    path = folder / name
    path.write_text(log)
    return features(ingest(path))


def blamed(folder: Path, log: str) -> tuple[object, object]:
    """Label and line of the root cause."""
    found = values(folder, log)
    witness = found.witnesses.get("log_root_label")
    return found.values["log_root_label"], witness.line if witness else None


def test_every_feature_is_declared_once(tmp_path: Path) -> None:
    """What compute gives is declared, and no name is declared twice."""
    names = [f.name for f in text.FEATURES]

    assert len(names) == len(set(names))
    assert set(values(tmp_path, STEPS + TRACE + OOM).values) <= set(names)


def test_without_a_log_nothing_is_known() -> None:
    """Not even zero."""
    assert features(Run(sources=(Source("metrics.csv", "csv", 1),))).values == {}


def test_a_log_without_fault(tmp_path: Path) -> None:
    """A log without a fault gives none and zero."""
    found = values(tmp_path, STEPS + "Training completed.\n").values

    assert tuple(found[f"log_{k}"] for k in ("root_label", "root_pattern", "kill_signal")) == ("none", "none", "none")
    assert tuple(found[k] for k in ("log_lines_read", "log_traceback_count", "log_cascade_count")) == (9, 0, 0)


def test_cuda_oom(tmp_path: Path) -> None:
    """Sizes, frame, rank and place of the out-of-memory line are features."""
    log = STEPS + "".join(f"[rank2]: {line}\n" for line in (TRACE + OOM).split("\n"))
    found = values(tmp_path, log)
    got = found.values

    assert (got["log_root_label"], got["log_root_pattern"], got["log_root_rank"]) == ("cuda_oom", "cuda-oom", 2)
    assert tuple(got[f"log_oom_{k}"] for k in ("tried_gib", "total_gib", "free_gib", "reserved_share")) == (
        2.5,
        80.0,
        1.0,
        0.2,
    )
    assert got["log_root_exception"] == "torch.OutOfMemoryError"
    assert got["log_root_frame"] == "/home/me/train.py:12 in step"
    assert Witness(file="slurm-7.out", line=12, rank=2) == found.witnesses["log_root_label"]


def test_the_block_of_the_root_cause(tmp_path: Path) -> None:
    """Exception and frame of a worker's own traceback below the line, and the number of ranks that printed it."""
    outer = [
        "Traceback (most recent call last):",
        '  File "/home/me/train.py", line 7, in main',
        "    for batch in loader:",
        '  File "/env/lib/python3.11/site-packages/torch/_utils.py", line 694, in reraise',
        "    raise exception",
        "ValueError: Caught ValueError in DataLoader worker process {rank}.",
        "Original Traceback (most recent call last):",
        '  File "/home/me/data.py", line 31, in __getitem__',
        "    raise ValueError(path)",
        "ValueError: shard {rank}3 is empty",
    ]
    log = STEPS + "".join(f"[rank{r}]: {line.format(rank=r)}\n" for r in (2, 0, 5) for line in outer)
    found = values(tmp_path, log)
    got = {name: found.values[f"log_root_{name}"] for name in ("exception", "message", "frame", "rank", "ranks")}

    assert got == {
        "exception": "ValueError",
        "message": "shard 23 is empty",
        "frame": "/home/me/data.py:31 in __getitem__",
        "rank": 2,
        "ranks": 3,
    }
    assert found.witnesses["log_root_ranks"].line == 18


def test_host_memory_sizes(tmp_path: Path) -> None:
    """The scheduler's measurements in GiB."""
    got = values(
        tmp_path, "slurmstepd: error: StepId=7.0 exceeded memory limit (2147483648 > 1073741824), being killed"
    ).values

    assert (got["log_host_memory_used_gib"], got["log_host_memory_limit_gib"]) == (2.0, 1.0)


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        # a cascade never goes before a fault, whichever stands first
        (STEPS + "Sending process 9 closing signal SIGTERM\nValueError: bad\n", ("code_exception", 10)),
        # the earliest fault counts
        (STEPS + "ValueError: bad\n[Rank 1] Watchdog caught collective operation timeout: x\n", ("code_exception", 9)),
        # a fault that training survived does not
        (OOM + "\n" + STEPS + LIMIT, ("slurm_timeout", 10)),
        ("ValueError: bad\n" + STEPS, ("none", None)),
        # one later line may be the dump of what went wrong
        (STEPS + "Loss is nan, stopping training\n{'loss': 1.0}\n", ("nan_loss", 9)),
        # a cancel after a failed exit is the clean-up
        ("srun: error: n2: task 2: Killed\n" + CANCEL, ("other", 1)),
        (CANCEL + "srun: error: n1: task 0: Terminated\n", ("slurm_cancelled", 1)),
        # a bare kill is not proof of an empty memory, the scheduler's word is
        (STEPS + "Killed\n", ("other", 9)),
        (STEPS + "Killed\nslurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some\n", ("host_oom", 10)),
        # only consequences: the strongest of them
        ("[Rank 4] To avoid data inconsistency, we are taking the entire process down.\n", ("nccl_timeout", 1)),
        # the launcher's table names the first failure
        (" exitcode : 1 (pid: 1)\nRoot Cause (first observed failure):\n exitcode : -11 (pid: 2)\n", ("segfault", 3)),
        # a known fault goes before a general exception of the same chain
        (
            TRACE + "KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n"
            + TRACE + "OSError: [Errno 28] No space left on device\n",
            ("disk_full", 11),
        ),
        # the first of a chain otherwise
        (
            TRACE + "KeyError: 'a'\n\nThe above exception was the direct cause of the following exception:\n\n"
            + TRACE + "RuntimeError: b\n",
            ("code_exception", 4),
        ),
        # a traceback without its end
        (STEPS + TRACE, ("code_exception", 9)),
        # output flushed after the traceback, and an exit that failed
        (TRACE + "ValueError: bad\n" + STEPS + "Command exited with non-zero status 1\n", ("code_exception", 4)),
        # advice is never blamed
        ("For debugging consider passing CUDA_LAUNCH_BLOCKING=1.\n", ("none", None)),
    ],
)  # fmt: skip
def test_the_order_of_blame(tmp_path: Path, log: str, expected: tuple[object, object]) -> None:
    """Which line is the root cause if several could be."""
    assert expected == blamed(tmp_path, log)


def test_the_last_session_counts(tmp_path: Path) -> None:
    """Faults of earlier starts are not blamed on the last one; each session has its own label."""
    start = "Namespace(lr=0.1)\n"
    path = tmp_path / "train.log"
    path.write_text(start + STEPS + OOM + "\n" + start + STEPS + "ValueError: bad\n" + start + STEPS)
    run = ingest(path)

    labels = [row and row["label"] for row in rootline.session_roots(run, outlived(run)).values()]

    assert labels == ["cuda_oom", "code_exception", None]
    assert features(run).values["log_root_label"] == "none"
    assert features(run).values["log_lines_read"] == 9


def test_every_session_has_its_own_cause(tmp_path: Path) -> None:
    """In a file with several jobs each session has its own label, line, rank and node."""
    path = tmp_path / "train.log"
    path.write_text(
        STEPS + f"[rank2]: {OOM}\n" + CANCEL.replace("JOB 7", "STEP 7.0") + "Namespace(lr=0.1)\n" + STEPS
        + LIMIT.replace("JOB 7", "JOB 8") + "Namespace(lr=0.1)\n" + STEPS
    )  # fmt: skip
    run = ingest(path)
    roots = rootline.session_roots(run, outlived(run)).values()
    found = [row and (row["label"], row["line"], row["rank"], row["node"]) for row in roots]

    assert run.sessions["job"].to_list() == ["7", "8", "8"]
    assert found == [("cuda_oom", 9, 2, None), ("slurm_timeout", 20, None, "n1"), None]


def test_a_silent_session_is_not_judged(tmp_path: Path) -> None:
    """After a requeue the cause is that of the previous session until the new one prints something."""
    path = tmp_path / "train.log"
    preempted = LIMIT.replace("TIME LIMIT", "PREEMPTION")
    path.write_text(STEPS + preempted + "Namespace(lr=0.1)\nloading\n")
    waiting = ingest(path)
    path.write_text(STEPS + preempted + "Namespace(lr=0.1)\nloading\n" + STEPS)

    assert (rootline.judged_session(waiting), rootline.judged_session(ingest(path))) == (0, 1)


def test_two_logs_of_one_run(tmp_path: Path) -> None:
    """Metrics in one file do not prove that a fault in another was survived."""
    (tmp_path / "train.out").write_text(STEPS)
    (tmp_path / "train.err").write_text(TRACE + "ValueError: bad\n")
    found = features(ingest(tmp_path))

    assert found.values["log_root_label"] == "code_exception"
    assert (found.witnesses["log_root_label"].file, found.witnesses["log_root_label"].line) == ("train.err", 4)


def test_counts(tmp_path: Path) -> None:
    """Tracebacks and what follows from a fault are counted; the signal is that of the first to die."""
    log = (
        STEPS + TRACE + "ValueError: bad\nWARNING: Sending process 17 closing signal SIGTERM\n"
        "failed (exitcode: -9) local_rank: 1 (pid: 3) of binary: python\n"
    )
    got = values(tmp_path, log).values

    assert tuple(got[f"log_{k}"] for k in ("traceback_count", "cascade_count", "kill_signal")) == (1, 1, "SIGKILL")


OLD_TORCH = (
    "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 24.00 GiB total capacity; 5.00 GiB already "
    "allocated; 512.00 MiB free; 5.50 GiB reserved in total by PyTorch)\n"
)
ENGINE = (
    "ValueError: Free memory on device cuda:0 (18.0/80.0 GiB) on startup is less than desired GPU memory utilization "
    "(0.9, 72.0 GiB).\n"
)


@pytest.mark.parametrize(("error", "others", "free"), [(OLD_TORCH, 18.0, 0.5), (ENGINE, 62.0, 18.0)])
def test_memory_that_is_neither_free_nor_held(tmp_path: Path, error: str, others: float, free: float) -> None:
    """Other processes hold what is neither free nor reserved by this one."""
    got = values(tmp_path, STEPS + TRACE + error).values

    assert (got["log_oom_others_gib"], got["log_oom_free_gib"]) == (others, free)


def test_later_lines_of_a_message(tmp_path: Path) -> None:
    """The parameter that does not fit, and the advice below it."""
    error = (
        "RuntimeError: Error(s) in loading state_dict for Net:\n"
        "\tsize mismatch for classifier.weight: copying a param with shape torch.Size([2, 8]) from checkpoint, the "
        "shape in current model is torch.Size([5, 8]).\n"
        "\tYou may consider adding `ignore_mismatched_sizes=True` in the model `from_pretrained` method.\n"
    )
    got = values(tmp_path, TRACE + error).values

    assert got["log_root_parameter"] == "classifier.weight"
    assert got["log_root_advice"] == (
        "You may consider adding `ignore_mismatched_sizes=True` in the model `from_pretrained` method"
    )


def test_labelled_corpus() -> None:
    """At least nine in ten causes are right and no healthy log is called failed."""
    corpus = Path(__file__).parents[2] / "../shared/corpus/text"
    if not corpus.is_dir():
        pytest.skip("the corpus of labelled logs is not here")
    from tests.bench.text_labels import by_segment

    judged = list(by_segment(corpus))

    assert all(j.right for j in judged if j.healthy)
    assert np.mean([j.right for j in judged if not j.healthy]) >= 0.9
    assert np.mean([j.near(2) for j in judged if j.truth["root_line"]]) >= 0.9


def test_a_traceback_that_was_cut_off(tmp_path: Path) -> None:
    """Its first line says nothing; its last own frame does."""
    head = 'Traceback (most recent call last):\n  File "/home/me/train.py", line 31, in step\n    out = model(x)\n'
    whole = values(tmp_path, STEPS + head + "ValueError: bad\n").values
    cut = values(tmp_path, STEPS + head, "slurm-8.out").values

    assert whole["log_root_message"] == "bad"
    assert cut["log_root_message"] == (
        "a traceback at /home/me/train.py:31 in step; the line of its exception is not in the log"
    )
    assert (cut["log_root_label"], cut["log_root_basis"]) == ("code_exception", "cut")
    assert (whole["log_root_label"], whole["log_root_basis"]) == ("code_exception", "pattern")


def test_words_that_no_pattern_knows_are_no_failure_of_a_finished_run(tmp_path: Path) -> None:
    """A tracker says that the run finished; its log ends with the complaint of a request."""
    path = tmp_path / "output.log"
    path.write_text(
        STEPS + "File file-x could not be retrieved. Make sure you are allowed to download training files\n"
    )
    open_end = ingest(path)

    assert features(open_end).values["log_root_basis"] == "words"
    assert features(replace(open_end, status="finished")).values["log_root_label"] == "none"
