"""What whole job logs are put down to: ends that no fault of the program explains, and logs that merely stop."""

from pathlib import Path

import pytest

from loganalyst import diagnose
from loganalyst.errors import SourceError

STEPS = "".join(f"step {i}/20000 loss {10 - i / 100:.4f}\n" for i in (10, 20, 30))
RAY = """\
step 10 loss 2.5
step 20 loss 2.4
ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.
The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR
"""
HALF = """\
Traceback (most recent call last):
  File "train.py", line 9, in step
    scores.masked_fill_(mask, -1e9)
RuntimeError: value cannot be converted to type at::Half without overflow
"""
POD = """\
NAME             READY   STATUS             RESTARTS   AGE
train-worker-0   0/1     CrashLoopBackOff   14         41m
"""
HEARTBEAT = """\
I0102 03:04:05.678901 77 trainer.py:51] Training: step 198
2026-01-02 03:06:15.140058: E coordination_service.cc:954] /job:jax_worker/replica:0/task:37 has been set to ERROR in \
coordination service: UNAVAILABLE: Task /job:jax_worker/replica:0/task:37 heartbeat timeout. This indicates that the \
remote task has failed, got preempted, or crashed unexpectedly.
"""
PREEMPTED = (
    "step 10 loss 2.5\nW0102 03:04:05.678901 77 preemption_notifier.cc:89] SIGTERM caught at 2026-01-02T03:04:05\n"
)
NOT_READY = "Events:\n  Warning  NodeNotReady  5m  node-controller  Node is not ready\n"
STUCK = """\
step 10 loss 2.5
6: [rank6]:[F ProcessGroupNCCL.cpp:1169] [PG 0 Rank 6] ProcessGroupNCCL's watchdog got stuck for 600 seconds without \
making progress in monitoring enqueued collectives.
srun: error: n3: task 6: Aborted
"""
SCALE = "step 10 loss 2.5\n" + "".join(
    f"| WARNING: overflow detected, setting loss scale to: {2.0**-i:.16g}\n" for i in range(2, 13)
)

LOADED = """\
Traceback (most recent call last):
  File "train.py", line 9, in main
    for batch in loader:
KeyError: Caught KeyError in DataLoader worker process 0.
"""
NEVER_MET = """\
Traceback (most recent call last):
  File "train.py", line 9, in main
    jax.distributed.initialize("n1:1234", 8, 0)
jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect. Timed out \
task names:
"""
KILLED = """\
step 10 loss 2.5
Traceback (most recent call last):
  File "train.py", line 9, in main
    mp.spawn(run, nprocs=2)
torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGKILL
"""
ASCEND = """\
npuSynchronizeDevice:NPUStream.cpp:7 NPU error, error code is 107020.
EI0002: The wait execution of the Notify register times out. Reason: no Notify record from remote rank [3].
"""
CPU_ALLOCATOR = """\
step 10 loss 2.5
2026-01-02 03:04:05.678901: W op_kernel.cc:1273] OP_REQUIRES failed at cwise_ops_common.h:245 : Resource exhausted: \
OOM when allocating tensor with shape[3,64] and type float on /job:worker/task:0/device:CPU:0 by allocator cpu
"""
NINJA = """\
Traceback (most recent call last):
  File "/opt/lib/python3.10/site-packages/torch/utils/cpp_extension.py", line 1893, in _run_ninja_build
    subprocess.run(
subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.
"""
CURL = "fetching weights\ncurl: (56) Recv failure: Connection reset by peer\n"
TO_THE_FLOOR = "{'loss': 2.0491, 'epoch': 0.28}\n" + "".join(
    f"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {2**i}, reducing to {2 ** (i - 1)}\n"
    for i in range(6, 1, -1)
)
BRACKETS = "".join(
    f"[R0] | E{i} iter[ 14/ 15] | [Loss] {loss} | [step] {15 * i} | [best] 0\n"
    for i, loss in enumerate((7.5, 5156.4, "nan", "nan", "nan"))
)
SIGNALS = """\
W0102 03:04:05.612520 99295 init.cc:217] *** Aborted at 1599144849 (unix time) try "date -d @1599144849" ***
W0102 03:04:05.615001 99295 init.cc:217] PC: @                0x0 (unknown)
W0102 03:04:05.615162 99295 init.cc:217] *** {} (@0x110) received by PID 98722 (TID 0x7f64a3fff700) stack trace: ***
W0102 03:04:05.617220 99295 init.cc:217]     @     0x7f66f9600390 (unknown)
"""
PADDLE = """\
ERROR 2026-01-02 03:04:05,006 launch.py:269] ABORT!!! Out of all 4 trainers, the trainer process with rank=[0, 2] was \
aborted. Please check its log.
"""
MPIRUN = "step 10 loss 2.5\nmpirun noticed that process rank 3 with PID 77 on node n2 exited on signal {}.\n"
LAUNCH = "srun: error: task 0 launch failed: Error configuring interconnect\n"
ENDED = "step 10 loss 2.5\nCommand exited with non-zero status {}\n"
ZEROS = "{'loss': 6.2645, 'epoch': 0.0}\n" + "".join(f"{{'loss': 0.0, 'epoch': 0.{i}}}\n" for i in range(1, 10))


