"""Records of a GPU's driver that an epilog prints behind the output of a program."""

from pathlib import Path

import pytest

from loganalyst import pipeline

TRAINED = "".join(f"step {n} loss {9 / n:.4f}\n" for n in range(1, 40))
LOST = "NVRM: Xid (PCI:0000:3b:00): 79, pid=81, name=python, GPU has fallen off the bus.\n"
FAULT = "NVRM: Xid (PCI:0000:3b:00): 31, pid=81, name=notebook, MMU Fault: ENGINE GRAPHICS\n"
REMAP = "NVRM: Xid (PCI:0000:3b:00): 63, pid=81, name=python, Row Remapper: New row marked for remapping\n"


@pytest.mark.parametrize(
    ("log", "status"),
    [
        (TRAINED + "Training complete.\n--- epilog ---\n" + REMAP, "healthy"),
        (TRAINED + "Training complete.\n--- epilog ---\n" + FAULT, "healthy"),
        (TRAINED + "Training complete.\n--- epilog n7 ---\n" + LOST, "healthy"),
        (TRAINED + "--- epilog ---\n" + LOST, "diagnosis_complete"),
    ],
)
def test_a_record_behind_the_end_is_no_cause(tmp_path: Path, log: str, status: str) -> None:
    path = tmp_path / "job.log"
    path.write_text(log)
    assert pipeline.diagnose_paths([path])[0].status == status
