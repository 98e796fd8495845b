"""A document contains no private text, and gives the same diagnosis."""

import json
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import loganalyst as la
from loganalyst import anonymous
from loganalyst.model import Diagnosis
from tests.anonymous.conftest import MORE, OWN, ROOT, RUNS, SECRETS, closed, log_text, table
from tests.commandline import called


def test_the_secrets_were_read(planted: Diagnosis) -> None:
    """Otherwise the next test would prove nothing: the run contains the secrets in several places."""
    read = " ".join(str(frame.to_dicts()) for frame in vars(planted.run).values() if isinstance(frame, pl.DataFrame))

    assert len(set(OWN.findall(read + str(planted.run.sources)))) >= 3


def test_no_planted_secret_gets_out(planted: Diagnosis) -> None:
    """No secret, complete or in part, in any letter case."""
    text = anonymous.render(planted)

    assert OWN.findall(text) == []
    assert not [secret for secret in SECRETS.values() if secret.lower() in text.lower()]
    assert not [part for part in planted.run.path.parts if part.startswith("zq") and part in text]
    assert json.loads(text)["schema"] == "loganalyst/anonymous/1"


def test_a_document_holds_only_words_of_ours(planted: Diagnosis) -> None:
    """Every word of every text is in one of our lists, or a replacement."""
    assert closed(anonymous.document(planted)) == []


@pytest.mark.parametrize("run", RUNS[::4] + MORE, ids=lambda p: p.name)
def test_documents_of_real_runs_hold_only_words_of_ours(run: Path) -> None:
    """The same for runs of real writers."""
    assert closed(anonymous.document(la.diagnose(run))) == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.from_regex(r"[A-Za-z0-9@:/._-]{6,24}", fullmatch=True), min_size=1, max_size=6, unique=True))
def test_random_secrets_stay_inside(tmp_path: Path, secrets: list[str]) -> None:
    """Random strings in the header of a CSV, a config and a log are not in the document."""
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
    found = la.diagnose(run)
    file = tmp_path / "case.json"
    file.write_text(anonymous.render(found))
    again = la.diagnose(file)

    assert again.status == found.status
    assert [c.id for c in again.causes] == [c.id for c in found.causes]
    assert [s.id for s in again.symptoms] == [s.id for s in found.symptoms]
    assert again.confidence == pytest.approx(found.confidence, abs=0.01)
    assert [c.confidence for c in again.causes] == pytest.approx([c.confidence for c in found.causes], abs=0.01)
    assert [m.role for m in again.metrics] == [m.role for m in found.metrics]


def test_curves_are_the_same_to_the_last_digit(tmp_path: Path) -> None:
    """Steps and values are those of the run, NaN and infinities too; times keep their distances."""
    run = tmp_path / "metrics.csv"
    values = [0.1, 1 / 3, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, -0.0, *[0.5] * 30]
    run.write_text("step,loss\n" + "".join(f"{i},{value!r}\n" for i, value in enumerate(values)))
    file = tmp_path / "case.json"
    file.write_text(anonymous.render(la.diagnose(run)))
    again = la.read_run(file).points

    assert again["step"].to_list() == list(range(len(values)))
    assert list(map(repr, again["value"])) == list(map(repr, values))
    timed = la.read_run(ROOT / "fixtures/runs/nan-lr")
    file.write_text(anonymous.render(la.diagnose(timed)))
    back = la.read_run(file)
    assert back.started is not None
    assert back.started.year == 2000
    assert timed.ended is not None
    assert timed.started is not None
    assert back.ended - back.started == timed.ended - timed.started
    for metric in timed.points["metric"].unique():
        ours, theirs = (run.points.filter(metric=metric)["time"].diff() for run in (back, timed))
        assert ours.equals(theirs)


def test_roles_that_the_user_corrected_are_kept(tmp_path: Path) -> None:
    """A name that says nothing keeps the role that loganalyst.yaml gave it."""
    (tmp_path / "metrics.csv").write_text("step,zqthing\n" + "".join(f"{i},{2 / (i + 1)}\n" for i in range(60)))
    (tmp_path / "corrections.yaml").write_text("roles: {zqthing: val_loss}\n")
    found = la.diagnose(tmp_path / "metrics.csv", config=tmp_path / "corrections.yaml")
    file = tmp_path / "case.json"
    file.write_text(anonymous.render(found))

    assert json.loads(file.read_text())["roles"] == {"anona": "val_loss"}
    assert [m.role for m in la.diagnose(file).metrics] == ["val_loss"]


def test_the_command(tmp_path: Path) -> None:
    """To stdout or a file; the other options do not go with it; `diagnose` and `show` take the file."""
    run = ROOT / "fixtures/runs/nan-lr"
    code, out, err = called("show", "--anonymous", run)
    assert (code, err) == (0, "")
    assert called("show", "--anonymous", run, "-o", tmp_path / "case.json") == (0, "", "")
    assert (tmp_path / "case.json").read_text() == out
    assert max(map(len, out.splitlines())) > 1000
    assert called("show", "--anonymous", "--features", run).code == 2
    found = called("diagnose", tmp_path / "case.json")
    assert found.code == 1
    assert "Learning rate too high" in found.out
    assert "train/loss" in called("show", tmp_path / "case.json").out