@pytest.mark.parametrize(
    ("log", "cause", "label", "line"),
    [
        (RAY, "worker-lost", "other", 3),
        (HALF, "fp16-overflow", "numeric_overflow", 4),
        (POD, "pod-ended", "other", 2),
        (HEARTBEAT, "node-failure", "node_failure", 2),
        (PREEMPTED, "slurm-preempted", "slurm_preempted", 2),
        (NOT_READY, "node-failure", "node_failure", 2),
        (STUCK, "nccl-timeout", "nccl_timeout", 2),
        (SCALE, "loss-scale-floor", "loss_scaling", 7),
        (LOADED, "code-exception", "code_exception", 4),
        (NEVER_MET, "rendezvous-timeout", "network", 4),
        (KILLED, "host-out-of-memory", "host_oom", 5),
        (ASCEND, "nccl-timeout", "nccl_timeout", 2),
        (CPU_ALLOCATOR, "host-out-of-memory", "host_oom", 2),
        (NINJA, "library-mismatch", "import_error", 4),
        (CURL, "network-error", "network", 2),
        (TO_THE_FLOOR, "loss-scale-floor", "loss_scaling", 6),
        (BRACKETS, "nan-loss", "nan_loss", 3),
        (SIGNALS.format("SIGSEGV"), "segmentation-fault", "segfault", 3),
        (SIGNALS.format("SIGABRT"), "native-abort", "other", 3),
        (SIGNALS.format("SIGTERM"), "killed-from-outside", "other", 3),
        (PADDLE, "worker-lost", "other", 1),
        (MPIRUN.format("11 (Segmentation fault)"), "segmentation-fault", "segfault", 2),
        (MPIRUN.format("6 (Aborted)"), "native-abort", "other", 2),
        (MPIRUN.format("9 (Killed)"), "killed-from-outside", "other", 2),
        (MPIRUN.format("15 (Terminated)"), "killed-from-outside", "other", 2),
        (LAUNCH, "node-failure", "node_failure", 1),
        (ENDED.format(139), "segmentation-fault", "segfault", 2),
    ],
    ids=[
        "ray",
        "half",
        "pod",
        "heartbeat",
        "preempted",
        "not-ready",
        "stuck",
        "scale",
        "loaded",
        "never-met",
        "killed",
        "ascend",
        "cpu-allocator",
        "ninja",
        "curl",
        "to-the-floor",
        "brackets",
        "signal-segv",
        "signal-abrt",
        "signal-term",
        "paddle",
        "mpirun-segv",
        "mpirun-abrt",
        "mpirun-kill",
        "mpirun-term",
        "launch-failed",
        "ended-139",
    ],
)
def test_the_cause_and_its_line(tmp_path: Path, log: str, cause: str, label: str, line: int) -> None:
    """The first cause, and the line of the log that states it."""
    path = tmp_path / "train.log"
    path.write_text(log)
    found = diagnose(path)

    assert found.status == "diagnosis_complete"
    assert (found.causes[0].id, found.causes[0].label, found.causes[0].line) == (cause, label, line)


