"""`loganalyst compare` on small trees: what it prints in each form, its exit codes, its figure, its schema."""

import csv
import io
import json
import math
import re
from itertools import product
from pathlib import Path

import jsonschema
import pytest

import loganalyst as la
from loganalyst import cli
from loganalyst.report.comparison.schema import schema
from tests.comparing.conftest import write

pytestmark = [pytest.mark.usefixtures("workers_here"), pytest.mark.takes_long]
PUBLISHED = Path(__file__).parents[2] / "docs/schema/comparison-1.json"


def run(*arguments: object) -> int:
    """The exit code of the program."""
    with pytest.raises(SystemExit) as ended:
        cli.main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An old and a new set: two rates and two seeds each, the new one worse by 0.1; one new run diverges. A sweep of
    nine runs. All in one store.
    """
    folder = tmp_path_factory.mktemp("compared")
    for name, more in (("old", 0.0), ("new", 0.1)):
        for lr, seed in product((0.001, 0.01), (1, 2)):
            write(folder / name / f"lr{lr}-seed{seed}", 0.5 + 0.2 * (lr > 0.005) + more, seed, lr=lr)
    write(folder / "new/lr1-seed1", 0.5, 1, diverges=True, lr=1.0)
    for i, (lr, width) in enumerate(product((1e-4, 1e-3, 1e-2), (16, 32, 64))):
        write(folder / f"sweep/r{i}", 0.5 + 0.1 * (math.log10(lr) + 3) ** 2, i, lr=lr, width=width)
    write(folder / "odd/a", 0.5, 1, **{"<b>x|y</b>": "\x1b[31mred"})
    write(folder / "odd/b", 0.6, 1, **{"<b>x|y</b>": "`code`"})
    (folder / "log").mkdir()
    (folder / "log/slurm-1.out").write_text("Traceback (most recent call last):\nValueError: nothing\n")
    la.audit([folder], folder / "store", jobs=1)
    return folder


def compared(capsys, sets: Path, *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command on folders of the store."""
    code = run("compare", *arguments, "--store", sets / "store", "--jobs", 1)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_two_sets_on_a_terminal_and_as_json(sets, capsys):
    """A metric that is worse exits with 1."""
    code, screen, _ = compared(capsys, sets, sets / "old", sets / "new")
    again, text, _ = compared(capsys, sets, sets / "old", sets / "new", "--format", "json", "--exit-zero")
    found = json.loads(text)

    assert (code, again) == (1, 0)
    jsonschema.validate(found, schema())
    assert screen.startswith("9 runs, 1 of them failed\n8 compared by val/loss (best value, lower is better)")
    assert "Left out: 1 unstable" in screen
    assert "  ✗ worse" in screen
    assert found["sets"] == [str(sets / "old"), str(sets / "new")]
    assert [run["left_out"] for run in found["runs"]] == [None] * 8 + ["unstable"]
    assert [run["config"]["lr"] for run in found["runs"]][:4] == ["0.001"] * 4
    worse = {r["metric"]: r for r in found["regressions"] if r["verdict"] == "worse"}
    assert set(worse) == {"val/loss", "train/loss"}
    assert worse["val/loss"]["difference"] == pytest.approx(0.1, abs=0.03)
    assert worse["val/loss"]["matched"] == 2


