"""From a run's folder to a decided cause, as a user calls it."""

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest

import loganalyst as la
from loganalyst import cli
from loganalyst.errors import ReplayError
from loganalyst.progressbar import Bar
from loganalyst.replaying import checkpointchoice, hypothesissearch, verdicts
from loganalyst.report.replay import markdown as replaymarkdown
from loganalyst.report.replay import schema
from loganalyst.report.replay import screen as report

SCHEMA = Path(__file__).parents[2] / "docs/schema/replay-1.json"


def hypothesis(found, id_):
    return next(h for h in found.hypotheses if h.id == id_)


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
    assert hypothesis(found, "bad-data").before < 0.2 < 0.9 < hypothesis(found, "bad-data").after
    assert hypothesis(found, "log-of-zero").verdict == "refuted"
    told = "the batch itself holds NaN or Inf: this speaks for Bad values in the data"
    assert any(text.startswith(told) for text in found.learned)


def test_the_json_is_as_the_schema_says(replays):
    for name in ("rate_too_high", "bad_batch"):
        jsonschema.validate(json.loads(replays(name).to_json()), schema.schema())
    assert json.loads(SCHEMA.read_text()) == schema.schema()


def test_reports_name_the_verdict_and_what_was_stated(replays):
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


def test_without_an_entry_the_checkpoints_alone_are_looked_at(runs, capsys):
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


def test_the_last_whole_checkpoint_before_the_fault_is_chosen(runs, tmp_path):
    run = shutil.copytree(runs("rate_too_high"), tmp_path / "run")
    content = (run / "checkpoint-50.pt").read_bytes()
    (run / "checkpoint-50.pt").write_bytes(content[: len(content) // 2])

    found = checkpointchoice.chosen(la.diagnose(run), 61, None)

    assert (found.path.name, found.step, found.last.name) == ("checkpoint-25.pt", 25, "checkpoint-100.pt")
    assert found.notes[0].startswith("checkpoint-50.pt is passed over: it is damaged or cut off")


def test_a_run_without_a_checkpoint_is_replayed_from_its_start(runs, tmp_path):
    run = shutil.copytree(runs("rate_too_high"), tmp_path / "run")
    for path in run.glob("*.pt"):
        path.unlink()

    found = checkpointchoice.chosen(la.diagnose(run), 61, None)

    assert (found.path, found.step) == (None, 0)
    with pytest.raises(ReplayError, match="there is no such checkpoint"):
        checkpointchoice.chosen(la.diagnose(run), 61, run / "x.pt")


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "never stated"},
        {"text": 3},
        {"reproduced": "yes"},
        {"values": [1]},
        {"values": {"a": [1]}},
        {"series": {"a": ["x"]}},
        {"series": {"a": [0.0] * 6_000}},
        {"start": 1.5},
    ],
)
def test_a_result_that_is_none_is_refused(change):
    sound = {"outcome": "stayed", "text": "", "reproduced": None, "values": {}, "series": {}, "start": 0}

    assert verdicts.measured(sound, ["stayed"]).outcome == "stayed"
    with pytest.raises(ReplayError, match="gave what is no result"):
        verdicts.measured({**sound, **change}, ["stayed"])


class Answers:
    """Stands for the other process: outcomes by experiment, one a seed."""

    random = True

    def __init__(self, outcomes):
        self.outcomes, self.asked = outcomes, []

    def __call__(self, name, seed, limits, outcomes):
        self.asked.append((name, seed))
        found = self.outcomes.get(name, ["inconclusive"])
        return la.model.Measured(found[seed % len(found)], f"{name} {seed}")


def searched(run, outcomes, cause=None):
    made, ask = hypothesissearch._Search(la.diagnose(run), None, (), cause), Answers(outcomes)
    return made.result(*made.run(ask)), ask.asked


def test_seeds_repeat_until_two_agree(runs):
    found, asked = searched(runs("rate_too_high"), {"lr_counterfactual": ["stayed", "vanished", "vanished"]})

    assert [seed for name, seed in asked if name == "lr_counterfactual"] == [0, 1, 2]
    assert found.experiments[0].outcome == "vanished"
    assert [seed for name, seed in asked if name == "first_nonfinite"] == [0, 1]


def test_runs_that_never_agree_decide_nothing(runs):
    found, _ = searched(runs("rate_too_high"), {"lr_counterfactual": ["stayed", "vanished", "inconclusive"]})

    assert found.experiments[0].outcome == "inconclusive"
    assert found.experiments[0].weights == {}


def test_three_refuted_hypotheses_end_the_search(runs):
    found, _ = searched(
        runs("rate_too_high"),
        {"lr_counterfactual": ["stayed"], "first_nonfinite": ["operation"], "clipping_counterfactual": ["stayed"]},
    )

    assert found.ended == "three_refuted"
    assert sum(h.verdict == "refuted" for h in found.hypotheses) >= 3
    assert found.learned
    assert found.next_steps
    assert hypothesis(found, "lr-too-high").after < hypothesis(found, "lr-too-high").before