def test_a_missed_heartbeat_is_no_proof_of_a_lost_node(tmp_path: Path) -> None:
    """The word of the scheduler is: it is surer than that of a program that had no answer."""
    (tmp_path / "a.log").write_text(HEARTBEAT)
    (tmp_path / "b.log").write_text("step 10 loss 2.5\nsrun: error: Node failure on n2\n")
    missed, lost = (diagnose(tmp_path / name).causes[0] for name in ("a.log", "b.log"))

    assert missed.verdict == "likely"
    assert missed.band != "high"
    assert lost.band == "high"


def test_a_log_that_merely_stops_is_not_called_dead(tmp_path: Path) -> None:
    """Three of 20,000 steps: it may be the head of a log that went on. Where a kill is told, it is the cause."""
    path = tmp_path / "train.log"
    path.write_text(STEPS)
    assert (diagnose(path).status, diagnose(path).causes) == ("insufficient_data", ())

    path.write_text(STEPS + "Killed\n")
    assert diagnose(path).causes[0].id == "killed-from-outside"


def test_advice_names_the_job_that_a_line_of_the_log_tells(tmp_path: Path) -> None:
    """No accounting, and no number in the log's name."""
    path = tmp_path / "train.log"
    path.write_text("step 10 loss 2.5\nsrun: error: n2: task 0: Killed\nsrun: Force Terminated StepId=123456.0\n")
    found = diagnose(path)

    assert found.run.job == "123456"
    assert found.causes[0].fix[0].change.startswith("check the records: sacct -j 123456 -o State,")


def test_terms_that_stay_behind_do_not_end_a_run_as_nan(tmp_path: Path) -> None:
    """One term fell far while the other stood, and then both were NaN: that is what happened first and last."""
    terms = [(2.0 * 0.8**i, 5.0 + 0.1 * (i % 2)) for i in range(20)] + [(float("nan"),) * 2] * 20
    path = tmp_path / "train.log"
    path.write_text(
        "".join(
            f"step {10 * i} loss: {a + b:.4f} loss_cls: {a:.4f} loss_reg: {b:.4f}\n" for i, (a, b) in enumerate(terms)
        )
    )

    assert diagnose(path).causes[0].id == "nan-loss"


def test_a_late_part_of_a_run_whose_score_still_gains_is_no_overfitting(tmp_path: Path) -> None:
    """The gap was there before; the same curves from the first epoch on are far apart at once."""
    curves = zip(
        (0.158, 0.152, 0.113, 0.165, 0.167, 0.14, 0.114, 0.154, 0.105, 0.107, 0.116, 0.098),
        (1.063, 1.064, 1.062, 1.053, 1.044, 1.036, 1.031, 1.026, 1.023, 1.021, 1.034, 1.043),
        (0.718, 0.716, 0.716, 0.716, 0.72, 0.718, 0.718, 0.72, 0.722, 0.722, 0.724, 0.726),
        strict=True,
    )
    rows = [f"train loss {a} train acc: 0.979, val loss: {b} val acc {c}.\n" for a, b, c in curves]
    for first, name in ((1268, "late.log"), (1, "whole.log")):
        (tmp_path / name).write_text("".join(f"Epoch {i}: {row}" for i, row in enumerate(rows, first)))

    late, whole = (diagnose(tmp_path / name) for name in ("late.log", "whole.log"))

    assert (late.status, late.causes) == ("healthy", ())
    assert whole.causes[0].id == "train-val-mismatch"  # far above the training loss from the first epoch on


def test_a_rise_within_the_noise_of_a_few_held_out_values_is_no_overfitting(tmp_path: Path) -> None:
    """Seven epochs, of which one jumps; the same shape drawn out over many epochs is overfitting."""
    held_out = (70.7, 58.7, 59.8, 125.8, 47.1, 73.3, 85.8)
    path = tmp_path / "train.log"
    path.write_text(
        "".join(
            f"Epoch [{i:03d}/300] - Train Loss: {train}, Valid Loss: {held}, LR: [0.001]\n"
            for i, (train, held) in enumerate(
                zip((145.1, 71.4, 62.0, 60.0, 52.4, 54.0, 51.4), held_out, strict=True), 1
            )
        )
    )

    assert diagnose(path).causes == ()


def test_a_loss_that_is_exactly_zero_after_one_value(tmp_path: Path) -> None:
    """The value before the zeros was no small one: the loss did not come down to them."""
    path = tmp_path / "train.log"
    path.write_text(ZEROS)

    assert [c.id for c in diagnose(path).causes] == ["loss-frozen-at-zero", "masked-nan", "labels-all-masked"]


