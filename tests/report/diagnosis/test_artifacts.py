"""The files that belong to a diagnosis."""

import json
from pathlib import Path

import pytest

import loganalyst as la
from loganalyst.errors import LogAnalystError
from loganalyst.report.diagnosis.artifacts import save, save_scripts
from tests.commandline import called

RUNS = Path(__file__).parents[3] / "fixtures" / "runs"
LAYERS = RUNS / "vanishing-gradients"
PNG = b"\x89PNG"


def test_curves_heat_map_and_analysis_are_written(tmp_path: Path) -> None:
    """Pictures and a table, which names every layer."""
    found = la.diagnose(LAYERS)
    files = save(found, tmp_path / "new" / "folder")

    assert {name: path.name for name, path in files.items()} == {
        "loss_visualization": "loss_plot.png",
        "gradient_heat_map": "gradient_heatmap.png",
        "gradient_analysis": "grad_analysis.md",
    }
    assert all(files[name].read_bytes()[:4] == PNG for name in ("loss_visualization", "gradient_heat_map"))
    analysis = files["gradient_analysis"].read_text().splitlines()
    assert analysis[2] == "| Gradient | First | Median | Largest | At step | Last | Not finite |"
    assert {line.split(" | ")[0] for line in analysis} >= {"| train/grad_norm", "| grad_norm/layer00"}


def test_without_gradients_only_the_curves_are_written(tmp_path: Path) -> None:
    """A file without content is left out; without a curve there is none."""
    (tmp_path / "loss.csv").write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(50)))
    (tmp_path / "job.out").write_text("Traceback (most recent call last):\nValueError: x\n")

    assert set(save(la.diagnose(tmp_path / "loss.csv"), tmp_path / "a")) == {"loss_visualization"}
    assert save(la.diagnose(tmp_path / "job.out"), tmp_path / "b") == {}


def test_nothing_is_written_into_the_run() -> None:
    """Neither pictures nor scripts."""
    found = la.diagnose(LAYERS)
    for write in (save, lambda d, folder: save_scripts(d, folder, {"gradient_norms": ""})):
        with pytest.raises(LogAnalystError, match="lies inside the run"):
            write(found, found.run.path / "files")


def test_scripts_and_code_are_written_once(tmp_path: Path) -> None:
    """A file that is there already stays as it is."""
    found = la.diagnose(LAYERS)
    (tmp_path / "gradient_norms.py").write_text("mine")
    written = save_scripts(found, tmp_path, {s.name: "ours" for s in found.scripts})

    assert {path.name for path in written} == {f"{s.name}.py" for s in found.scripts}
    assert (tmp_path / "gradient_norms.py").read_text() == "mine"
    others = {s.name for s in found.scripts} - {"gradient_norms"}
    assert {(tmp_path / f"{name}.py").read_text() for name in others} == {"ours"}


def test_the_json_names_the_files(tmp_path: Path) -> None:
    """By what they hold, and in the list of all files."""
    report = tmp_path / "r.json"
    asked = (
        f"diagnose {RUNS / 'nan-lr'} --artifacts {tmp_path / 'a'} --scripts {tmp_path / 's'} --format json -o {report}"
    )
    assert called(*asked.split()).code == 1
    found = json.loads(report.read_text())["analysis_artifacts"]

    assert found["loss_visualization"] == str(tmp_path / "a" / "loss_plot.png")
    assert found["files"][0] == str(report)
    assert str(tmp_path / "s" / "gradient_norms.py") in found["files"]
    assert str(tmp_path / "s" / "fix_clip_gradients_pytorch.py") in found["files"]
    assert all(Path(path).is_file() for path in found["files"])
