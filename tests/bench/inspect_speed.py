"""How fast a checkpoint is looked at, beside plainly reading it: `python -m tests.bench.inspect_speed [MB]`.

One safetensors file of MB (500) a type, in tensors of 64 MB, written here by the real writer, and in the page cache.
Plain reading takes the same bytes into one buffer of 1 MB that is used again. Both in turn, the least of `ROUNDS`, wall
and CPU seconds of one process; the most memory it had is that of the whole, torch for writing aside.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROUNDS = 5
DTYPES = ("float32", "bfloat16", "float16", "float8_e4m3fn")
TENSOR = 64  # MB
WRITE = """
import sys, torch, safetensors.torch
path, dtype, mb = sys.argv[1], getattr(torch, sys.argv[2]), int(sys.argv[3])
count = {tensor} * 1_000_000 // dtype.itemsize
one = torch.randn(count).mul_(0.02).to(dtype).reshape(1000, -1)
safetensors.torch.save_file({{f"layer.{{i}}.weight": one.clone() for i in range(max(mb // {tensor}, 1))}}, path)
"""


def plainly(path: Path) -> None:
    """Read the file into one buffer."""
    buffer = bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def least(action: Callable[[Path], object], other: Callable[[Path], object], path: Path) -> list[tuple[float, float]]:
    """Wall and CPU seconds of both, in turn."""
    spent: list[list[tuple[float, float]]] = [[], []]
    for _ in range(ROUNDS):
        for into, act in zip(spent, (action, other), strict=True):
            wall, cpu = time.perf_counter(), time.process_time()
            act(path)
            into.append((time.perf_counter() - wall, time.process_time() - cpu))
    return [(min(w for w, _ in s), min(c for _, c in s)) for s in spent]


def main(megabytes: int) -> None:
    """Print a line a type."""
    from loganalyst import inspect

    print(f"{'GB/s':16}{'read':>8}{'scan':>8}{'scan/read':>11}{'of CPU':>8}")
    for dtype in DTYPES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.safetensors")
            code = WRITE.format(tensor=TENSOR)
            subprocess.run([sys.executable, "-c", code, str(path), dtype, str(megabytes)], check=True)
            size = path.stat().st_size / 1e9
            (read, read_cpu), (scan, scan_cpu) = least(plainly, inspect, path)
        print(f"{dtype:16}{size / read:8.2f}{size / scan:8.2f}{read / scan:11.2f}{read_cpu / scan_cpu:8.2f}")
    status = Path("/proc/self/status").read_text(encoding="ascii") if Path("/proc/self/status").exists() else ""
    print(*(line for line in status.splitlines() if line.startswith("VmHWM")))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
