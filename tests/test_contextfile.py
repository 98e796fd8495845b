"""`--context FILE`: artefacts, symptoms and limits of a case, and where in its code a fix is made."""

import json
from pathlib import Path

import pytest

from loganalyst.cli import main
from loganalyst.contextfile import Case, read
from loganalyst.diagnosis.fixplaces import cited
from loganalyst.errors import RuleError, SourceError
from loganalyst.model import Cause, Fix, Place
from loganalyst.sources.config.settingplaces import places

TRAIN = """\
import argparse

RATE = 3e-3
p = argparse.ArgumentParser()
p.add_argument("--lr", "--learning-rate", type=float, default=3e-3, help="the rate")
p.add_argument("--batch", default=N)


class Config:
    warmup_steps: int = 100
    weight_decay: float = -0.1


def run(steps, *, max_norm=1.0, shuffle=False):
    optimiser = AdamW(parameters, lr=0.01, betas=(0.9, 0.95))
    self.dropout = 0.1
    return dict(a=1), {"grad_clip": 0.5, 3: 4}
"""


def write(folder: Path, data: object) -> Path:
    path = folder / "case.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=1))
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    """Paths are relative to the file; a missing path is reported with its line."""
    for name in ("run", "code"):
        (tmp_path / name).mkdir()
    for name in ("a.out", "b.err", "config.yaml"):
        (tmp_path / name).touch()
    path = write(tmp_path, {
        "artifacts": {"runs": "run", "logs": ["a.out"], "errors": "b.err", "config": ["config.yaml"], "code": "code",
                      "checkpoints": ["best.pt"]},
        "symptoms": ["spikes", "NaN"], "constraints": {"max_analysis_time": 30}, "output_format": "json",
    })  # fmt: skip

    assert read(path) == Case(
        runs=(tmp_path / "run",),
        logs=(tmp_path / "a.out", tmp_path / "b.err"),
        config=(tmp_path / "config.yaml",),
        code=(tmp_path / "code",),
        symptoms=("spikes", "NaN"),
        missing=(f"{path}:13: checkpoints names {tmp_path / 'best.pt'}, which is not there",),
        seconds=30.0,
        format="json",
    )


def test_an_empty_object_says_nothing(tmp_path: Path) -> None:
    """No key is required."""
    assert read(write(tmp_path, {})) == Case()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"artefacts": {}}', "1: unknown key 'artefacts'; did you mean 'artifacts'?"),
        ('{"artifacts":\n{"log": "x"}}', "2: unknown key 'log'; did you mean 'logs'?"),
        ('{"symptoms": [1]}', "1: an entry of symptoms is 1; a text is needed"),
        ('{"artifacts": {"runs": {}}}', "1: runs is {}; a text or a list of texts is needed"),
        (
            '{"constraints": {"max_analysis_time": "1 day"}}',
            "1: max_analysis_time is '1 day'; a number of seconds above 0, or a time such as '5 minutes'",
        ),
        (
            '{"constraints": {"max_analysis_time": true}}',
            "1: max_analysis_time is True; a number of seconds above 0, or a time such as '5 minutes'",
        ),
        (
            '{"constraints": {"max_analysis_time": -3}}',
            "1: max_analysis_time is -3.0; a number of seconds above 0, or a time such as '5 minutes'",
        ),
        ('{"artifacts":\n{"training_log": "x"}}', "2: unknown key 'training_log'; did you mean 'training_logs'?"),
        ('{"output_format": "jsn"}', "1: output_format is 'jsn'; did you mean 'json'?"),
        ('{"symptoms": [], "symptoms": []}', "1: key 'symptoms' stands twice"),
        ("[]", "1: found list; a mapping with task, artifacts, symptoms, constraints, output_format is needed"),
    ],
)
def test_an_invalid_file_is_reported_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    """File, line, what was found and what is allowed, with the nearest name."""
    path = write(tmp_path, text)

    with pytest.raises(RuleError) as error:
        read(path)

    assert str(error.value) == f"{path}:{said}"


