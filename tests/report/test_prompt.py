"""What a prompt and a notebook show of results: short, whole, and safe whatever a run's names are."""

import re
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import loganalyst as la
from loganalyst import model
from loganalyst.errors import SourceError
from loganalyst.model import Cause, Diagnosis, Evidence
from loganalyst.model.shortrepr import MAX_LINE, Short
from tests.recorded import diagnosed
from tests.report.browser import Browser

pytestmark = pytest.mark.usefixtures("workers_here")
ROOT = Path(__file__).parents[2]
RUNS = sorted(path for path in (ROOT / "fixtures/runs").iterdir() if path.is_dir())
HOSTILE = "<script>alert(1)</script>\x1b[31m\n</svg><img src=x onerror=alert(1)>\"'&\u202e" + "x" * 5000


@pytest.fixture(scope="module")
def failed() -> Diagnosis:
    return diagnosed(ROOT / "fixtures/runs/nan-lr")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, failed: Diagnosis) -> Diagnosis:
    """All that a run or a rule may name is hostile."""
    cause = replace(failed.causes[0], id=HOSTILE, issue=HOSTILE, metric=HOSTILE, file=HOSTILE, line=3)
    evidence = tuple(replace(e, text=f"{i}{HOSTILE}", file=HOSTILE, line=1) for i, e in enumerate(cause.evidence))
    cause = replace(cause, evidence=evidence, fix=tuple(replace(f, change=HOSTILE) for f in cause.fix))
    run = replace(failed.run, name=HOSTILE, path=Path(HOSTILE[:200]))
    sources = tuple(replace(s, path=HOSTILE) for s in run.sources)
    curves = [replace(c, metric=HOSTILE + c.metric) for c in failed.curves]
    return replace(failed, run=replace(run, sources=sources), causes=(cause,) * 5, curves=curves)


@pytest.mark.parametrize("run", RUNS[::6], ids=lambda p: p.name)
def test_a_diagnosis_is_at_most_ten_lines(run: Path) -> None:
    """Verdict, confidence, every cause with its place, and the run's path."""
    found = diagnosed(run)
    told = repr(found)

    assert len(told.splitlines()) <= 10
    assert found.status in told
    assert found.run.path.name in told
    assert all(cause.id in told for cause in found.causes)


def test_what_a_diagnosis_says_of_itself(failed: Diagnosis) -> None:
    """Word for word, as a reader meets it first."""
    (cause,) = failed.causes
    sure = f"{100 * cause.confidence:.0f} %"
    told = repr(replace(failed, run=replace(failed.run, path=Path("runs/nan-lr")))).splitlines()

    assert told == [
        "<Diagnosis of nan-lr: FAILED at step 660 of 3,000 after 5 min 30 s",
        f"  diagnosis_complete, {sure} sure: Learning rate too high",
        f"  {sure} lr-too-high: Learning rate too high (train/loss, step {cause.onset_step})",
        "  read from runs/nan-lr>",
    ]


def test_hostile_names_neither_flood_nor_control_a_terminal(hostile: Diagnosis) -> None:
    """Lines are cut, and nothing that controls a terminal is left in any repr."""
    told = repr(hostile)
    assert len(told.splitlines()) <= 10
    assert max(map(len, told.splitlines())) <= 111
    for value in (hostile, hostile.run, hostile.causes[0], hostile.causes[0].evidence[0], hostile.curves[0]):
        assert all(line.isprintable() for line in repr(value).splitlines())
        assert len(repr(value)) < 2000


@pytest.mark.parametrize("kind", [getattr(model, name) for name in model.__all__ if name[0].isupper()])
def test_no_result_floods_the_screen(kind: type, failed: Diagnosis) -> None:
    """Every public dataclass that can hold many values or long texts has the short repr."""
    if not is_dataclass(kind) or kind is Diagnosis:
        pytest.skip("a literal, a table or the diagnosis, which has a test of its own")
    many = [f.name for f in fields(kind) if re.search(r"tuple\[|Mapping|Sequence|DataFrame|NDArray", str(f.type))]

    assert not many or issubclass(kind, Short) or kind.__name__ in ("SymptomCheck", "Expectation")


