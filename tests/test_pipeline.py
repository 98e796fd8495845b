"""One run from its files to its diagnosis, on the recorded runs, whose truth is known."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import loganalyst as la
from fixtures.truth import RUNS, Truth, truths
from loganalyst.errors import RuleError
from loganalyst.report.diagnosis import terminal
from tests.recorded import diagnosed

TRUTHS = truths()


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda t: t.run)
def test_recorded_runs_are_judged_as_they_are(truth: Truth) -> None:
    """The injected fault is among the first three causes; a healthy run has none."""
    found = diagnosed(RUNS / truth.run)

    if truth.healthy:
        assert (found.status, found.causes) == ("healthy", ())
    else:
        assert {c.label for c in found.causes[:3]} & {truth.label, *truth.secondary}


@pytest.mark.parametrize("truth", [t for t in TRUTHS if t.rules], ids=lambda t: t.run)
def test_the_expected_rule_is_named(truth: Truth) -> None:
    """The rule of this fault is a cause, or a consequence of one."""
    found = diagnosed(RUNS / truth.run)
    titles = {la.explain(rule)["title"] for rule in truth.rules}

    assert {c.id for c in found.causes} & set(truth.rules) or {t for c in found.causes for t in c.consequences} & titles


def test_the_readme_run() -> None:
    """The bundled failed run: a rate too high, with the onset in the logs and a rate to try."""
    found = diagnosed(RUNS / "nan-lr")
    cause = found.causes[0]

    assert cause.label == "lr_too_high"
    assert 600 < cause.onset_step < 660
    assert "→" in cause.fix[0].change


def test_diagnosis_is_json_of_the_contract() -> None:
    """The JSON has the fields of the contract, and numbers that are no numbers are strings."""
    found = json.loads(la.diagnose(RUNS / "nan-lr").to_json())

    assert found["schema"] == "loganalyst/diagnosis/1"
    assert set(found) >= {
        "status", "confidence", "run", "sessions", "symptoms", "root_causes", "ruled_out", "timeline", "quick_fixes",
        "summary", "gaps", "analysis_artifacts",
    }  # fmt: skip
    assert set(found["root_causes"][0]) >= {
        "id", "label", "issue", "severity", "confidence", "band", "onset_step", "file", "line", "rank", "node",
        "evidence", "mechanism", "fix", "will_not_fix", "consequences", "missing",
    }  # fmt: skip


def test_reading_and_diagnosing_are_one() -> None:
    """A run already read gives the same answer as its path."""
    run = la.read_run(RUNS / "overfitting")

    assert la.diagnose(run).to_json() == la.diagnose(RUNS / "overfitting").to_json()


def test_nothing_is_written_into_a_run(tmp_path: Path) -> None:
    """Diagnosing leaves the run as it was."""
    run = tmp_path / "run"
    run.mkdir()
    (run / "metrics.csv").write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(50)))
    before = [(p, p.stat().st_mtime_ns) for p in sorted(tmp_path.rglob("*"))]
    la.diagnose(run)

    assert [(p, p.stat().st_mtime_ns) for p in sorted(tmp_path.rglob("*"))] == before


def spiky(folder: Path) -> Path:
    folder.mkdir()
    values = [2.0 * 0.99**i + 0.1 + (30.0 if i in (150, 220) else 0.0) for i in range(300)]
    (folder / "metrics.csv").write_text("step,loss\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)))
    return folder


def test_an_accepted_finding_is_counted_not_named(tmp_path: Path) -> None:
    """What the user accepts in loganalyst.yaml leaves the causes and is counted."""
    run = spiky(tmp_path / "run")

    assert [c.id for c in la.diagnose(run).causes] == ["loss-spikes"]

    file = tmp_path / "loganalyst.yaml"
    file.write_text("ignore: [{rule: loss-spikes, reason: known outliers}]")
    found, told = la.diagnose(run), f"loss-spikes: known outliers, says {file}"

    assert (found.status, found.causes, found.ignored_findings) == ("healthy", (), (told,))
    screen = terminal.render(found, width=200).split("\n")
    assert screen[0].startswith("✓ run   Nothing found but what loganalyst.yaml accepts")
    assert told in " ".join(" ".join(screen).split())


def test_spikes_on_a_loss_near_zero(tmp_path: Path) -> None:
    """Batches with ten times the first loss are spikes, although ordinary ones differ by orders of magnitude."""
    rng = np.random.default_rng(1)
    loss = 2.3 * np.exp(-np.arange(2000) / 150) + 0.002 * rng.lognormal(0, 1.5, 2000)
    loss[[400, 700, 1100, 1500, 1800]] = 25.0
    np.savetxt(tmp_path / "losses.txt", loss)

    assert [c.id for c in la.diagnose(tmp_path).causes] == ["loss-spikes"]


def test_an_expired_acceptance_does_not_count(tmp_path: Path) -> None:
    """After its date a finding is named again."""
    run = spiky(tmp_path / "run")
    (tmp_path / "loganalyst.yaml").write_text("ignore: [{rule: loss-spikes, until: 2020-01-01}]")

    assert [c.id for c in la.diagnose(run).causes] == ["loss-spikes"]


def test_corrected_roles_change_what_is_judged(tmp_path: Path) -> None:
    """A metric with an unknown name is judged once the user sets its role."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.csv").write_text(
        "step,banana\n" + "".join(f"{i},{'nan' if i > 50 else 1 + 1 / (i + 1)}\n" for i in range(99))
    )

    assert la.diagnose(tmp_path / "run").causes == ()

    (tmp_path / "loganalyst.yaml").write_text("roles: {banana: train_loss}")

    assert la.diagnose(tmp_path / "run").causes[0].label == "nan_loss"