@pytest.mark.parametrize(
    ("time", "seconds"),
    [(30, 30.0), ("30", 30.0), ("5 minutes", 300.0), ("90s", 90.0), ("1.5 h", 5400.0), ("2 min", 120.0)],
)
def test_a_time_has_a_unit_or_is_in_seconds(tmp_path: Path, time: object, seconds: float) -> None:
    """Seconds, minutes and hours, written out or short."""
    assert read(write(tmp_path, {"constraints": {"max_analysis_time": time}})).seconds == seconds


PACKAGE = {  # as agents hand it over
    "task": "Diagnose training failure",
    "artifacts": {
        "training_logs": "logs.txt",
        "loss_curves": "losses.csv",
        "model_code": ["model.py", "trainer.py"],
        "error_messages": ["error1.txt"],
        "config": "config.yaml",
    },
    "symptoms": ["Loss diverged at epoch 7", "Gradient norm exploded"],
    "constraints": {"max_analysis_time": "5 minutes", "output_format": "structured_diagnosis"},
}


def test_the_package_of_an_agent_is_one_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Curves, logs and errors that belong to one training give one diagnosis, as JSON."""
    rows = [f"{i},{2.0 / (1 + i / 50)}" for i in range(300)] + [f"{i},nan" for i in range(300, 320)]
    (tmp_path / "losses.csv").write_text("step,loss\n" + "\n".join(rows) + "\n")
    (tmp_path / "logs.txt").write_text("".join(f"step {i} | lr 0.5\n" for i in range(0, 320, 20)))
    (tmp_path / "error1.txt").write_text("Traceback (most recent call last):\nValueError: loss is NaN\n")
    (tmp_path / "model.py").write_text("lr = 0.5\n")
    (tmp_path / "config.yaml").write_text("lr: 0.5\n")
    with pytest.raises(SystemExit):
        main(["diagnose", "--context", str(write(tmp_path, PACKAGE)), "--exit-zero"])
    out, err = capsys.readouterr()
    data = json.loads(out)

    assert [s["path"] for s in data["run"]["sources"] if s["format"]] == ["losses.csv", "logs.txt", "error1.txt"]
    assert data["run"]["path"] == str(tmp_path / "losses.csv")
    assert data["symptoms"][0]["id"] == "nan-loss"
    assert "model_code names" in err
    assert err.count("which is not there") == 1


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """A context file that was named must exist."""
    with pytest.raises(SourceError, match="no such file; --context takes a JSON file"):
        read(tmp_path / "case.json")


def test_constants_of_a_program_are_found_without_running_it(tmp_path: Path) -> None:
    """Names, options, fields, parameters, keywords and keys that are given a constant, with their lines."""
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    found, faults = places([tmp_path])

    assert faults == ()
    assert {p.file for p in found} == {str(path)}
    assert [(p.line, p.key, p.value) for p in found] == [
        (3, "RATE", "0.003"), (5, "help", "the rate"), (5, "learning_rate", "0.003"), (10, "warmup_steps", "100"),
        (11, "weight_decay", "-0.1"), (14, "max_norm", "1.0"), (14, "shuffle", "False"), (15, "lr", "0.01"),
        (16, "dropout", "0.1"), (17, "a", "1"), (17, "grad_clip", "0.5"),
    ]  # fmt: skip


def test_leaves_of_configs_are_found_by_line(tmp_path: Path) -> None:
    """YAML and JSON; a file that cannot be parsed is reported, and the others are searched."""
    (tmp_path / "a.yaml").write_text("optim:\n  lr: 0.1\n  betas: [0.9, 0.95]\n")
    (tmp_path / "b.json").write_text('{"model":\n\t{"dropout": 0.5}\n}')
    (tmp_path / "c.py").write_text("def broken(:\n")
    found, (fault,) = places([tmp_path / name for name in ("a.yaml", "b.json", "c.py", "d.bin")])

    assert [(Path(p.file).name, p.line, p.key, p.value) for p in found] == [
        ("a.yaml", 2, "lr", "0.1"),
        ("b.json", 2, "dropout", "0.5"),
    ]
    assert fault.startswith(f"{tmp_path / 'c.py'}: not searched for settings (")


def cause(change: str) -> Cause:
    return Cause("c", "other", "C", "error", 0.8, "medium", "likely", "", "", (), (Fix(change, "less", "look"),))


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ("peak learning rate 0.01 → 0.003", ["lr", "learning_rate"]),
        ("add gradient clipping at norm 1.0 and a linear warm-up", ["grad_clip"]),
        ("smooth labels by 0.1", []),
        ("look at the batch", []),
    ],
)
def test_a_fix_cites_the_setting_it_names(change: str, keys: list[str]) -> None:
    """By its longest words; a place with the value the fix starts from comes first."""
    known = [
        Place("t.py", i, k, v)
        for i, (k, v) in enumerate([("learning_rate", "0.1"), ("lr", "0.01"), ("grad_clip", "5")])
    ]
    [found] = cited([cause(change)], known)

    assert [p.key for p in found.fix[0].places] == keys


def test_nothing_searched_changes_nothing() -> None:
    """Without config and code a fix has no place."""
    before = cause("peak learning rate 0.01")

    assert cited([before], []) == (before,)


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A run whose loss becomes NaN, its config and code, and a checkpoint that is not there."""
    rows = [f"{i},{2.0 / (1 + i / 50)}" for i in range(300)] + [f"{i},nan" for i in range(300, 320)]
    (tmp_path / "metrics.csv").write_text("step,loss\n" + "\n".join(rows) + "\n")
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "config.yaml").write_text("optimizer: adam\nlr: 0.5\n")
    return write(tmp_path, {
        "artifacts": {"runs": ["metrics.csv"], "code": "train.py", "config": "config.yaml", "checkpoints": "best.pt"},
        "symptoms": "loss is NaN from step 300 on", "output_format": "json",
    })  # fmt: skip


