"""Small job logs of our own, with the words programs really print; the line that is the root cause ends with ROOT."""

# ruff: noqa: E501 -- lines of logs stay whole

from dataclasses import dataclass, field

ROOT = " <<<root"


@dataclass(frozen=True)
class Case:
    """Files of a run (name -> text), and what must be found: label (None: nothing), rank and node that failed first."""

    name: str
    files: dict[str, str] = field(hash=False)
    label: str | None
    rank: int | None = None
    node: str | None = None


def steps(first: int, last: int, prefix: str = "", minute: int | None = None) -> str:
    """Lines of training; with `minute` each has a time, a second apart."""
    lines = []
    for step in range(first, last + 1):
        seconds = (minute or 0) * 60 + step
        at = (
            f"2024-05-01 {10 + seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},000 INFO "
            if minute is not None
            else ""
        )
        lines.append(f"{prefix}{at}step {step} loss {2 + 1 / step:.4f} lr 0.001\n")
    return "".join(lines)


def trace(error: str, prefix: str = "", function: str = "train_step", line: int = 88) -> str:
    """A traceback that ends with `error`."""
    return (
        f"{prefix}Traceback (most recent call last):\n"
        f'{prefix}  File "/home/ann/proj/train.py", line 210, in <module>\n{prefix}    main()\n'
        f'{prefix}  File "/home/ann/proj/train.py", line {line}, in {function}\n{prefix}    out = model(batch)\n'
        f"{prefix}{error}\n"
    )


HANDLED = "\nDuring handling of the above exception, another exception occurred:\n\n"


def watchdog(rank: int, clock: str = "10:20:00.100000000", seq: int = 812) -> str:
    """What NCCL's watchdog of a rank says."""
    return (
        f"[rank{rank}]:[E501 {clock} ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation timeout: "
        f"WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600021 "
        "milliseconds before timing out."
    )


def placed(ranks: int) -> str:
    """What NCCL says of each rank as it starts: all on nodes of their own."""
    comm = "NCCL INFO comm 0x5"
    return "".join(
        f"n{r}:7:9 [0] {comm} rank {r} nranks {ranks} cudaDev 0 busId 1 - Init START\n" for r in range(ranks)
    )


def down(rank: int, clock: str = "10:20:01.200000000") -> str:
    """What follows from it."""
    return (
        f"[rank{rank}]:[E501 {clock} ProcessGroupNCCL.cpp:630] [Rank {rank}] To avoid data inconsistency, we are taking "
        "the entire process down.\n"
    )


def table(rank: int, host: str, code: int = 1, time: str = "2024-05-01_10:05:00", local: int | None = None) -> str:
    """The table torchrun prints at its end."""
    return (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "============================================================\ntrain.py FAILED\n"
        "------------------------------------------------------------\nFailures:\n  <NO_OTHER_FAILURES>\n"
        "------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n"
        f"  time      : {time}\n  host      : {host}\n  rank      : {rank} (local_rank: {rank if local is None else local})\n"
        f"  exitcode  : {code} (pid: 4711)\n  error_file: <N/A>\n"
        "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n"
        "============================================================\n"
    )


OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of "
    "which 1.10 GiB is free. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 3.00 GiB is reserved by "
    "PyTorch but unallocated."
)
RESET = "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.1.0.7]:31337"
RECV = "torch.distributed.DistBackendError: [1] is setting up NCCL communicator: Failed to recv, got 0 bytes. Connection was likely closed."
SIGTERM = "W0501 10:05:01.000000 77 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 4712 closing signal SIGTERM\n"
DONE = "Training completed. Do not forget to share your model\n"

# An exception as a program prints it that caught it
TRACE_OF_HANDLER = (
    'Traceback (most recent call last):\n  File "/home/ann/proj/env.py", line 27, in act\n    x, y = parse(a)\n'
    "TypeError: cannot unpack non-iterable NoneType object\n"
)
CHILD_DIED = (
    'Process Worker-2:\nTraceback (most recent call last):\n  File "/usr/lib/python3.10/multiprocessing/process.py", line 314, in _bootstrap\n'
    "    self.run()\nValueError: the row has no label\n"
)
# NCCL's devices of ranks 3 and 2
BUSES = "".join(
    f"n1:7{r}:9 [{r}] NCCL INFO comm 0x5{r} rank {r} nranks 8 cudaDev {r} nvmlDev {r} busId {bus} commId 0x1 - Init COMPLETE\n"
    for r, bus in ((3, "4f000"), (2, "4e000"))
)
# What torchrun says of a rank that ended with exit code 1
TABLE_OF_RANK_1 = """failed (exitcode: 1) local_rank: 1 (pid: 3998) of binary: /usr/bin/python3
Traceback (most recent call last):
  File "/opt/env/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Root Cause (first observed failure):
[0]:
  time      : 2026-01-05_10:00:00
  host      : n1
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 3998)
"""


def work(rank: int, enqueued: int) -> str:
    """What NCCL's watchdog of a rank says of its progress."""
    return (
        f"[rank{rank}]:[E501 10:20:09.200000000 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] "
        f"Exception (either an error or timeout) detected by watchdog at work: {enqueued}, last enqueued NCCL work: {enqueued}, "
        "last completed NCCL work: 37875."
    )


