import json
from dataclasses import replace

import pytest
from rich.cells import cell_len

from loganalyst.errors import LogAnalystError, SourceError
from loganalyst.model import Feature, Features, HealthyPlace, Witness
from loganalyst.report import featurerows, show
from loganalyst.report.diagnosis import plot

DECLARED = {
    "train_loss_points": Feature("train_loss_points", "int", "points", "logged values of it", "train_loss"),
    "val_loss_points": Feature("val_loss_points", "int", "points", "logged values of it", "val_loss"),
}


def test_show_tells_what_was_read(failed):
    """Sources, metrics with role, values and reason, config, gaps, and what cannot be judged."""
    lines = show.render(failed).splitlines()

    for line in (
        "  events.out.tfevents.1  tensorboard  81.2 kB    1,475 points",
        "  train/loss  train_loss     2,465   2.32 → NaN (1 not finite)  rules/roles.yaml: train_loss",
        "  optim.lr  0.003  config.yaml",
        "  events.out.tfevents.1 from byte 80,000  record checksum is wrong (1.2 kB)",
        "  curves  2 examined in full, 1 shape not judged",
        "  - validation loss is not logged: not judged: Overfitting, Data leakage",
    ):
        assert line in lines


@pytest.mark.parametrize("width", [40, 60, 79, 80, 108])
def test_show_fits_any_width(failed, width):
    """No line is wider, a metric is one line, and its name is readable where its reason has no room."""
    lines = show.render(failed, width=width).splitlines()
    at = lines.index("Metrics")

    assert max(map(cell_len, lines)) <= width
    assert len(lines[at + 2 : lines.index("", at)]) == len(failed.metrics)
    assert any(line.startswith("  train/loss ") for line in lines[at:]) or width == 40


def test_show_names_a_few_causes_that_one_thing_costs(failed):
    """Thirty causes that need a job log are counted, not listed."""
    one = failed.unknown[0]
    many = tuple(replace(one, id=str(i), title=f"Cause {i}") for i in range(30))
    text = show.render(replace(failed, unknown=many), width=100)

    assert f"- {one.why}: not judged: Cause 0, Cause 1, Cause 2, Cause 3 and 26 more" in text


def test_show_metric_tells_its_values(failed):
    """A metric's statistics count NaN apart, and its first and last values are shown."""
    text = show.render_metric(failed, "train/loss")

    for words in ("not finite  1", "max         5.05", "step 24,650  NaN", "nonfinite  step 24,650"):
        assert words in text


def test_show_metric_refuses_an_unknown_name(failed):
    """The nearest right name is told."""
    with pytest.raises(SourceError, match="no metric 'train/los'; did you mean 'train/loss'"):
        show.render_metric(failed, "train/los")


def test_show_features_tells_where_each_comes_from_or_what_to_log(failed):
    """A known feature has its value, unit and metric; one that is not known names what it needs."""
    assert show.render_features(failed, DECLARED, {}).splitlines() == [
        "Known (1)",
        "  train_loss_points  2,465 points  train/loss",
        "",
        "Not known (1)",
        "  val_loss_points  needs val_loss  logged values of it",
    ]


def test_show_features_has_the_percentile_among_healthy_runs(failed):
    """The middle of the shares with a smaller and with a larger value, the number of runs, and their kind."""
    healthy = {"train_loss_points": HealthyPlace("supervised", 1212, 30, 0.9, 0.06)}

    assert show.render_features(failed, DECLARED, healthy).splitlines()[:3] == [
        "Known (1), with the percentile among healthy runs of its kind",
        "  feature            value         percentile              seen in",
        "  train_loss_points  2,465 points  92 of 1,212 supervised  train/loss",
    ]


def test_a_feature_names_the_place_it_was_seen(failed):
    """Metric and step, line and file, rank and node: what its witness knows."""
    witness = Witness("train/loss", 1200, "run.log", 88, rank=3, node="gpu-7")
    seen = replace(failed, features=Features({"train_loss_points": 7}, {"train_loss_points": witness}))
    (row,) = (r for r in featurerows.rows(seen, DECLARED, {}) if r.value is not None)

    assert row.origin() == "train/loss at step 1,200 line 88 of run.log rank 3 on gpu-7"


def test_features_as_json(failed):
    """Every declared feature is told, known or not; an infinite value is a word."""
    witness = Witness("train/loss", 24_650)
    seen = replace(failed, features=Features({"train_loss_points": float("inf")}, {"train_loss_points": witness}))
    told = json.loads(featurerows.render(seen, DECLARED, {}))

    assert (told["schema"], [f["name"] for f in told["features"]]) == ("loganalyst/features/1", list(DECLARED))
    known, unknown = told["features"]
    assert (known["value"], known["unit"], known["metrics"]) == ("Infinity", "points", ["train/loss"])
    assert (known["source"]["metric"], known["source"]["step"]) == ("train/loss", 24_650)
    assert (unknown["value"], unknown["source"], unknown["needs"]) == (None, None, "val_loss")


@pytest.mark.parametrize("state", ["failed", "healthy", "crashed", "unreadable", "hostile"])
@pytest.mark.parametrize("width", [60, 100])
def test_show_fits_and_is_inert(request, state, width):
    """No line is too wide and no control character is written, whatever the names are."""
    for line in show.render(request.getfixturevalue(state), width=width).splitlines():
        assert cell_len(line) <= width
        assert line.isprintable()


@pytest.mark.parametrize("state", ["failed", "healthy", "hostile"])
def test_plot_draws(request, state, tmp_path):
    """A picture is written for any run with a curve; names with formula signs are text."""
    plot.save(request.getfixturevalue(state), tmp_path / "p.svg")

    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_plot_refuses_what_it_cannot_draw(failed, unreadable, tmp_path):
    """Another suffix and a run without curves are errors that name what is allowed."""
    with pytest.raises(LogAnalystError, match=r"unknown picture format '.gif'; allowed are .png, .svg, .pdf"):
        plot.save(failed, tmp_path / "p.gif")
    with pytest.raises(LogAnalystError, match="no curve to draw"):
        plot.save(unreadable, tmp_path / "p.png")
