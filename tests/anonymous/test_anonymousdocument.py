"""Documents hold nothing that identifies anybody, and give the same diagnosis."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import loganalyst as la
from loganalyst import anonymous
from loganalyst.model import Diagnosis
from tests.anonymous.planted import MORE, OWN, ROOT, RUNS, SECRETS, closed, log_text, table
from tests.commandline import called
from tests.recorded import diagnosed


def test_the_secrets_were_read(planted: Diagnosis) -> None:
    """The next test needs it: the tables of the run contain secrets in several places."""
    read = " ".join(str(frame.to_dicts()) for frame in vars(planted.run).values() if isinstance(frame, pl.DataFrame))

    assert len(set(OWN.findall(read + str(planted.run.sources)))) >= 3


def test_no_planted_secret_gets_out(planted: Diagnosis) -> None:
    """No secret, whole or in part, in any letter case."""
    text = anonymous.render(planted)

    assert OWN.findall(text) == []
    assert not [secret for secret in SECRETS.values() if secret.lower() in text.lower()]
    assert not [part for part in planted.run.path.parts if part.startswith("zq") and part in text]
    assert json.loads(text)["schema"] == "loganalyst/anonymous/1"


def test_a_document_holds_only_known_words(planted: Diagnosis) -> None:
    """Every word of every text is in a list or is a replacement."""
    assert closed(anonymous.document(planted)) == []


@pytest.mark.parametrize("run", RUNS[::4] + MORE, ids=lambda p: p.name)
def test_documents_of_real_runs_hold_only_known_words(run: Path) -> None:
    """The same for runs of real writers."""
    assert closed(anonymous.document(diagnosed(run))) == []


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.from_regex(r"[A-Za-z0-9@:/._-]{6,24}", fullmatch=True), min_size=1, max_size=6, unique=True))
def test_random_secrets_stay_inside(tmp_path: Path, secrets: list[str]) -> None:
    """No random string of a CSV's header, a config or a log is in the document."""
    own = [f"xq{secret}qx" for secret in secrets]
    s = dict(zip(SECRETS, (own * len(SECRETS))[: len(SECRETS)], strict=True))
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    table(folder, s)
    (folder / "train.log").write_text(log_text(s))
    text = anonymous.render(la.diagnose(folder)).lower()

    assert not [secret for secret in own if secret.lower() in text]
    assert "xq" not in text


@pytest.mark.parametrize("run", RUNS + MORE, ids=lambda p: p.name)
def test_the_document_gives_the_same_diagnosis(run: Path, tmp_path: Path) -> None:
    """Status, causes in their order, symptoms, and nearly the same confidence."""
    found = diagnosed(run)
    file = tmp_path / "case.json"
    file.write_text(anonymous.render(found))
    again = la.diagnose(file)

    assert again.status == found.status
    assert [c.id for c in again.causes] == [c.id for c in found.causes]
    assert [s.id for s in again.symptoms] == [s.id for s in found.symptoms]
    assert again.confidence == pytest.approx(found.confidence, abs=0.01)
    assert [c.confidence for c in again.causes] == pytest.approx([c.confidence for c in found.causes], abs=0.01)
    assert [m.role for m in again.metrics] == [m.role for m in found.metrics]


def test_roles_that_the_user_corrected_are_written(tmp_path: Path) -> None:
    """A replaced name keeps the role from loganalyst.yaml."""
    (tmp_path / "metrics.csv").write_text("step,zqthing\n" + "".join(f"{i},{2 / (i + 1)}\n" for i in range(60)))
    (tmp_path / "corrections.yaml").write_text("roles: {zqthing: val_loss}\n")
    found = la.diagnose(tmp_path / "metrics.csv", config=tmp_path / "corrections.yaml")
    file = tmp_path / "case.json"
    file.write_text(anonymous.render(found))

    assert json.loads(file.read_text())["roles"] == {"anona": "val_loss"}
    assert [m.role for m in la.diagnose(file).metrics] == ["val_loss"]


@pytest.mark.parametrize("settings", ["", "env_id: CartPole-v1\n"])
def test_unsure_roles_stay_unsure_and_sure_ones_sure(tmp_path: Path, settings: str) -> None:
    """The settings that confirm a role may be left out of the document."""
    run, file = tmp_path / "run", tmp_path / "case.json"
    run.mkdir()
    (run / "metrics.csv").write_text("step,reward\n" + "".join(f"{i},{10 + 5 * (i % 7) / 7}\n" for i in range(400)))
    (run / "config.yaml").write_text(f"seed: 1\n{settings}")
    found = la.diagnose(run)
    file.write_text(anonymous.render(found))
    again = la.diagnose(file)

    assert [m.role_unsure for m in found.metrics] == [not settings]
    assert [m.role_unsure for m in again.metrics] == [not settings]
    assert [c.confidence for c in again.causes] == [c.confidence for c in found.causes]


def test_the_command(tmp_path: Path) -> None:
    """It writes to stdout or a file and excludes other options; `diagnose` and `show` read the file."""
    run = ROOT / "fixtures/runs/nan-lr"
    code, out, err = called("show", "--anonymous", run)
    assert (code, err) == (0, "")
    assert called("show", "--anonymous", run, "-o", tmp_path / "case.json") == (0, "", "")
    assert (tmp_path / "case.json").read_text() == out
    assert max(map(len, out.splitlines())) > 1000
    assert called("show", "--anonymous", "--features", run).code == 2
    answer = called("diagnose", tmp_path / "case.json")
    assert answer.code == 1
    assert "Learning rate too high" in answer.out
    assert "train/loss" in called("show", tmp_path / "case.json").out