def test_one_cause_alone_is_tested(runs):
    found, asked = searched(runs("rate_too_high"), {}, cause="fp16-overflow")

    assert {name for name, _ in asked} == {"first_nonfinite", "precision_counterfactual"}
    assert found.ended == "all_tried"


def own_rule(folder, replay):
    """A rule of one's own like `lr-too-high`, under a label that no experiment has weights for."""
    text = (Path(__file__).parents[2] / "rules/optimisation/lr-too-high.yaml").read_text()
    named = re.sub(r"(?m)^replay: .*$", f"replay: {replay}", text.replace("id: lr-too-high", "id: my-rate"))
    (folder / "optimisation").mkdir(parents=True)
    (folder / "optimisation/my-rate.yaml").write_text(named.replace("label: lr_too_high", "label: other"))
    return folder


@pytest.mark.parametrize(
    ("replay", "told"),
    [
        ("[lr_counterfactua]", "replay names 'lr_counterfactua'; did you mean 'lr_counterfactual'?"),
        ("[lr_counterfactual]", "no outcome of 'lr_counterfactual' has a weight for this rule"),
        ("{lr_counterfactual: {vanish: 2.0}}", "lr_counterfactual has no outcome 'vanish'; did you mean 'vanished'?"),
        ("{lr_counterfactual: {vanished: high}}", "vanished is 'high'; a number from"),
        ("{lr_counterfactual: [vanished]}", "lr_counterfactual is ['vanished']; names with numbers are needed"),
    ],
)
def test_what_a_rule_says_wrongly_of_experiments_is_told(tmp_path, replay, told):
    folder = own_rule(tmp_path, replay)

    catalogue = la.pipeline.catalogue((folder,))

    assert any(told in problem for problem in catalogue.problems), catalogue.problems
    assert "my-rate" not in catalogue.rules


def test_a_rule_of_ones_own_brings_its_own_weights(tmp_path, runs):
    folder = own_rule(tmp_path, "{lr_counterfactual: {vanished: 2.5, stayed: -3.0}}")
    made = hypothesissearch._Search(la.diagnose(runs("rate_too_high"), rules=(folder,)), None, (folder,), "my-rate")

    found = made.result(*made.run(Answers({"lr_counterfactual": ["stayed"]})))

    assert hypothesis(found, "my-rate").verdict == "refuted"
    assert found.experiments[0].weights["my-rate"] == -3.0


def test_weights_for_what_is_no_rule_are_told(tmp_path):
    """In the folder of the package such a fault stops all."""
    outcome = "{means: x, weights: {lr-to-high: 1.0, lr_too_high: 1.0}}"
    (tmp_path / "replay.yaml").write_text(f"my_experiment: {{question: x, outcomes: {{found: {outcome}}}}}\n")

    (told,) = la.pipeline.catalogue((tmp_path,)).problems

    assert told.endswith("replay.yaml:1: weights name 'lr-to-high'; did you mean 'lr-too-high'?")


def test_what_is_confirmed_is_told_where_the_next_three_are_refuted(runs):
    """A cause that the logs speak against stays below the confidence that ends the search at once."""
    found, _ = searched(
        runs("bad_batch"),
        {"first_nonfinite": ["division"], "lr_counterfactual": ["stayed"], "clipping_counterfactual": ["stayed"]},
    )

    assert (found.ended, hypothesis(found, "log-of-zero").verdict) == ("decided", "confirmed")
    assert found.why.startswith("Logarithm of zero or division by zero in the loss is confirmed")
    assert found.next_steps == ()


def test_cells_tell_a_huge_loss_from_one_that_is_not_finite():
    """8 of 8 levels is three times the first loss; what is above stays a number."""
    assert report._cells([1.0, 3.0, 3.1, 1e30, float("inf"), float("nan")], 1.0) == [2, 7, 7, 7, 8, 8]


def test_a_terminal_is_told_how_far_it_is(monkeypatch, capsys):
    """Steps of an experiment, and at the end an empty line; a pipe is told nothing."""
    answers = [
        {"kind": "at", "phase": "lr_counterfactual, seed 0", "done": 12, "total": 40},
        {"kind": "measured", "measured": {}},
    ]
    for terminal in (True, False):
        monkeypatch.setattr("sys.stderr.isatty", lambda shown=terminal: shown)
        bar = Bar()
        assert hypothesissearch._last(iter(answers), bar)["kind"] == "measured"
        bar.clear()
        told = capsys.readouterr().err
        assert ("lr_counterfactual, seed 0: 12 of 40 steps, 0 s" in told) == terminal
        assert told.endswith("\r\033[K") == terminal
