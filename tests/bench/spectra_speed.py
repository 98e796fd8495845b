"""How fast `inspect --spectra` finds norms and ranks, beside all singular values by torch, on GPU and processor:
`python -m tests.bench.spectra_speed`.

One safetensors file of matrices as large models have them. Each side reads the file again; the least of `ROUNDS` wall
seconds, and the largest relative difference from the exact values. Each runs in a process of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import safetensors.torch
import torch

ROUNDS = 3
SHAPES = {"attention": (2048, 2048), "mlp": (2048, 5504), "embedding": (20_000, 1024)}
OURS = """
import sys, time, json, torch
import loganalyst as la
if torch.cuda.is_available():
    torch.zeros(1, device="cuda").sum().item()
seconds = []
for _ in range(int(sys.argv[2])):
    began = time.perf_counter()
    found = la.inspect(sys.argv[1], spectra=True)
    seconds.append(time.perf_counter() - began)
values = {t.name: (t.spectral_norm, t.effective_rank) for c in found.checkpoints for t in c.tensors}
print(json.dumps([min(seconds), values]))
"""
EXACT = """
import sys, time, json, torch, safetensors.torch
device = "cuda" if torch.cuda.is_available() else "cpu"
began, values = time.perf_counter(), {}
for name, matrix in safetensors.torch.load_file(sys.argv[1]).items():
    found = torch.linalg.svdvals(matrix.to(device).float()).double()
    share = found[found > 0] / found.sum()
    values[name] = (found[0].item(), torch.exp(-(share * share.log()).sum()).item())
print(json.dumps([time.perf_counter() - began, values]))
"""


def main() -> None:
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory(prefix="loganalyst-spectra-") as folder:
        path = Path(folder) / "model.safetensors"
        safetensors.torch.save_file({name: torch.randn(shape) * 0.02 for name, shape in SHAPES.items()}, path)
        devices = ["GPU", "processor"] if torch.cuda.is_available() else ["processor"]
        for device in devices:
            seconds, found = of_child(OURS, path, device)
            exact_seconds, exact = of_child(EXACT, path, device)
            wrong = max(abs(a - b) / b for name in exact for a, b in zip(found[name], exact[name], strict=True))
            print(f"{device:10} ours {seconds:6.2f} s   svdvals {exact_seconds:6.2f} s   off by {wrong:.1e} at most")


def of_child(code: str, path: Path, device: str) -> tuple[float, dict[str, list[float]]]:
    """Seconds and values of one side, which sees the GPU only if `device` is it."""
    hidden = {} if device == "GPU" else {"CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-c", code, str(path), str(ROUNDS)]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **hidden})
    seconds, values = json.loads(out.stdout)
    return seconds, values


if __name__ == "__main__":
    main()