def test_weights_of_loss_terms_count(tmp_path: Path) -> None:
    """A term's share of the total is that of the weighted term."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.csv").write_text("step,a_loss,b_loss\n" + "".join(f"{i},9,1\n" for i in range(30)))
    (tmp_path / "loganalyst.yaml").write_text("loss_terms: {a_loss: 1, b_loss: 81}")

    assert la.diagnose(tmp_path / "run").features.values["component_top_share"] == pytest.approx(0.9)


def test_own_rules_are_asked(tmp_path: Path) -> None:
    """A folder with the user's own rules extends the catalogue."""
    own = tmp_path / "mine" / "optimisation"
    own.mkdir(parents=True)
    text = (Path(la.explain.__globals__["rulefiles"].rules_dir()) / "optimisation/loss-spikes.yaml").read_text()
    text = re.sub(r"^replay: .*\n", "", text, flags=re.M)  # experiments weigh our own rules by their ids
    (own / "my-spikes.yaml").write_text(
        re.sub(r"prior: [\d.]+", "prior: 0.6", text.replace("id: loss-spikes", "id: my-spikes"))
    )
    found = la.diagnose(spiky(tmp_path / "run"), rules=[tmp_path / "mine"])

    assert found.causes[0].id == "my-spikes"


def test_unknown_rule_names_the_nearest() -> None:
    """explain() of an unknown rule names the nearest one."""
    with pytest.raises(RuleError, match=r"lr-to-high: no such rule; did you mean 'lr-too-high'\?"):
        la.explain("lr-to-high")


def test_blame_stays_in_the_last_session(tmp_path: Path) -> None:
    """A crash that a later start survived is no cause of the last one."""
    trace = 'Traceback (most recent call last):\n  File "t.py", line 1, in f\nValueError: bad\n'
    first = f"step 1 loss 2.0\nstep 2 loss 1.9\n{trace}"
    later = "".join(f"step {i} loss {2 / i}\n" for i in range(1, 60)) + "training finished\n"
    (tmp_path / "slurm-7.out").write_text(first + later)
    found = la.diagnose(tmp_path / "slurm-7.out")

    assert [c.label for c in found.causes if c.label == "code_exception"] == []


def test_skipped_steps_of_mixed_precision_are_healthy(tmp_path: Path) -> None:
    """Single infinite gradient norms, which a dynamic loss scale causes, are no fault."""
    rows = [f"{i},{2 * 0.98**i + 0.1},{'inf' if i in (0, 90) else 1.0}\n" for i in range(200)]
    (tmp_path / "metrics.csv").write_text("step,loss,grad_norm\n" + "".join(rows))

    assert la.diagnose(tmp_path).causes == ()