CASES = (
    # ranks of one file, without times
    Case(
        "a rank's exception before the watchdogs of the others",
        {"job.out": steps(1, 20) + trace("ValueError: empty batch" + ROOT, "[rank3]: ") + "".join(watchdog(r) + "\n" + down(r) for r in (0, 1, 2))},
        "code_exception", 3,
    ),
    Case(
        "a rank's exception printed behind the watchdogs of the others",
        {"job.out": steps(1, 20) + "".join(watchdog(r) + "\n" for r in (0, 1, 2)) + "".join(down(r) for r in (0, 1, 2))
         + trace("KeyError: 'image'" + ROOT, "[rank3]: ")},
        "code_exception", 3,
    ),
    Case(
        "exceptions that follow from the abort of a collective",
        {"job.out": steps(1, 20) + watchdog(1, "10:20:00.300000000") + ROOT + "\n" + watchdog(0, "10:20:00.900000000") + "\n"
         + down(0) + trace("torch.distributed.DistBackendError: NCCL communicator was aborted on rank 1.", "[rank1]: ")},
        "nccl_timeout", 1,
    ),
    Case(
        "watchdogs printed out of order are ordered by their clocks",
        {"job.out": steps(1, 20) + watchdog(2, "10:20:00.900000000") + "\n" + watchdog(5, "10:20:00.100000000") + ROOT + "\n"},
        "nccl_timeout", 5,
    ),
    Case(
        "interleaved ranks: the first to raise, not the first to be reset",
        {"job.out": steps(1, 20, "0: ") + trace(RESET, "2: ") + trace("IndexError: index 12 is out of range" + ROOT, "1: ")
         + trace(RESET, "0: ") + "srun: error: gpu02: task 1: Exited with exit code 1\nsrun: error: gpu01: task 0: Exited with exit code 1\n"},
        "code_exception", 1, "gpu02",
    ),
    Case(
        "out of memory on one rank, lost peers on the others",
        {"job.out": steps(1, 20) + trace(RECV, "[rank0]: ") + trace(OOM + ROOT, "[rank2]: ") + trace(RECV, "[rank1]: ")
         + SIGTERM + table(2, "gpu11")},
        "cuda_oom", 2, "gpu11",
    ),
    Case(
        "the same exception on all ranks: the launcher says which was first",
        {"job.out": steps(1, 5) + trace("RuntimeError: bad shard", "[rank0]: ") + trace("RuntimeError: bad shard" + ROOT, "[rank2]: ")
         + trace("RuntimeError: bad shard", "[rank1]: ") + SIGTERM + table(2, "gpu11")},
        "code_exception", 2, "gpu11",
    ),
    Case(
        "a killed rank: the launcher's code against the watchdogs",
        {"job.out": steps(1, 30) + watchdog(0) + "\n" + down(0)
         + "E0501 10:21:00.000000 77 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -9) local_rank: 1 "
         "(pid: 4712) of binary: /opt/bin/python" + ROOT + "\n" + table(1, "gpu07", -9)},
        "host_oom", 1, "gpu07",
    ),
    Case(
        "the scheduler names the memory kill behind the peers' complaints",
        {"job.out": steps(1, 30) + trace(RESET, "0: ") + "slurmstepd-gpu03: error: Detected 1 oom_kill event in StepId=77.0. Some of the "
         "step tasks have been OOM Killed." + ROOT + "\nsrun: error: gpu03: task 1: Out Of Memory\n"
         "srun: error: gpu01: task 0: Exited with exit code 1\n"},
        "host_oom", 1, "gpu03",
    ),
    Case(
        "a lost node behind connection resets",
        {"job.out": steps(1, 30) + trace(RESET, "0: ") + trace(RESET, "1: ") + "srun: error: Node failure on gpu09" + ROOT + "\n"
         "srun: error: gpu09: task 2: Terminated\n"},
        "node_failure", 2, "gpu09",
    ),
    Case(
        "a GPU that fell off the bus before the collective failed",
        {"job.out": steps(1, 30) + "[ 9311.1] NVRM: Xid (PCI:0000:4e:00): 79, pid=4711, GPU has fallen off the bus." + ROOT + "\n"
         + watchdog(0) + "\n" + watchdog(1) + "\n"},
        "gpu_hardware",
    ),
    Case(
        "an ECC error that the watchdog repeats with its rank",
        {"job.out": steps(1, 30) + trace("RuntimeError: CUDA error: uncorrectable ECC error encountered" + ROOT)
         + "[E ProcessGroupNCCL.cpp:916] [Rank 6] NCCL watchdog thread terminated with exception: CUDA error: uncorrectable ECC "
         "error encountered\n"},
        "gpu_hardware", 6,
    ),
    Case(
        "a segmentation fault of one task among resets",
        {"job.out": steps(1, 30) + trace(RESET, "0: ") + "srun: error: gpu05: task 3: Segmentation fault (core dumped)" + ROOT
         + "\nsrun: error: gpu01: task 0: Exited with exit code 1\n"},
        "segfault", 3, "gpu05",
    ),
    Case(
        "a barrier that names who did not come",
        {"job.out": steps(1, 9) + trace("RuntimeError: [Rank 0]: Ranks 2 failed to pass monitoredBarrier in 1800000 ms" + ROOT)},
        "nccl_timeout", 2,
    ),
    Case(
        "three of four gave up waiting: the fourth hangs, and its node is known",
        {"job.out": placed(4) + steps(1, 9) + watchdog(0) + ROOT + "\n" + watchdog(1) + "\n" + watchdog(3) + "\n" + down(0)},
        "nccl_timeout", 2, "n2",
    ),
    Case(
        "one of two gave up waiting: the other hangs",
        {"job.out": placed(2) + steps(1, 9) + watchdog(0) + ROOT + "\n" + down(0)},
        "nccl_timeout", 1, "n1",
    ),
    Case(
        "two of six never spoke: which of them hangs is not known",
        {"job.out": placed(6) + steps(1, 9) + watchdog(0) + ROOT + "\n" + "".join(watchdog(r) + "\n" for r in (1, 3, 4))},
        "nccl_timeout", None, None,
    ),
    Case(
        "all gave up waiting: the first is named",
        {"job.out": placed(2) + steps(1, 9) + watchdog(1) + ROOT + "\n" + watchdog(0, "10:20:00.200000000") + "\n"},
        "nccl_timeout", 1, "n1",
    ),
    Case(
        "an excerpt that lacks two ranks: the first of the others is named",
        {"job.out": steps(1, 9) + watchdog(0) + ROOT + "\n" + watchdog(4) + "\n" + watchdog(5) + "\n" + watchdog(2) + "\n"},
        "nccl_timeout", 0, None,
    ),
    Case(
        "the scheduler's SIGTERM with no other word",
        {"job.out": steps(1, 9) + "srun: Force Terminated job 77\nsrun: error: n2: task 1: Terminated" + ROOT + "\n"},
        "other", 1, "n2",
    ),
    Case(
        "a SIGTERM to what was left when the work was done",
        {"job.out": steps(1, 9) + DONE + "srun: error: n2: task 1: Terminated\n"},
        None,
    ),
    Case(
        "gloo's resets with no other word",
        {"job.out": steps(1, 9) + trace(RESET + ROOT, "[rank1]: ") + trace(RESET, "[rank0]: ")},
        "nccl_error", 1,
    ),
    Case(
        "two tables of torchrun: the earlier one tells",
        {"job.out": steps(1, 9) + table(8, "gpu02", time="2024-05-01_10:05:30", local=0).replace("exitcode  : 1 (", "exitcode  : -6 (")
         + table(3, "gpu01", -11, time="2024-05-01_10:05:00").replace("(pid: 4711)", "(pid: 4711)" + ROOT)},
        "segfault", 3, "gpu01",
    ),
    # times decide
    Case(
        "two ranks' files with times: the earlier exception",
        {"rank0.log": steps(1, 20, minute=0) + "2024-05-01 10:00:25,500 ERROR step failed\n" + trace("RuntimeError: CUDA error: an illegal memory access was encountered"),
         "rank1.log": steps(1, 20, minute=0) + "2024-05-01 10:00:21,100 ERROR step failed\n" + trace("ValueError: label 9 outside range" + ROOT)},
        "code_exception", 1,
    ),
    Case(
        "a later exception of another rank does not explain an earlier timeout",
        {"rank0.log": steps(1, 20, minute=0) + "2024-05-01 10:10:21,000 ERROR [Rank 0] Watchdog caught collective operation timeout: "
         "WorkNCCL(SeqNum=9, OpType=BROADCAST, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds before timing out." + ROOT + "\n",
         "rank0.err": "2024-05-01 10:10:29,000 ERROR leaving\n" + trace("RuntimeError: cannot save a broken state")},
        "nccl_timeout", 0,
    ),
    # several files of one run
    Case(
        "one file a rank, without times: the own fault, not the resets",
        {"log_rank0.txt": steps(1, 20) + trace(RESET), "log_rank1.txt": steps(1, 20) + trace(RESET),
         "log_rank2.txt": steps(1, 20) + trace("FileNotFoundError: [Errno 2] No such file or directory: '/data/shard_07.tar'" + ROOT)},
        "config_error", 2,
    ),
    Case(
        "torchrun's folders of an attempt",
        {"attempt_0/0/stderr.log": trace(RECV), "attempt_0/0/stdout.log": steps(1, 40), "attempt_0/3/stdout.log": steps(1, 40),
         "attempt_0/3/stderr.log": trace(OOM + ROOT)},
        "cuda_oom", 3,
    ),
    Case(
        "one file a node",
        {"slurm-88-gpu01.out": steps(1, 20) + trace(RESET),
         "slurm-88-gpu02.out": steps(1, 20) + trace("OSError: [Errno 116] Stale file handle" + ROOT)},
        "filesystem", None, "gpu02",
    ),
    Case(
        "stdout and stderr apart",
        {"train.out": steps(1, 50), "train.err": "[rank1]: warming up\n" + trace("RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x512 and 768x10)" + ROOT, "[rank1]: ")
         + trace(RESET, "[rank0]: ")},
        "shape_mismatch", 1,
    ),
    # survived
    Case(
        "a batch that was skipped long before the time limit",
        {"job.out": steps(1, 50) + trace(OOM) + "skipping this batch\n" + steps(51, 400)
         + "slurmstepd: error: *** JOB 9 ON gpu04 CANCELLED AT 2024-05-01T12:00:00 DUE TO TIME LIMIT ***" + ROOT + "\n"},
        "slurm_timeout", None, "gpu04",
    ),
    Case(
        "a retried download and a healthy end",
        {"job.out": trace("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='hub', port=443): Max retries exceeded with url: /x")
         + "retrying\n" + steps(1, 300) + DONE},
        None,
    ),
    Case(
        "a survived exception, then the true one",
        {"job.out": steps(1, 30) + trace("OSError: [Errno 5] Input/output error") + "reading again\n" + steps(31, 300)
         + trace("ZeroDivisionError: division by zero" + ROOT)},
        "code_exception",
    ),
    Case(
        "killed from outside long after an exception was caught",
        {"job.out": steps(1, 30) + trace(OOM) + "smaller batch\n" + steps(31, 400) + "/var/spool/job9/script: line 12: 4711 Killed   python train.py" + ROOT + "\n"},
        "other",
    ),
    Case(
        "a reset connection of the tracker that training outlived",
        {"job.out": steps(1, 30) + trace("ConnectionResetError: [Errno 104] Connection reset by peer") + steps(31, 300) + DONE},
        None,
    ),
    # what fails when the work is done
    Case(
        "the tracker's upload fails after training",
        {"job.out": steps(1, 300) + DONE + trace("wandb.errors.CommError: It appears that you do not have permission to access the requested resource.")},
        None,
    ),
    Case(
        "the clean-up fails after the true fault",
        {"job.out": steps(1, 90) + trace("AssertionError: loss is not a scalar" + ROOT)
         + trace("mlflow.exceptions.MlflowException: API request to http://track:5000/api failed with exception")
         + "Exception ignored in: <function Writer.__del__ at 0x7f>\n" + trace("RuntimeError: writer is closed")},
        "code_exception",
    ),
    Case(
        "the tracker's crash before the true fault",
        {"job.out": steps(1, 90) + trace("wandb.errors.CommError: failed to upload file") + trace(OOM + ROOT)},
        "cuda_oom",
    ),
    Case(
        "an exit handler complains in a healthy run",
        {"job.out": steps(1, 300) + DONE + "Error in atexit._run_exitfuncs:\n" + trace("BrokenPipeError: [Errno 32] Broken pipe")},
        None,
    ),
    Case(
        "the tracker ends the program",
        {"job.out": "starting\n" + trace("wandb.errors.CommError: Run initialization has timed out after 90.0 sec." + ROOT)
         + "srun: error: gpu01: task 0: Exited with exit code 1\n"},
        "network", 0, "gpu01",
    ),
    Case(
        "the tracker's crash in mid-training ends the program",
        {"job.out": steps(1, 90) + trace("wandb.errors.CommError: failed to upload file" + ROOT)
         + "srun: error: gpu01: task 2: Exited with exit code 1\n"},
        "network", 2, "gpu01",
    ),
    Case(
        "the tracker's server is gone when training has ended",
        {"job.out": steps(1, 90) + DONE + trace("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.wandb.ai', port=443): "
         "Max retries exceeded with url: /graphql")},
        None,
    ),
    Case(
        "the tracker's upload fails, and a rank dies after it",
        {"job.out": steps(1, 90) + trace("mlflow.exceptions.MlflowException: API request to http://track:5000/api failed with exception", "[rank0]: ")
         + trace("IndexError: list index out of range" + ROOT, "[rank1]: ") + table(1, "gpu01")},
        "code_exception", 1, "gpu01",
    ),
    Case(
        "saving fails when training has ended: that is no clean-up",
        {"job.out": steps(1, 90) + DONE + trace("OSError: [Errno 122] Disk quota exceeded" + ROOT, function="save_pretrained")},
        "disk_full",
    ),
    # the exit
    Case(
        "preempted and started again, which has said nothing yet",
        {"job.out": steps(1, 90) + "slurmstepd: error: *** JOB 7 ON gpu01 CANCELLED AT 2024-05-01T12:00:00 DUE TO PREEMPTION ***" + ROOT
         + "\nNamespace(lr=0.1, epochs=3)\n"},
        "slurm_preempted", None, "gpu01",
    ),
    Case(
        "a cancel by hand with the peers' noise",
        {"job.out": steps(1, 90) + "slurmstepd: error: *** STEP 7.0 ON gpu01 CANCELLED AT 2024-05-01T12:00:00 ***" + ROOT
         + "\nsrun: Job step aborted: Waiting up to 32 seconds for job step to finish.\nsrun: error: gpu01: tasks 0-3: Terminated\n"},
        "slurm_cancelled", 0, "gpu01",
    ),
    Case(
        "a cancel that srun sent because a task had failed",
        {"job.out": steps(1, 90) + "srun: error: gpu02: task 5: Exited with exit code 3" + ROOT
         + "\nslurmstepd: error: *** STEP 7.0 ON gpu01 CANCELLED AT 2024-05-01T12:00:00 ***\nsrun: error: gpu01: task 0: Terminated\n"},
        "code_exception", 5, "gpu02",
    ),
    Case(
        "the time limit while peers time out, too",
        {"job.out": steps(1, 90) + "slurmstepd: error: *** JOB 7 ON gpu01 CANCELLED AT 2024-05-01T12:00:00 DUE TO TIME LIMIT ***" + ROOT
         + "\n" + trace(RESET, "1: ")},
        "slurm_timeout", None, "gpu01",
    ),
    # several jobs and starts in one file: the last counts
    Case(
        "an earlier job's crash is not the later job's",
        {"job.out": "SLURM_JOB_ID=100\nNamespace(lr=0.1)\n" + steps(1, 30) + trace(OOM)
         + "SLURM_JOB_ID=101\nNamespace(lr=0.05)\n" + steps(1, 60) + trace("KeyError: 'mask'" + ROOT)},
        "code_exception",
    ),
    Case(
        "the later job is healthy",
        {"job.out": "SLURM_JOB_ID=100\nNamespace(lr=0.1)\n" + steps(1, 30) + trace(OOM)
         + "SLURM_JOB_ID=101\nNamespace(lr=0.05)\n" + steps(1, 60) + DONE},
        None,
    ),
    Case(
        "restarts after the same crash, and a last one that crashes again",
        {"job.out": "".join("Namespace(lr=0.1)\n" + steps(1, 20) + trace("ValueError: shard 3 is empty") for _ in range(2))
         + "Namespace(lr=0.1)\n" + steps(1, 20) + trace("ValueError: shard 3 is empty" + ROOT)},
        "code_exception",
    ),
    Case(
        "a disk that is full, told by one rank, while another rank's writer only sees a broken pipe",
        {"job.out": steps(1, 20) + trace("BrokenPipeError: [Errno 32] Broken pipe", "[rank1]: ")
         + trace("OSError: [Errno 28] No space left on device" + ROOT, "[rank0]: ")},
        "disk_full", 0,
    ),
    Case(
        "a worker of the loader is killed for want of shared memory",
        {"job.out": steps(1, 20) + "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)." + ROOT
         + "\n" + trace("RuntimeError: DataLoader worker (pid 881) is killed by signal: Bus error. ", "[rank2]: ") + watchdog(0) + "\n"},
        "shm", 2,
    ),
    Case(
        "a rendezvous that nobody joined",
        {"job.out": trace("torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (gpu01, 29500)." + ROOT)},
        "network",
    ),
    Case(
        "a rendezvous that failed because the first rank had died",
        {"job.out": trace("torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (gpu01, 29500).", "1: ")
         + trace("ModuleNotFoundError: No module named 'flash_attn'" + ROOT, "0: ")},
        "import_error", 0,
    ),
    # launchers and frameworks
    Case(
        "DeepSpeed's launcher says which rank was killed",
        {"job.out": steps(1, 20) + trace(RESET, "[rank0]: ")
         + "[2024-05-01 10:05:00,100] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 4711\n"
         "[2024-05-01 10:05:01,100] [ERROR] [launch.py:321:sigkill_handler] ['/opt/bin/python', '-u', 'train.py', '--local_rank=3'] "
         "exits with return code = -9" + ROOT + "\n"},
        "host_oom", 3,
    ),
    Case(
        "mpirun says which rank on which node was killed",
        {"job.out": steps(1, 20) + "mpirun noticed that process rank 3 with PID 4711 on node gpu04 exited on signal 9 (Killed)." + ROOT + "\n"},
        "other", 3, "gpu04",
    ),
    Case(
        "fan-out by host names: the node that raised",
        {"job.out": steps(1, 20) + trace(RESET, "node003: ") + trace("OSError: [Errno 5] Input/output error" + ROOT, "node017: ")},
        "filesystem", None, "node017",
    ),
    Case(
        "InfiniBand's completion error before the watchdogs",
        {"job.out": steps(1, 20) + "gpu03:4711:4790 [1] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.4<4791> "
         "with status=12 opcode=0 len=0 vendor err 129" + ROOT + "\n" + watchdog(0) + "\n" + watchdog(1) + "\n"},
        "nccl_error", 1, "gpu03",
    ),
    Case(
        "Lightning ends the others when a rank's child has died",
        {"job.out": steps(1, 20) + trace("IndexError: Target 12 is out of bounds." + ROOT, "[rank2]: ")
         + "[rank: 2] Child process with PID 4711 terminated with code 1. Forcefully terminating all other processes to avoid zombies\n"},
        "code_exception", 2,
    ),
    Case(
        "the kernel tells of the memory kill after the shell",
        {"job.out": steps(1, 20) + "run.sh: line 9: 4711 Killed                  python train.py\n"
         "[99.1] Memory cgroup out of memory: Killed process 4711 (python) total-vm:98304000kB, anon-rss:66000000kB" + ROOT + "\n"},
        "host_oom",
    ),
    Case(
        "torchrun's agent was ended by the scheduler's signal",
        {"job.out": steps(1, 90) + "slurmstepd: error: *** STEP 7.0 ON gpu01 CANCELLED AT 2024-05-01T12:00:00 DUE TO TIME LIMIT ***" + ROOT + "\n"
         + SIGTERM + trace("torch.distributed.elastic.multiprocessing.api.SignalException: Process 4711 got signal: 15")},
        "slurm_timeout", None, "gpu01",
    ),
    Case(
        "torchrun's agent was told to stop, and nobody says why",
        {"job.out": steps(1, 90) + SIGTERM
         + trace("torch.distributed.elastic.multiprocessing.api.SignalException: Process 4711 got signal: 15" + ROOT)},
        "other",
    ),
    Case(
        "Lightning was told to stop, and the scheduler says why",
        {"job.out": steps(1, 90) + "[rank: 0] Received SIGTERM: 15\n" + trace("lightning.pytorch.utilities.exceptions.SIGTERMException")
         + "slurmstepd: error: *** JOB 9 ON gpu04 CANCELLED AT 2024-05-01T12:00:00 DUE TO PREEMPTION ***" + ROOT + "\n"},
        "slurm_preempted", None, "gpu04",
    ),
    Case(
        "a store that was lost with the first rank",
        {"job.out": trace("torch.distributed.DistStoreError: wait timeout after 600000ms, keys: /default_pg/0//cuda//timeout", "[rank2]: ")
         + trace("torch.distributed.DistNetworkError: failed to recv, got 0 bytes", "[rank1]: ")
         + trace("ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory" + ROOT, "[rank0]: ")},
        "import_error", 0,
    ),
    Case(
        "a JAX host out of device memory, the others at a barrier",
        {"node0.log": steps(1, 20) + trace("jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: train::step"),
         "node1.log": steps(1, 20) + trace("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 13421772800 bytes." + ROOT)},
        "cuda_oom", None, "node1",
    ),
    Case(
        "a worker of Ray by its address",
        {"job.out": steps(1, 20) + trace(RESET, "(RayTrainWorker pid=11, ip=10.0.0.1) ") + trace("ValueError: shard 7 is empty" + ROOT, "(RayTrainWorker pid=12, ip=10.0.0.2) ")
         + trace("ray.exceptions.RayTaskError(ValueError): ray::train() (pid=12, ip=10.0.0.2)")},
        "code_exception", None, "10.0.0.2",
    ),
    Case(
        "an illegal access on one rank, in its own file, before the communicator broke",
        {"rank0.out": steps(1, 20) + trace("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1691, unhandled system error"),
         "rank5.out": steps(1, 20) + trace("RuntimeError: CUDA error: an illegal memory access was encountered" + ROOT),
         "rank6.out": steps(1, 20) + trace("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1691, unhandled system error")},
        "cuda_error", 5,
    ),
    Case(
        "collectives fail above the line of who ran out of memory, and nobody has a rank or a time",
        {"job.err": steps(1, 20) + trace("torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:219, internal error")
         + "ncclInternalError: Internal check failed.\nLast error:\nSocket recv failed while polling for opId=0x200ad80fbbd0\n"
         + trace("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.90 GiB" + ROOT)},
        "cuda_oom",
    ),
    Case(
        "an exception that was only named, and one that ended the program",
        {"job.err": "RuntimeError: module compiled against API version 0xc but this version of numpy is 0xa\nFound device 0\n"
         + trace("KeyError: 'v60109_0_k'" + ROOT)},
        "code_exception",
    ),
    Case(
        "a job of a queue that is no more",
        {"nohup.out": "start\nqueue.pl: Error, unfinished job no longer exists, log is in sge.log, return status of qstat was 256" + ROOT + "\n"
         "Possible reasons: a) Exceeded time limit? -> Use more jobs! b) Shutdown/Frozen machine? -> Run again!\n"},
        "other",
    ),
    Case(
        "a shell without a command, and then killed",
        {"job.err": "./train.sh: 1: module: not found\n" + steps(1, 20) + "Killed" + ROOT + "\n"},
        "other",
    ),
    Case(
        "interrupted by hand: the ranks' interrupts are one",
        {"job.out": steps(1, 20) + "^C" + trace("KeyboardInterrupt" + ROOT, "[rank0]: ") + trace("KeyboardInterrupt", "[rank1]: ")
         + trace("torch.distributed.elastic.multiprocessing.api.SignalException: Process 4711 got signal: 2")},
        "user_interrupt", 0,
    ),
    Case(
        "a healthy run of four ranks that leave noisily",
        {"job.out": steps(1, 90, "0: ") + "0: " + DONE + "3: Exception ignored in: <function Pool.__del__ at 0x7f>\n"
         + trace("ConnectionResetError: [Errno 104] Connection reset by peer", "3: ")
         + "[rank1]:[W501 10:20:00.1 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=67): Connection reset by peer\n"},
        None,
    ),
    Case(
        "the ranks' evaluation fails when training has ended",
        {"job.out": steps(1, 90) + DONE + trace("RuntimeError: The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 1" + ROOT, "[rank1]: ")
         + watchdog(0) + "\n" + table(1, "gpu01")},
        "shape_mismatch", 1, "gpu01",
    ),
    Case(
        "the collective of saving times out when training has ended",
        {"job.out": steps(1, 90) + DONE + watchdog(1) + ROOT + "\n" + down(1) + table(1, "gpu01", -6)},
        "nccl_timeout", 1, "gpu01",
    ),
    Case(
        "an exception whose message goes on in the next lines",
        {"job.out": steps(1, 20) + "OSError: cannot write (write failed: time = now\n, filename = 'a.h5', errno = 28, error message = 'x'" + ROOT + "\n"},
        "disk_full",
    ),
    Case(
        "a fault that stands well behind a general exception is another",
        {"job.out": steps(1, 20) + "ValueError: bad shard" + ROOT + "\n" + 4 * "closing the loaders\n" + "CUDA error: out of memory\n"},
        "code_exception",
    ),
    Case(
        "a bar at its beginning behind the exception is no new start",
        {"job.out": "AttributeError: 'Optimizer' object has no attribute 'train'" + ROOT + "\n  0%|          | 0/3 [00:00<?, ?it/s]\n"},
        "code_exception",
    ),
    Case(
        "a traceback whose end only points at another log",
        {"job.out": steps(1, 20) + trace("vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue." + ROOT)},
        "other",
    ),
    Case(
        "the same, and training went on",
        {"job.out": trace("vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.") + steps(1, 20)},
        None,
    ),
    Case(
        "what a worker of the loader raised, and the traceback of it is lost",
        {"job.out": steps(1, 20) + trace("KeyError: Caught KeyError in DataLoader worker process 0." + ROOT)},
        "code_exception",
    ),
    Case(
        "last words that no pattern knows",
        {"job.out": steps(1, 20) + "launcher: fatal error: the quux daemon has gone" + ROOT + "\nbye\n"},
        "other",
    ),
    Case(
        "the same words, and training went on",
        {"job.out": "launcher: fatal error: the quux daemon has gone\n" + steps(1, 20)},
        None,
    ),
    Case(
        "the same words when the work is done",
        {"job.out": steps(1, 90) + DONE + "launcher: fatal error: the quux daemon has gone\n"},
        None,
    ),
    Case(
        "a line of the job script that the shell cannot run, and what the program died of",
        {"job.out": "slurm_script: line 9: SBATCH: command not found\n" + trace(OOM + ROOT)},
        "cuda_oom",
    ),
    Case(
        "such a line, and the script went on to its end",
        {"job.out": "run.sh: line 3: module: command not found\nloading\nwriting\nsee you\n"},
        None,
    ),
    Case(
        "such a line, and the exit failed",
        {"job.out": "run.sh: line 3: trane: command not found" + ROOT + "\na\nb\nsrun: error: n1: task 0: Exited with exit code 127\n"},
        "config_error",
        0,
        "n1",
    ),
    Case(
        "such a line is all there is",
        {"job.out": "run.sh: line 3: trane: command not found" + ROOT + "\n"},
        "config_error",
    ),
    Case(
        "a file that is not there, and what failed when it was looked for elsewhere",
        {"job.out": steps(1, 20) + trace("FileNotFoundError: [Errno 2] No such file or directory: 'cache/x'")
         + "\nDuring handling of the above exception, another exception occurred:\n\n"
         + trace("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='hf.co', port=443): Max retries exceeded" + ROOT)},
        "network",
    ),
    Case(
        "a line of the job script that the shell cannot run, behind the training",
        {"job.out": steps(1, 20) + "run.sh: line 30: notify: command not found\n"},
        None,
    ),
    Case(
        "what a task of Ray raised, a file that is not there",
        {"job.out": trace("ray.exceptions.RayTaskError(FileNotFoundError): ray::train() (pid=12, ip=10.0.0.2)")
         + '  File "/home/ann/proj/data.py", line 52, in load\n    raise FileNotFoundError(\n'
         + "FileNotFoundError: No shards match '/data/packed_*'" + ROOT + "\n"},
        "config_error",
        node="10.0.0.2",
    ),
    Case(
        "an exception without a message behind the task of Ray that raised it",
        {"job.out": trace("ray.exceptions.RayTaskError(NotImplementedError): ray::main_task() (pid=12, ip=10.0.0.2)")
         + '  File "/home/ann/proj/score.py", line 37, in score\n    raise NotImplementedError\n'
         + "NotImplementedError" + ROOT + "\n"},
        "code_exception",
        node="10.0.0.2",
    ),
    Case(
        "an actor of Ray that could not be imported, and why in its message",
        {"job.out": trace("RuntimeError: The actor with name Worker failed to import on the worker. This may be because:")
         + "\n" + trace("ImportError: /opt/flash_attn_2_cuda.so: undefined symbol: _ZNK3c10" + ROOT)},
        "import_error",
    ),
    Case(
        "a compiler's words without a rank before the exception of the rank that the table names",
        {"job.out": "/usr/include/crt/host_config.h:139:2: error: #error -- unsupported GNU version! gcc versions later than 11 are not supported!" + ROOT
         + "\n" + trace("subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.", "[rank0]: ")
         + "Root Cause (first observed failure):\n[0]:\n  time      : 2024-05-01_10:00:00\n  host      : n1\n  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 7)\n"},
        "import_error",
        0,
        "n1",
    ),
    Case(
        "what a spawned process raised, not the bare exception of the one that waits for it",
        {"job.out": trace("Exception: ") + "\n-- Process 6 terminated with the following error:\n" + trace("IndexError: list index out of range" + ROOT)},
        "code_exception",
        6,
    ),
    Case(
        "what the fits raised, not the exception that sums them up",
        {"job.out": trace("ValueError: ") + "All the 5 fits failed.\n\nBelow are more details about the failures:\n" + 9 * "-"
         + "\n4 fits failed with the following error:\n" + trace("TypeError: could not convert string to float: 'a'" + ROOT)
         + 9 * "-" + "\n1 fits failed with the following error:\n" + trace("TypeError: could not convert string to float: 'b'")},
        "code_exception",
    ),
    Case(
        "the wait for a process whose traceback is lost",
        {"job.out": trace("Exception: " + ROOT) + "\n-- Process 6 terminated with the following error:\nTraceback (most recent call last):\n"},
        "code_exception",
    ),
    Case(
        "a task of an old Ray, on its host",
        {"job.out": 'Traceback (most recent call last):\n  File "/opt/env/lib/python3.5/site-packages/ray/worker.py", line 2121, in get\n    raise value.as_instanceof_cause()\n'
         "ray.exceptions.RayTaskError(TypeError): ray_Train:train() (pid=7, host=n3.cluster)\n"
         '  File "train.py", line 45, in _save\n    save(model)\nTypeError: save() missing 1 required positional argument' + ROOT + "\n"},
        "code_exception",
        None,
        "n3.cluster",
    ),
    Case(
        "what TensorFlow raises in code that it converted",
        {"job.out": trace("ValueError: in user code:\n\n    /opt/env/lib/python3.9/site-packages/keras/engine/training.py:805 train_function  *\n"
         "        return step_function(self, iterator)\n\n    ValueError: Input 0 of layer pool is incompatible with the layer: expected ndim=4, found ndim=5." + ROOT)},
        "shape_mismatch",
    ),
    Case(
        "tasks that srun kills because another exited, though it says so first",
        {"job.err": "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\nsrun: error: n2: tasks 0,2-3: Killed\n"
         "srun: error: n2: task 1: Exited with exit code 1" + ROOT + "\n"},
        "code_exception",
        1,
        "n2",
    ),
    Case(
        "a task that was killed before srun ends the step",
        {"job.err": "srun: error: n2: task 3: Killed" + ROOT + "\nsrun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
         "srun: error: n1: task 1: Exited with exit code 1\n"},
        "other",
        3,
        "n2",
    ),
    Case(
        "modules that a node does not have, and the crash",
        {"job.err": "ERROR: Unable to locate a modulefile for 'mathlib/fftw/3.3.8'\nsrun: error: n5: task 3: Segmentation fault (core dumped)" + ROOT + "\n"},
        "segfault",
        3,
        "n5",
    ),
    Case(
        "the rank that prterun names by its node and number",
        {"job.out": "python: can't open file '/home/ann/train.py': [Errno 2] No such file or directory" + ROOT + "\n"
         "prterun detected that one or more processes exited with non-zero status,\nthus causing the job to be terminated. The first process to do so was:\n\n"
         "   Process name: [prterun-login-h009-3386736@1,4]\n   Exit code:    2\n"},
        "config_error",
        4,
        "login-h009",
    ),
    Case(
        "a program without ranks, on the node whose MPI caught its signal",
        {"job.err": "terminate called after throwing an instance of 'std::bad_alloc'" + ROOT + "\n  what():  std::bad_alloc\n[n205:09049] *** Process received signal ***\n"},
        "host_oom",
        None,
        "n205",
    ),
    Case(
        "a rank's own traceback, beside the table of the only node",
        {"job.out": trace("KeyError: 'labels'" + ROOT, "[rank0]: ") + trace("KeyError: 'labels'", "[rank1]: ") + table(0, "fd13d1440021")},
        "code_exception",
        0,
        "fd13d1440021",
    ),
    Case(
        "of two ranks that waited the first to say so, whichever torchrun saw end first",
        {"job.out": watchdog(1) + ROOT + "\n" + watchdog(0) + "\n" + table(0, "n7")},
        "nccl_timeout",
        1,
        "n7",
    ),
    Case(
        "a launcher that was told to end, and nothing says by whom",
        {"job.err": "WARNING:torch.distributed.elastic.agent.server.api:Received 15 death signal, shutting down workers" + ROOT + "\n"
         "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 77 closing signal SIGTERM\n"},
        "other",
    ),
    Case(
        "workers of dask that died again and again, and what was cancelled then",
        {"job.out": trace("distributed.scheduler.KilledWorker: (\"('task-94b7', 8)\", <Worker 'tcp://10.0.0.7:35627', name: 0, memory: 0, processing: 10>)" + ROOT)
         + "concurrent.futures._base.CancelledError\n"},
        "other",
        None,
        "10.0.0.7",
    ),
    Case(
        "a barrier of JAX that not all tasks reached",
        {"job.out": trace("jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: 0_async_write_complete.0.1. # of tasks that reached the barrier: 8/16." + ROOT)},
        "hang",
    ),
    Case(
        "shared memory of a container that is full, and where",
        {"job.out": "4e9a7654171e:8639:8745 [0] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device" + ROOT + "\n"},
        "shm",
        0,
        "4e9a7654171e",
    ),
    Case(
        "a source that does not compile, and the end of the build",
        {"job.out": "/opt/env/gsplat/csrc/backward.cu(83): error: namespace \"cooperative_groups\" has no member \"labeled_partition\"" + ROOT + "\n      auto group = labeled_partition(warp, id);\nbuild.sh: giving up\n"},
        "import_error",
    ),
    Case(
        "a process of torch's spawn that was killed, by its number",
        {"job.out": trace("Exception: process 3 terminated with signal SIGKILL" + ROOT)},
        "host_oom",
        3,
    ),
    Case(
        "the log of one worker of PaddlePaddle",
        {"workerlog.1": trace("KeyError: 'labels'" + ROOT)},
        "code_exception",
        1,
    ),
    Case(
        "an actor of Ray that died, at the address below",
        {"job.out": trace("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task." + ROOT)
         + "\tclass_name: Trainer\n\tpid: 5226\n\tip: 10.7.34.138\nThe actor is dead because its worker process has died.\n"},
        "other",
        None,
        "10.7.34.138",
    ),
    Case(
        "a gradient that is NaN, on a rank and a node that the message names",
        {"job.out": trace("AssertionError: Rank 3: found NaN in local grad norm in backwards pass. Device: 3, node: n133.cluster" + ROOT)},
        "nan_loss",
        3,
        "n133.cluster",
    ),
    Case(
        "a launcher that was interrupted",
        {"job.out": "WARNING:torch.distributed.elastic.agent.server.api:Received 2 death signal, shutting down workers" + ROOT + "\n" + trace("KeyError: 'x'")},
        "user_interrupt",
    ),
    Case(
        "a launcher whose terminal was closed",
        {"job.out": "W1102 10:00:05.000000 77 api.py:719] Received Signals.SIGHUP death signal, shutting down workers" + ROOT + "\n"},
        "user_interrupt",
    ),
    Case(
        "what a manager's process raised, not the error that carries it",
        {"job.out": trace("multiprocessing.managers.RemoteError: ") + "-" * 75 + "\n" + trace("RuntimeError: received 0 items of ancdata" + ROOT)},
        "filesystem",
    ),
    Case(
        "a device out of memory behind a failed barrier",
        {"job.out": trace("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3356, unhandled cuda error, NCCL version 2.26.2", "[rank1]: ")
         + "[rank1]: ncclUnhandledCudaError: Call to CUDA function failed.\n[rank1]: Last error:\n[rank1]: Cuda failure 2 'out of memory'" + ROOT + "\n"},
        "cuda_oom",
        1,
    ),
    Case(
        "an error of NCCL itself, told by the watchdog alone",
        {"job.out": "[rank0]:[E ProcessGroupNCCL.cpp:1335] [PG 0 Rank 0] NCCL watchdog thread terminated with exception: NCCL error: internal error - please report this issue" + ROOT + "\n"},
        "nccl_error",
        0,
    ),
    Case(
        "workers of a loader that end with the program that was told to",
        {"job.out": "FatalError: `Termination signal` is detected by the operating system." + ROOT + "\n\nException in thread Thread-5:\n"
         + trace("RuntimeError: DataLoader 2 workers exit unexpectedly, pids: 77, 78")},
        "other",
    ),
    Case(
        "a kill, behind a line that the shell could not run",
        {"job.err": "./train.sh: 1: !/bin/sh: not found\nKilled" + ROOT + "\n"},
        "other",
    ),
    Case(
        "a plugin of JAX that does not find the driver, and what ended the program",
        {"job.err": trace("RuntimeError: jaxlib/cuda/versions_helpers.cc:113: operation cuInit(0) failed: Unknown CUDA error 303")
         + trace("TypeError: Shapes must be 1D sequences of concrete values of integer type, got (JitTracer,)." + ROOT)},
        "code_exception",
    ),
    Case(
        "a job of HTCondor that failed, by its event log",
        {"job.log": "005 (4711.000.000) 2026-01-02 03:04:05 Job terminated.\n\t(1) Normal termination (return value 1)" + ROOT
         + "\n\t\tUsr 0 00:10:00, Sys 0 00:00:01  -  Run Remote Usage\n"},
        "code_exception",
    ),
    Case(
        "one that did not",
        {"job.log": "005 (4711.000.000) 2026-01-02 03:04:05 Job terminated.\n\t(1) Normal termination (return value 0)\n"
         "\tJob terminated of its own accord at 2026-01-02T03:04:05Z.\n...\n"},
        None,
    ),
    Case(
        "an error that begins anew in the middle of a paste that begins within a traceback",
        {"job.err": '  File "/opt/env/lib/python3.10/site-packages/torch/nn/modules/module.py", line 1518, in call\n' + OOM + ROOT + "\n" + 12 * "note\n"
         + '  File "/opt/env/lib/python3.10/site-packages/torch/nn/modules/module.py", line 1518, in call\nexitcode  : 1 (pid: 7)\n'},
        "cuda_oom",
    ),
    Case(
        "an exception that the interpreter ignored goes before the one that ended the program",
        {"job.err": steps(1, 3) + "Exception ignored in: <function A.__del__ at 0x7f>\nTraceback (most recent call last):\n"
         + '  File "a.py", line 3, in __del__\n    f()\nImportError: libGL.so.1: cannot open shared object file: No such file or directory\n'
         + trace("FileExistsError: [Errno 17] File exists: 'out'" + ROOT)},
        "code_exception",
    ),
    Case(
        "an exception that a logger printed again and again",
        {"job.log": steps(1, 1) + 4 * ("2026-01-10 10:01:00,000 ERROR worker: failed to parse answer\n" + TRACE_OF_HANDLER
         + "2026-01-10 10:01:01,000 WARNING worker: item skipped\n")},
        None,
    ),
    Case(
        "the same exception of four ranks as the last words of a log",
        {"job.log": steps(1, 3) + TRACE_OF_HANDLER.rstrip() + ROOT + "\n" + 3 * TRACE_OF_HANDLER},
        "code_exception",
    ),
    Case(
        "a process for uploads that died before the program ended its work",
        {"job.log": steps(1, 3) + CHILD_DIED + "Training finished\n"},
        None,
    ),
    Case(
        "a process for data that died, and its program with it",
        {"job.log": steps(1, 3) + CHILD_DIED.rstrip() + ROOT + "\n" + trace("_queue.Empty")},
        "code_exception",
    ),
    Case(
        "a report of LSF before the output of its job",
        {"job.log": "Subject: Job 7: <train> in cluster <dcc> Exited\n\nTERM_RUNLIMIT: job killed after reaching LSF run time limit." + ROOT
         + "\nExited with exit code 140.\n\nThe output (if any) follows:\n\n" + steps(1, 30)},
        "slurm_timeout",
    ),
    Case(
        "an exception of an earlier start, in the error stream of a job that worked up to its limit",
        {"job.err": trace("AttributeError: ckpt_dir")
         + "slurmstepd: error: *** JOB 7 ON n4 CANCELLED AT 2026-01-07T11:30:22 DUE TO TIME LIMIT ***" + ROOT + "\n",
         "job.out": steps(1, 60)},
        "slurm_timeout", None, "n4",
    ),
    Case(
        "one that a logger printed once, at the end",
        {"job.log": steps(1, 1) + "2026-01-10 10:01:00,000 ERROR trainer: training stopped\n" + TRACE_OF_HANDLER.rstrip() + ROOT + "\n"},
        "code_exception",
    ),
    Case(
        "a program that printed a failed upload and ended its work",
        {"job.log": steps(1, 3) + '  could not push\nTraceback (most recent call last):\n  File "/home/ann/proj/push.py", line 12, in push\n'
         + "    send()\nurllib.error.URLError: <urlopen error [Errno 111] Connection refused>\njob done\n"},
        None,
    ),
    Case(
        "a script that says that it is done after its program failed",
        {"job.log": steps(1, 3) + trace("KeyError: 'label'" + ROOT) + "Job done\n"},
        "code_exception",
    ),
    Case(
        "an uncaught exception, and then all metrics from the buffer",
        {"job.log": trace("KeyError: 'label'" + ROOT) + steps(1, 30)},
        "code_exception",
    ),
    Case(
        "the same words at the start of a training that reached its end",
        {"job.log": trace("KeyError: 'label'") + steps(1, 30) + "Training finished\n"},
        None,
    ),
    Case(
        "the driver names the device in an epilog, after the error of CUDA",
        {"job.log": BUSES + steps(1, 3) + trace("RuntimeError: CUDA error: unspecified launch failure", "[rank3]: ")
         + "srun: error: n1: task 3: Exited with exit code 1\nepilog: NVRM: Xid (PCI:0000:4f:00): 79, pid=12, GPU has fallen off the bus." + ROOT + "\n"},
        "gpu_hardware", 3, "n1",
    ),
    Case(
        "the link of another GPU failed: the illegal access is its echo",
        {"job.log": BUSES + steps(1, 3) + trace("RuntimeError: CUDA error: an illegal memory access was encountered", "[rank2]: ")
         + "[Mon Jan  5 10:00:00 2026] NVRM: Xid (PCI:0000:4f:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 2" + ROOT + "\n"},
        "gpu_hardware", 3, "n1",
    ),
    Case(
        "the driver's word in between, with a few steps of other ranks behind it",
        {"job.log": steps(1, 2, "[rank0]: ") + "[ 5531.2] NVRM: Xid (PCI:0000:9b:00): 79, pid=88, name=python, GPU has fallen off the bus." + ROOT + "\n"
         + steps(3, 5, "[rank0]: ") + trace("RuntimeError: CUDA error: unspecified launch failure", "[rank5]: ")},
        "gpu_hardware", 5,
    ),
    Case(
        "a fault of the program's own, which the driver reports as well",
        {"job.log": steps(1, 2) + trace("RuntimeError: CUDA error: an illegal memory access was encountered" + ROOT, "[rank5]: ")
         + "NVRM: Xid (PCI:0000:4f:00): 31, pid=99, name=python, MMU Fault\n"},
        "cuda_error", 5,
    ),
    Case(
        "a worker that loads data died, and torchrun lists the exit of its rank",
        {"job.log": steps(1, 2) + trace("RuntimeError: DataLoader worker (pid 4021) is killed by signal: Killed. " + ROOT, "[rank1]: ")
         + TABLE_OF_RANK_1},
        "dataloader_worker", 1, "n1",
    ),
    Case(
        "a worker that somebody ended from outside",
        {"job.log": steps(1, 2) + trace("RuntimeError: DataLoader worker (pid 4021) is killed by signal: Terminated. " + ROOT)},
        "other",
    ),
    Case(
        "all ranks gave up waiting, and one had entered an operation less",
        {"job.log": "\n".join(watchdog(r, f"10:20:0{r}.100000000") + (ROOT if not r else "") + "\n" + work(r, 37876 if r == 6 else 37877) for r in range(8)) + "\n"},
        "nccl_timeout", 6,
    ),
    Case(
        "a wrapper's word about a lost worker, and last words that only sound like bad data",
        {"job.log": "Status message: Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 chars):\n"
         "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task." + ROOT + "\n"},
        "other",
    ),
    Case(
        "an event of Kubernetes names the pod, another one its node",
        {"job.log": steps(1, 20) + "57m  Normal   Scheduled  pod/llama-worker-5  Successfully assigned jobs/llama-worker-5 to gpu-21\n"
         "3m   Warning  Evicted    pod/llama-worker-5  The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi." + ROOT + "\n"},
        "host_oom", None, "gpu-21",
    ),
    Case(
        "the description of a pod",
        {"job.log": steps(1, 20) + "Name:             gpt-worker-2\nNode:             gpu-07/10.0.3.7\nStatus:           Failed\n"
         "    State:          Terminated\n      Reason:       OOMKilled" + ROOT + "\n      Exit Code:    137\n"},
        "host_oom", None, "gpu-07",
    ),
    Case(
        "logs of all pods, collected with their names",
        {"job.log": steps(1, 5, "[pod/llama-worker-0/main] ") + steps(1, 5, "[pod/llama-worker-2/main] ")
         + trace("ValueError: bad sample" + ROOT, "[pod/llama-worker-2/main] ")},
        "code_exception", None, "llama-worker-2",
    ),
    Case(
        "an operator reports the exit of a pod",
        {"job.log": steps(1, 20) + "Warning  Error  2m  pytorchjob-controller  Error pod bert-worker-1 container pytorch exitCode: 137 terminated message:" + ROOT + "\n"},
        "other", None, "bert-worker-1",
    ),
    Case(
        "Volcano evicted a pod",
        {"job.log": steps(1, 20) + "I1215 12:28:18.432174       1 job_controller.go:356] Try to handle request <Queue: , Job: default/resnet, Task:worker, Pod:resnet-worker-3, Event:PodEvicted, ExitCode:0, Action:, JobVersion: 0>" + ROOT + "\n"},
        "other", None, "resnet-worker-3",
    ),
    Case(
        "a connection to something that is no rank",
        {"job.log": steps(1, 20) + "ERROR broken pipe to the label server" + ROOT + "\n"},
        "network",
    ),
    Case(
        "a job script without conda, whose training worked until somebody cancelled it",
        {"job.log": "CondaError: Run 'conda init' before 'conda activate'\n" + steps(1, 20)
         + "slurmstepd: error: *** JOB 155513 ON gpu07 CANCELLED AT 2025-01-22T01:08:45 ***" + ROOT + "\n"},
        "slurm_cancelled", None, "gpu07",
    ),
    Case(
        "stacks that faulthandler printed again and again, and the end of the program",
        {"job.log": "".join(steps(n, n + 4) + "Timeout (0:10:00)!\nThread 0x00007f3b (most recent call first):\n  File \"/a/train.py\", line 88 in step\n" for n in (1, 6, 11)) + DONE},
        None,
    ),
    Case(
        "a handler tried another address",
        {"train.log": trace("urllib.error.HTTPError: HTTP Error 302: Found") + HANDLED + trace("urllib.error.HTTPError: HTTP Error 403: Forbidden" + ROOT)},
        "network",
    ),
    Case(
        "a handler tried a smaller batch",
        {"train.log": steps(1, 9) + trace("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB.") + HANDLED + trace("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB." + ROOT)},
        "cuda_oom",
    ),
    Case(
        "a handler raised another kind of exception",
        {"train.log": trace("urllib.error.HTTPError: HTTP Error 403: Forbidden" + ROOT) + HANDLED + trace("RuntimeError: no data")},
        "network",
    ),
    Case(
        "an exception of the same kind that names its cause",
        {"train.log": trace("urllib.error.HTTPError: HTTP Error 403: Forbidden" + ROOT) + HANDLED.replace("During handling of the above exception, another exception occurred", "The above exception was the direct cause of the following exception") + trace("urllib.error.HTTPError: HTTP Error 500: Proxy")},
        "network",
    ),
    Case(
        "fits that scikit-learn quotes",
        {"train.log": trace("ValueError: \nAll the 5 fits failed.\n\nBelow are more details about the failures:\n" + "-" * 80 + "\n4 fits failed with the following error:")
         + trace("TypeError: fit got a list" + ROOT) + "\n" + "-" * 80 + "\n1 fits failed with the following error:\n" + trace("KeyError: 'y'")},
        "code_exception",
    ),
    Case(
        "a shell that tries again, and a last start that fails too",
        {"train.log": 2 * (steps(1, 9) + "RuntimeError: CUDA error: misaligned address\nAborted (core dumped)\nexit code 134, again\n") + steps(1, 9) + "RuntimeError: CUDA error: misaligned address" + ROOT + "\nAborted (core dumped)\n"},
        "cuda_error",
    ),
    Case(
        "an uncaught exception between buffered steps",
        {"train.log": steps(1, 9) + trace("KeyError: 'y'" + ROOT) + steps(10, 14)},
        "code_exception",
    ),
    Case(
        "steps that go on for longer than a buffer holds",
        {"train.log": steps(1, 9) + trace("KeyError: 'y'") + steps(10, 400)},
        None,
    ),
)  # fmt: skip