def test_a_case_is_diagnosed(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs, symptoms, config and format come from the file; missing paths are reported; fixes cite file and line."""
    with pytest.raises(SystemExit):
        main(["diagnose", "--context", str(case), "--exit-zero"])
    out, err = capsys.readouterr()
    data = json.loads(out)

    assert data["symptoms"][0]["id"] == "nan-loss"
    [told] = data["summary"]["told_symptoms"]
    assert (told["verdict"], told["answer"].endswith("about where you said")) == ("confirmed", True)
    assert data["analysis_artifacts"]["features"]["lr_peak"] == 0.5
    assert f"{case}:8: checkpoints names {case.parent / 'best.pt'}, which is not there" in err
    cited_ = {(p["key"], p["line"]) for c in data["root_causes"] for f in c["fix"] for p in f["places"]}
    assert ("lr", 2) in cited_ or ("learning_rate", 5) in cited_


def test_the_report_names_the_file_it_was_written_to(case: Path, tmp_path: Path) -> None:
    """`analysis_artifacts.files` has what -o names; an option beats the file's format."""
    report = tmp_path / "report.json"
    with pytest.raises(SystemExit):
        main(["diagnose", "--context", str(case), "--format", "json", "-o", str(report)])

    assert json.loads(report.read_text())["analysis_artifacts"]["files"] == [str(report)]


def test_a_case_whose_artefacts_are_all_missing_says_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is diagnosed, and every missing path is named."""
    path = write(tmp_path, {"artifacts": {"runs": "gone", "logs": ["job.out"]}})
    with pytest.raises(SystemExit) as ended:
        main(["diagnose", "--context", str(path)])
    err = " ".join(capsys.readouterr().err.replace("│", " ").split())

    assert ended.value.code == 2
    assert f"{tmp_path / 'gone'}".split("/")[-1] in err
    assert "job.out, which is not there" in err


def test_an_analysis_that_takes_too_long_is_ended(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """max_analysis_time is enforced."""
    data = json.loads(case.read_text())
    case.write_text(json.dumps({**data, "constraints": {"max_analysis_time": 1e-4}}))
    with pytest.raises(SystemExit) as ended:
        main(["diagnose", "--context", str(case)])

    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "loganalyst: the analysis: did not end within 0.0001 s; max_analysis_time sets this limit\n"
    )
