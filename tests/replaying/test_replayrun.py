"""From a run's folder to a decided cause, as a user calls it."""

import json
from pathlib import Path

import jsonschema
import pytest

import loganalyst as la
from loganalyst import cli
from loganalyst.progressbar import Bar
from loganalyst.replaying import replayrun
from loganalyst.report.replay import markdown as replaymarkdown
from loganalyst.report.replay import schema
from loganalyst.report.replay import screen as report
from tests.replaying.searches import hypothesis

pytestmark = pytest.mark.takes_long

SCHEMA = Path(__file__).parents[2] / "docs/schema/replay-1.json"


def test_a_rate_too_high_is_confirmed(replays):
    found = replays("rate_too_high")

    assert (found.checkpoint.name, found.step, found.device, found.ended) == ("checkpoint-50.pt", 50, "cpu", "decided")
    assert [(e.name, e.outcome, e.reproduced) for e in found.experiments] == [
        ("lr_counterfactual", "vanished", True),
        ("first_nonfinite", "ran_up", True),
        ("sharpness", "beyond", True),
        ("batch_swap", "stayed", True),  # from here on against rivals, those first that may rule out most of them
        ("warmup_restart", "stayed", True),
        ("loss_components", "inconclusive", None),
    ]
    confirmed = hypothesis(found, "lr-too-high")
    assert (confirmed.verdict, confirmed.band) == ("confirmed", "high")
    assert confirmed.after > confirmed.before
    assert {h.id for h in found.hypotheses if h.verdict == "refuted"} >= {"bad-data", "log-of-zero", "fp16-overflow"}
    evidence = found.after.causes[0].evidence[0]
    assert (evidence.id, evidence.kind, evidence.holds) == ("replay-lr_counterfactual", "direct", True)


def test_bad_data_behind_a_cause_that_the_logs_do_not_name_is_found(replays):
    found = replays("bad_batch")

    assert found.after.causes[0].id == "bad-data"
    assert hypothesis(found, "bad-data").before < 0.5 < 0.9 < hypothesis(found, "bad-data").after
    assert hypothesis(found, "log-of-zero").verdict == "refuted"
    out = "the batch itself holds NaN or Inf: this speaks for Bad values in the data"
    assert any(text.startswith(out) for text in found.learned)


def test_the_json_is_as_the_schema_says(replays):
    for name in ("rate_too_high", "bad_batch"):
        jsonschema.validate(json.loads(replays(name).to_json()), schema.schema())
    assert json.loads(SCHEMA.read_text()) == schema.schema()


def test_reports_name_the_verdict_and_the_statement(replays):
    found = replays("rate_too_high")
    terminal, markdown = report.render(found), replaymarkdown.render(found)

    assert report.render(found, ascii_only=True).isascii()
    assert max(map(len, terminal.splitlines())) <= 100
    assert "  For        Learning rate too high, Learning rate jumped up in the middle of the run" in terminal
    assert "  Undecided  loss_components: the loss has fewer than two components" in terminal
    for text in (terminal, markdown):
        assert "Confirmed: Learning rate jumped up in the middle of the run" in text
        assert "the unchanged replay shows the fault" in " ".join(text.split())


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_plot_is_written_outside_of_the_run(replays, tmp_path, suffix):
    found = replays("rate_too_high")

    found.plot(tmp_path / f"x{suffix}")

    assert (tmp_path / f"x{suffix}").stat().st_size > 5_000
    with pytest.raises(la.pipeline.LogAnalystError, match="lies inside the run"):
        found.plot(found.before.run.path / f"x{suffix}")


def test_without_an_entry_only_the_checkpoints_are_inspected(runs, capsys):
    with pytest.raises(SystemExit) as code:
        cli.main(["replay", str(runs("rate_too_high"))])

    assert code.value.code == 1
    out = capsys.readouterr().out
    assert "Inspected without the training's code" in out
    assert "an entry (--entry module:function) is needed" in out


def test_an_unknown_cause_is_refused_with_the_nearest(runs, capsys):
    with pytest.raises(SystemExit) as code:
        cli.main(["replay", str(runs("rate_too_high")), "--cause", "lr-to-high"])

    assert code.value.code == 2
    assert "did you mean 'lr-too-high'" in capsys.readouterr().err


def test_cells_distinguish_a_huge_loss_from_a_nonfinite_one():
    """8 of 8 levels is three times the first loss; what is above stays a number."""
    assert report._cells([1.0, 3.0, 3.1, 1e30, float("inf"), float("nan")], 1.0) == [2, 7, 7, 7, 8, 8]


def test_a_terminal_shows_progress(monkeypatch, capsys):
    """The steps of an experiment, and finally an empty line; a pipe gets nothing."""
    answers = [
        {"kind": "at", "phase": "lr_counterfactual, seed 0", "done": 12, "total": 40},
        {"kind": "measured", "measured": {}},
    ]
    for terminal in (True, False):
        monkeypatch.setattr("sys.stderr.isatty", lambda shown=terminal: shown)
        bar = Bar()
        assert replayrun._last_answer(iter(answers), bar)["kind"] == "measured"
        bar.clear()
        out = capsys.readouterr().err
        assert ("lr_counterfactual, seed 0: 12 of 40 steps, 0 s" in out) == terminal
        assert out.endswith("\r\033[K") == terminal