def test_the_repr_of_each_result_is_short(failed: Diagnosis, tmp_path: Path) -> None:
    """A line each: a run, a cause, its evidence and fixes, features, curves; an audit and a comparison of runs too."""
    values = [failed.run, *failed.causes, *failed.causes[0].evidence, *failed.causes[0].fix, failed.features]
    values += [*failed.curves, *failed.symptoms, *failed.ruled_out, *failed.timeline, *failed.excerpts]
    values.append(la.audit([ROOT / "fixtures/runs/nan-lr"], jobs=1))
    values.append(la.compare([ROOT / "fixtures/runs/nan-lr", ROOT / "fixtures/runs/healthy-gpt-noisy"], jobs=1))
    for value in values:
        assert "\n" not in repr(value)
        assert len(repr(value)) <= MAX_LINE + 1


class _Tags(HTMLParser):
    """The tags and attributes of some HTML, and whether every tag is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_for_a_notebook_is_safe(hostile: Diagnosis, failed: Diagnosis) -> None:
    """Of hostile names only text remains: no script, no handler, nothing that loads, and a bounded size."""
    for d in (hostile, failed):
        for value in (d, d.run, d.causes[0]):
            text = value._repr_html_()
            found = _Tags(text)
            assert found.open == []
            assert found.tags <= {"div", "b", "span", "ul", "li", "table", "tr", "td", "svg", "rect"}
            assert not {a for a in found.attributes if a.startswith("on") or a in ("src", "href")}
            assert "url(" not in text
            assert len(text) < 60_000


def test_a_notebook_shows_what_the_terminal_says(failed: Diagnosis) -> None:
    """Verdict, evidence and fix are in the piece of HTML."""
    text = failed._repr_html_()

    for word in ("nan-lr", "Learning rate too high", "89 % sure", "Change:", "train/loss", "<svg"):
        assert word in text


def test_html_is_readable_on_light_and_dark_pages(failed: Diagnosis, tmp_path: Path) -> None:
    """The colours of text are those of the page around it, in tables too."""
    page = tmp_path / "page.html"
    body = failed._repr_html_() + failed.run._repr_html_()
    page.write_text(f"<body style='background:#111;color:rgb(221,221,221)'>{body}")
    with Browser() as browser:
        browser.open(page, width=900, height=700)
        script = "[...new Set([...document.querySelectorAll('td,li,div')].map(e => getComputedStyle(e).color))].join()"
        assert browser.say(script).replace(" ", "") == "rgb(221,221,221)"


def test_a_cause_alone_and_one_without_anything_are_shown() -> None:
    """Nothing is needed but what a cause always has."""
    bare = Cause("x", "x", "Something", "error", 0.4, "low", "possible", "", "", (), ())
    odd = replace(bare, evidence=(Evidence("a", "direct", True, "seen", 1.0),), rank=3)

    assert "40 %  Something" in bare._repr_html_()
    assert "seen" in odd._repr_html_()
    assert "rank 3" in odd._repr_html_()


def test_an_unreadable_and_a_healthy_run_have_a_repr(tmp_path: Path) -> None:
    """No causes, no points: still the verdict and the path."""
    (tmp_path / "x.csv").write_text("step,loss\n0,1\n")
    few = la.diagnose(tmp_path / "x.csv")

    assert repr(few).splitlines()[-1].endswith("x.csv>")
    assert few.status in repr(few)
    assert few._repr_html_()
    healthy = la.diagnose(ROOT / "fixtures/runs/healthy-classifier")
    assert "healthy, 95 % sure" in repr(healthy)


def test_a_figure_shows_itself_and_leaves_pyplot_alone() -> None:
    """In a fresh interpreter: the figure has a picture for a notebook, pyplot was never loaded, rc is as it was."""
    code = """
import matplotlib, sys
before = matplotlib.rcParams.copy()  # without the back end, which a mere look would choose
import loganalyst as la
figure = la.diagnose("fixtures/runs/nan-lr").plot()
from matplotlib.figure import Figure
assert isinstance(figure, Figure)
assert figure._repr_png_()[:8] == b"\\x89PNG\\r\\n\\x1a\\n"
assert "matplotlib.pyplot" not in sys.modules
assert matplotlib.rcParams.copy() == before
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_figure_is_the_one_that_is_written(failed: Diagnosis, tmp_path: Path) -> None:
    """With a path nothing is returned; without one the same panels are there."""
    assert failed.plot(tmp_path / "a.svg") is None
    titles = [ax.get_title(loc="left") for ax in failed.plot().axes]

    assert (tmp_path / "a.svg").exists()
    assert titles[0] == "train/loss"
    assert [ax.get_title(loc="left") for ax in failed.plot(metrics=["val_loss"]).axes] == ["val_loss"]
    with pytest.raises(SourceError, match="did you mean 'val_loss'"):
        failed.plot(metrics=["val_los"])
