"""Scans under bad luck: killed, out of disk, without permission, two at once, with a clock that jumps.

    python tests/bench/scan_reliable.py [--kill 200] [--folder FOLDER]

In every part each job that ran out of memory must stand in the file of findings exactly once in the end. `--kill`:
scans are sent `kill -9` at a random moment, while a job is added before each. A full disk is a tmpfs of some sizes
(root and Linux only), folders that may not be written are so for root too (by setpriv); where one cannot be
tried, it says so.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OOM = "step 1 loss 2.5\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 is full\n"
JUMP = """
import os, sys, time
jump, real, real_ns = float(os.environ["JUMP"]), time.time, time.time_ns
time.time, time.time_ns = lambda: real() + jump, lambda: real_ns() + int(jump * 1e9)
from loganalyst.cli import main
if __name__ == "__main__":
    main(sys.argv[1:])
"""
SIZES = ("64k", "128k", "256k", "512k", "1m", "2m")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kill", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where all is made (and removed afterwards)")
    args = parser.parse_args()
    for part in (two_at_once, clock_jumps, not_mine, disk_full):
        with tempfile.TemporaryDirectory(prefix="loganalyst-bench-", dir=args.folder) as name:
            print(f"{part.__name__:14} {part(Path(name))}", flush=True)
    with tempfile.TemporaryDirectory(prefix="loganalyst-bench-", dir=args.folder) as name:
        print(f"{'killed':14} {killed(Path(name), args.kill)}", flush=True)


def job(folder: Path, number: int) -> None:
    (folder / "logs").mkdir(exist_ok=True)
    (folder / f"logs/slurm-{number}.out").write_text(OOM)


def command(folder: Path, store: Path | None = None, program: tuple[str, ...] = ("-m", "loganalyst.cli")) -> list[str]:
    where = ["--store", store or folder / "store", "-o", folder / "found.jsonl"]
    return [sys.executable, *map(str, [*program, "scan", folder / "logs", *where, "--jobs", 1, "--exit-zero"])]


def verdict(folder: Path, jobs: int) -> str:
    """Whether each of the jobs stands in the file once."""
    lines = (folder / "found.jsonl").read_text().splitlines()
    names = sorted(json.loads(line)["run"]["name"] for line in lines)
    expected = sorted(f"slurm-{number}.out" for number in range(jobs))
    lost, twice = set(expected) - set(names), len(names) - len(set(names))
    return f"{jobs} findings, {len(lost)} lost, {twice} twice" + ("" if names == expected else "   WRONG")


def killed(folder: Path, times: int) -> str:
    moments, hit = random.Random(0), 0
    for number in range(times):
        job(folder, number)
        scan = subprocess.Popen(command(folder), start_new_session=True, stderr=subprocess.DEVNULL)
        try:
            scan.wait(moments.uniform(0.2, 5.0))
        except subprocess.TimeoutExpired:
            os.killpg(scan.pid, signal.SIGKILL)
            scan.wait()
            hit += 1
    subprocess.run(command(folder), check=True)
    return f"{times} scans, {hit} killed before they ended: {verdict(folder, times)}"


def two_at_once(folder: Path) -> str:
    codes: list[int] = []
    for number in range(5):
        job(folder, number)
        both = [subprocess.Popen(command(folder), stderr=subprocess.DEVNULL) for _ in range(2)]
        codes += [scan.wait() for scan in both]
    subprocess.run(command(folder), check=True)
    return f"exit codes {sorted(codes)}: {verdict(folder, 5)}"


def clock_jumps(folder: Path) -> str:
    (folder / "jump.py").write_text(JUMP)
    jumps = (0, -3600, 86400 * 400, -86400 * 4000, 0)
    for number, jump in enumerate(jumps):
        job(folder, number)
        jumped = os.environ | {"JUMP": str(jump)}
        subprocess.run(command(folder, program=(str(folder / "jump.py"),)), check=True, env=jumped)
    return f"by {jumps} s: {verdict(folder, len(jumps))}"


def not_mine(folder: Path) -> str:
    """Root writes where it may not, unless that is taken from it."""
    bound = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner"] if os.geteuid() == 0 else []
    if bound and not shutil.which("setpriv"):
        return "not tried: root writes anywhere, and there is no setpriv"
    for number in range(3):
        job(folder, number)
    every = [*folder.glob("logs/*"), folder / "logs"]
    for file in every:
        file.chmod(0o555)
    before = [(file.stat().st_mtime_ns, file.stat().st_size) for file in every]
    refused = subprocess.run([*bound, "touch", folder / "logs/new"], stderr=subprocess.DEVNULL, check=False).returncode
    subprocess.run([*bound, *command(folder)], check=True)
    same = refused and before == [(file.stat().st_mtime_ns, file.stat().st_size) for file in every]
    (folder / "logs").chmod(0o755)
    return f"the logs are {'as they were' if same else 'CHANGED'}: {verdict(folder, 3)}"


def disk_full(folder: Path) -> str:
    (store := folder / "store").mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", store], check=False).returncode:
        return "not tried: no tmpfs can be mounted"
    codes: list[int] = []
    try:
        for number in range(len(SIZES)):
            job(folder, number)
            subprocess.run(["mount", "-o", f"remount,size={SIZES[number]}", store], check=True)
            codes.append(subprocess.run(command(folder), stderr=subprocess.DEVNULL, check=False).returncode)
        subprocess.run(["mount", "-o", "remount,size=64m", store], check=True)
        subprocess.run(command(folder), check=True)
    finally:
        time.sleep(0.5)
        subprocess.run(["umount", store], check=True)
    return f"{', '.join(SIZES)}, exit codes {codes}, then 64m: {verdict(folder, len(SIZES))}"


if __name__ == "__main__":
    main()
