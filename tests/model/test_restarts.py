"""The verdict on a restart, as it stands in JSON."""

from dataclasses import asdict

from loganalyst.model import Attempt, Restart


def test_a_verdict_is_plain_data() -> None:
    attempt = Attempt("slurm-7.out", 1, "failed", "gpu_hardware", "slurm-7.out", 9, "n7", 120, same=True)
    verdict = Restart("restart_elsewhere", "broken", "machine-broken", "gpu-hardware", 0.94, ("n7",), 1, (attempt,))

    assert asdict(verdict)["exclude_nodes"] == ("n7",)
    assert asdict(verdict)["attempts"][0] == {
        "run": "slurm-7.out", "start": 1, "status": "failed", "label": "gpu_hardware", "file": "slurm-7.out",
        "line": 9, "node": "n7", "last_step": 120, "same": True,
    }  # fmt: skip