def test_a_shell_without_conda_is_blamed_only_where_nothing_ran(tmp_path: Path) -> None:
    """The script went on in the environment it had."""
    path = tmp_path / "train.log"
    path.write_text("CondaError: Run 'conda init' before 'conda activate'\n")
    assert diagnose(path).causes[0].id == "config-error"

    path.write_text("CondaError: Run 'conda init' before 'conda activate'\n" + STEPS)
    assert diagnose(path).causes == ()


def test_what_ended_a_requeued_job_stands_in_its_error_stream(tmp_path: Path) -> None:
    """Its output tells of three starts, the stream of one: the crash is of the last."""
    starts = (
        f"SLURM_JOB_ID=4711\nSLURM_RESTART_COUNT={k}\nUsing device cuda:0\n"
        + "".join(
            f"2026-11-20 1{k}:{i:02d}:00 step {100 * k + i} loss {3 / (100 * k + i + 1):.4f}\n" for i in range(60)
        )
        for k in range(3)
    )
    (tmp_path / "slurm-4711.out").write_text("".join(starts))
    (tmp_path / "slurm-4711.err").write_text(
        'Traceback (most recent call last):\n  File "/app/train.py", line 40, in step\n    return model(x)\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    )
    found = diagnose(tmp_path)

    assert (found.run.status, found.causes[0].id) == ("failed", "cuda-out-of-memory")
    assert [s.label for s in found.sessions] == [None, None, "cuda_oom"]


def _task_log(rank: int, says: str) -> str:
    steps = "".join(f"2026-11-20 10:00:{k:02d} step {k} loss {3 / (k + 1):.4f}\n" for k in range(30))
    end = "Traceback (most recent call last):\n  File \"/app/train.py\", line 40, in step\nKeyError: 'ids'\n"
    return f"{says}\n" + steps + (end if rank == 2 else "")


def test_logs_of_the_tasks_of_a_step_are_one_run(tmp_path: Path) -> None:
    """Named as those of an array are: each says itself which rank it is."""
    for rank in range(4):
        log = _task_log(rank, f"init process group: rank={rank} world_size=4")
        (tmp_path / f"train_4711_{rank}.out").write_text(log)
        (tmp_path / f"train_4711_{rank}.err").write_text("UserWarning: nothing of note\n")
    found = diagnose(tmp_path)

    assert (found.causes[0].file, found.causes[0].rank) == ("train_4711_2.out", 2)


@pytest.mark.parametrize("says", ["rank=0 world_size=1", "[rank0]: a [rank1]: b [rank2]: c", "no word of it"])
def test_logs_of_the_tasks_of_an_array_are_runs(tmp_path: Path, says: str) -> None:
    """Each has a rank 0, or all of them, or none."""
    for task in range(4):
        (tmp_path / f"train_4711_{task}.out").write_text(_task_log(task, says))

    with pytest.raises(SourceError, match="holds 4 runs"):
        diagnose(tmp_path)


def test_the_rank_of_a_log_of_submitit(tmp_path: Path) -> None:
    """Its names end in the number of the process."""
    for rank in range(4):
        (tmp_path / f"4711_{rank}_log.out").write_text(_task_log(rank, ""))

    assert diagnose(tmp_path).causes[0].rank == 2


@pytest.mark.parametrize("others", [(), ("gpu02",)])
def test_the_node_on_which_a_job_was_killed(tmp_path: Path, others: tuple[str, ...]) -> None:
    """The line that tells why does not tell where: the only node that is named is taken, of several none."""
    path = tmp_path / "slurm-7518.out"
    path.write_text(
        STEPS + "slurmstepd: error: Job 7518 exceeded memory limit (626359956 > 512000000), being killed\n"
        "slurmstepd: error: Exceeded job memory limit\n"
        + "".join(
            f"slurmstepd: error: *** JOB 7518 ON {node} CANCELLED AT 2022-06-10T17:11:35 ***\n"
            for node in ("gpu01", *others)
        )
    )
    cause = diagnose(path).causes[0]

    assert (cause.label, cause.line, cause.node) == ("host_oom", 4, None if others else "gpu01")