def test_the_same_as_markdown_as_a_table_and_in_python(sets, capsys, tmp_path):
    code, markdown, _ = compared(capsys, sets, sets / "old", "--format", "markdown")
    compared(capsys, sets, sets / "old", "--format", "csv", "-o", tmp_path / "runs.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "runs.csv").read_text())))
    found = la.compare([sets / "old"], sets / "store", jobs=1)

    assert code == 0
    assert markdown.startswith("# 4 runs\n\n4 compared by val/loss")
    assert "## Best runs\n\n|  | val/loss | lr |" in markdown
    assert "4 runs can be compared, and 8 are needed" in markdown
    assert [r["config.lr"] for r in rows] == ["0.001", "0.001", "0.01", "0.01"]
    assert [float(r["objective"]) for r in rows] == found.runs["objective"].to_list()
    assert isinstance(found, la.Comparison)
    assert not found.worse
    assert found.objective is not None
    assert found.objective.metric == "val/loss"
    assert [g.settings for g in found.seeds.groups] == [{"lr": "0.001"}, {"lr": "0.01"}]


def test_the_metric_can_be_named(sets, capsys):
    """By its name, with the last level of the training loss; an unknown one is refused, with the nearest."""
    named = (sets / "old", "--format", "json", "--metric")
    code, text, _ = compared(capsys, sets, *named, "train/loss")
    unknown, _, why = compared(capsys, sets, *named, "train/los")
    turned, other, _ = compared(capsys, sets, *named, "train/loss", "--goal", "max")
    found = json.loads(text)

    assert (code, unknown, turned) == (0, 2, 0)
    assert found["objective"]["how"] == "last"
    assert found["runs"][0]["objective"] == pytest.approx(0.5, abs=0.05)
    assert json.loads(other)["runs"][0]["objective"] == pytest.approx(0.7, abs=0.05)
    assert "did you mean 'train/loss'?" in why


def test_a_figure_shows_what_matters(sets, capsys, tmp_path):
    """The same comparison gives the same bytes; a figure may lie next to the runs, but not in a run."""
    for name in ("a.svg", "b.svg"):
        code, screen, _ = compared(capsys, sets, sets / "sweep", "--plot", tmp_path / name)
    inner = min(path for path in (sets / "sweep").iterdir() if path.is_dir())
    inside, _, why = compared(capsys, sets, sets / "sweep", "--plot", inner / "x.png")
    beside, _, _ = compared(capsys, sets, sets / "sweep", "--plot", sets / "sweep/x.png")
    unknown, _, what = compared(capsys, sets, sets / "sweep", "--plot", tmp_path / "x.bmp")

    assert code == 0
    assert "What makes the differences, of 2 settings in 9 runs" in screen
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "<svg" in (tmp_path / "a.svg").read_text()
    assert (inside, beside, unknown) == (2, 0, 2)
    assert f"lies inside the run {inner}" in why
    assert "allowed are .png, .svg, .pdf" in what
    assert not (inner / "x.png").exists()
    (sets / "sweep/x.png").unlink()


def test_names_of_runs_and_settings_stay_text(sets, capsys):
    """No markup in Markdown, no escapes on a terminal."""
    _, screen, _ = compared(capsys, sets, sets / "odd")
    _, markdown, _ = compared(capsys, sets, sets / "odd", "--format", "markdown")

    assert "\x1b" not in screen
    assert "<b>" not in markdown
    assert "\\`code\\`" in markdown


def test_runs_without_a_metric_are_not_compared(sets, capsys):
    code, screen, _ = compared(capsys, sets, sets / "log")

    assert code == 0
    assert "Nothing to compare them by" in screen


def test_nothing_readable_is_said(tmp_path, capsys):
    assert compared(capsys, tmp_path, tmp_path / "missing")[0] == 2


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs of one and three of another, with the same names of losses."""
    folder = tmp_path_factory.mktemp("projects")
    for i in range(3):
        write(folder / f"text/r{i}", 9.0, i, n_layer=2, n_head=4, block_size=64, dataset="books")
    for i in range(3):
        write(folder / f"images/r{i}", 0.1, i, arch="net", image_size=8, num_classes=10, augment="flip")
    write(folder / "text/r3", 9.0, 3, n_layer=4, n_head=4, block_size=64, dataset="books")
    la.audit([folder], folder / "store", jobs=1)
    return folder


def test_unrelated_runs_are_left_out_and_compared_alone(projects, capsys):
    """Said on a terminal and in Markdown; in JSON each group has a comparison of its own; all runs are in the table."""
    code, screen, _ = compared(capsys, projects, projects / "images", projects / "text")
    _, markdown, _ = compared(capsys, projects, projects, "--format", "markdown")
    _, text, _ = compared(capsys, projects, projects / "images", projects / "text", "--format", "json")
    found = json.loads(text)
    (group,) = found["unrelated"]

    assert code == 0
    jsonschema.validate(found, schema())
    assert "4 compared by val/loss" in screen
    assert "Left out: 3 unrelated" in screen
    assert (
        "Runs that are unrelated to the others\n"
        "  runs  where   settings shared  metrics shared  values far apart      compared alone\n"
        "  3     images  0 of 4           not known       val_loss, train_loss  below\n"
    ) in screen
    assert "\nimages: 3 runs\n    3 compared by val/loss" in screen
    assert "\n## images: Best runs\n" in markdown
    assert [run["left_out"] for run in found["runs"]] == [None] * 4 + ["unrelated"] * 3
    assert [run["objective"] is None for run in found["runs"]] == [False] * 4 + [True] * 3
    assert (found["objective"]["known"], found["objective"]["left_out"]) == (4, {"unrelated": 3})
    assert {n: group[n] for n in ("folder", "settings", "metrics", "scale")} == {
        "folder": str(projects / "images"),
        "settings": {"shared": 0, "of": 4},
        "metrics": {"shared": 0, "of": 0},
        "scale": ["val_loss", "train_loss"],
    }
    assert [len(group["runs"]), group["comparison"]["objective"]["known"]] == [3, 3]
    assert (found["sets"], found["regressions"]) == ([], [])


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An old and a new set of two projects each; in the smaller one, with another metric, the new ones are worse."""
    folder = tmp_path_factory.mktemp("mixed")
    for name, more in (("old", 0.0), ("new", 0.3)):
        for i in range(4):
            write(folder / name / f"text{i}", 9.0, i, n_layer=2, n_head=4, block_size=64, dataset="books")
        for i in range(3):
            write(folder / name / f"images{i}", 0.1 + more, i, arch="net", image_size=8, num_classes=10)
            log = folder / name / f"images{i}/metrics.csv"
            log.write_text(log.read_text().replace("val/loss", "val/nll"))
    la.audit([folder], folder / "store", jobs=1)
    return folder


def test_two_sets_are_compared_within_each_project(mixed, capsys):
    """The exit code is that of all of them."""
    code, text, _ = compared(capsys, mixed, mixed / "old", mixed / "new", "--format", "json")
    found = json.loads(text)
    (alone,) = [group["comparison"] for group in found["unrelated"]]

    assert code == 1
    assert {r["metric"]: r["verdict"] for r in found["regressions"]} == {"val/loss": "same", "train/loss": "same"}
    assert {r["metric"]: r["verdict"] for r in alone["regressions"]} == {"val/nll": "worse", "train/loss": "worse"}
    assert [alone["objective"]["metric"], alone["sets"]] == ["val/nll", found["sets"]]


def test_a_group_without_the_metric_asked_for_is_not_compared(mixed, capsys):
    """The one that has it goes first, though it is smaller."""
    _, text, _ = compared(capsys, mixed, mixed, "--format", "json", "--metric", "val/nll")
    _, screen, _ = compared(capsys, mixed, mixed, "--metric", "val/nll")
    found = json.loads(text)
    (group,) = found["unrelated"]

    assert (found["objective"]["metric"], found["objective"]["known"]) == ("val/nll", 6)
    assert (len(group["runs"]), group["comparison"]) == (8, None)
    assert "Left out: 8 unrelated" in screen
    assert re.search(r"\n  runs  where +settings shared .*\n  8     new/text0 and 7 others  ", screen)


def test_runs_that_belong_together_are_all_compared(sets, capsys):
    """A sweep and two sets of it in one comparison."""
    _, text, _ = compared(capsys, sets, sets / "old", sets / "new", sets / "sweep", "--format", "json")

    assert json.loads(text)["unrelated"] == []


def test_the_schema_is_valid_and_the_published_one_current(capsys):
    """docs/schema holds what `loganalyst schema comparison` prints (write it again with that command)."""
    jsonschema.Draft202012Validator.check_schema(schema())
    run("schema", "comparison")

    assert capsys.readouterr().out == PUBLISHED.read_text(encoding="utf-8")


def test_what_cannot_be_read_is_named(capsys, sets: Path, tmp_path: Path) -> None:
    """A wrong path next to a good one, and a file of zeros; the runs that can be read are compared."""
    (tmp_path / "zeros.csv").write_bytes(b"\0" * 100)
    code, out, err = compared(capsys, sets, sets / "old", tmp_path / "zeros.csv", tmp_path / "nowhere")
    reasons = dict(line.removeprefix("loganalyst: ").split(": ", 1) for line in err.splitlines())

    assert (code, out.splitlines()[0]) == (0, "4 runs")
    assert list(reasons) == [f"{tmp_path}/nowhere", f"{tmp_path}/zeros.csv"]
    assert reasons[f"{tmp_path}/nowhere"].startswith("no such file or directory; ")
    assert reasons[f"{tmp_path}/zeros.csv"].startswith("nothing could be read (zeros.csv: binary data ")
