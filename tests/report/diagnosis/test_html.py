import base64
import hashlib
import json
import math
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from loganalyst import model
from loganalyst.cli import main
from loganalyst.model import Excerpt, Role
from loganalyst.report.common.html.element import Html, data, element
from loganalyst.report.diagnosis import html
from loganalyst.report.diagnosis.html.axis import Axis, fitted, label
from loganalyst.report.diagnosis.html.curves import GAP, held_out_gap, panels, thinned
from loganalyst.report.diagnosis.html.draw import path
from tests.report.conftest import GRAD, LOSS, RATE, VAL, curve

GOLDEN = Path(__file__).parent / "golden"
STATES = ["failed", "healthy", "unknown_cause", "too_little", "unreadable", "crashed", "hostile"]
VOID = {"meta", "br", "input"}
TEXTS = {"title", "h1", "h2", "h3", "h4", "p", "dt", "dd", "li", "th", "td", "figcaption", "a", "summary", "pre"}
FRAMES = {"article", "header", "nav", "section", "details", "figure", "dl", "ul", "ol", "table", "svg", "footer"}
LAYER = Role("layer_grad_norm", "gradient norm of one layer or module", "up", True)


class Outline(HTMLParser):
    """What a page holds, a line an element: frames indented, texts in full, pictures by what they say of themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self.scripts: list[tuple[str | None, str]] = []
        self._at: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = dict(attributes)
        self.tags.append((tag, told))
        if tag == "script":
            self.scripts.append((told.get("type"), ""))
        inside = "svg" in self.open
        if tag in FRAMES and not inside:
            named = " ".join(filter(None, [tag, told.get("class"), told.get("aria-label")]))
            self.lines.append("  " * sum(t in FRAMES for t in self.open) + named)
        elif tag in TEXTS and not inside:
            self._at = tag
            self.lines.append("  " * sum(t in FRAMES for t in self.open) + f"{tag}:")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] == "script":
            kind, before = self.scripts[-1]
            self.scripts[-1] = (kind, before + text)
        elif "svg" not in self.open and "style" not in self.open and text.strip() and TEXTS & set(self.open):
            self.lines[-1] += " " + " ".join(text.split())


def parsed(text: str) -> Outline:
    page = Outline()
    page.feed(text)
    page.close()
    return page


def golden(name: str, text: str) -> str:
    """The stored outline; UPDATE_GOLDEN=1 writes it anew, to be looked at before it is committed."""
    if os.environ.get("UPDATE_GOLDEN"):
        (GOLDEN / name).write_text(text)
    return (GOLDEN / name).read_text()


def layered(n: int, *, broken: int | None = None):
    """A run with `n` layers of falling gradients, the last of them NaN from the middle on."""
    steps = np.arange(0, 400, 10)
    sizes = [np.full(40, 10.0**-i) for i in range(n)]
    if broken is not None:
        sizes[broken][20:] = np.nan
    curves = [curve("loss", LOSS, steps, np.linspace(2, 1, 40))]
    curves += [curve(f"grad_norm/layer{i}.weight", LAYER, steps, size) for i, size in enumerate(sizes)]
    return curves


@pytest.mark.parametrize("state", STATES[:-1])
def test_the_structure_is_the_stored_one(state, request):
    """Headings, texts, tables and what pictures say, in order."""
    page = parsed(html.render(request.getfixturevalue(state)))

    assert page.faults == []
    assert page.open == []
    text = "\n".join(page.lines) + "\n"
    assert golden(f"{state}-html.txt", text) == text


@pytest.mark.parametrize("state", STATES)
def test_nothing_is_loaded_and_only_our_script_runs(state, request):
    """No address outside of the page; no handler and no style in an attribute; the hashes are those of the text."""
    text = html.render(request.getfixturevalue(state))
    page = parsed(text)

    addresses = [v for _, told in page.tags for k, v in told.items() if k in ("src", "href", "action", "xlink:href")]
    assert [a for a in addresses if not (a or "").startswith(("#run", "data:image/png;base64,"))] == []
    assert [k for _, told in page.tags for k in told if k == "style" or k.startswith("on")] == []
    assert [kind for kind, _ in page.scripts if kind != "application/json"] == [None]
    policy = next(told["content"] for _, told in page.tags if told.get("http-equiv") == "Content-Security-Policy")
    script = next(body for kind, body in page.scripts if kind is None)
    style = text[text.index("<style>") + 7 : text.index("</style>")]
    digests = [base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in (style, script)]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def test_hostile_text_makes_no_element_and_no_attribute(hostile):
    """The same elements as with harmless names, and the data is JSON that ends where it should."""
    page = parsed(html.render(hostile))

    assert page.faults == []
    assert {tag for tag, _ in page.tags} <= FRAMES | TEXTS | VOID | {
        "html", "head", "style", "body", "main", "script", "b", "span", "div", "small", "code", "output", "em", "g",
        "path", "rect", "circle", "line", "text", "image", "thead", "tbody", "tr", "mark",
    }  # fmt: skip
    blocks = [json.loads(body) for kind, body in page.scripts if kind]
    assert [line["name"][:13] for line in blocks[0]["p0"]["lines"]] == ["[bold red]x[/"]
    assert all("<" not in body for kind, body in page.scripts if kind)


def test_text_is_escaped_and_html_is_not():
    """In elements, lists of them and attributes."""
    made = element("p", "<b>", [element("i", "a & b"), None], title='"<', data_at=1.5, hidden=True, class_=None)

    assert made == '<p title="&quot;&lt;" data-at="1.5" hidden>&lt;b&gt;<i>a &amp; b</i></p>'
    assert isinstance(made, Html)
    assert data({"a": "</script>&"}) == (
        '<script type="application/json">{"a":"\\u003c/script\\u003e\\u0026"}</script>'
    )


def test_verdict_fix_and_confidence_come_first(failed):
    """What, why, how sure, what now: before any curve."""
    text = html.render(failed)
    first = text[text.index("<article") : text.index('class="figures"')]

    for words in (
        "Learning rate too high after the curriculum switch",
        "93 % sure",
        "grad_norm left its trend at step 24,549",
        "optim.lr 3.0e-3 → 1.0e-3 (config.yaml:17), or clip the gradient norm at 1.0",
        "grad_norm below 5; no rise of train/loss after step 24,590",
        "run 2,000 steps from checkpoint step-24000.pt and compare grad_norm",
    ):
        assert words in first


def test_the_same_run_gives_the_same_bytes(failed):
    """No date, no chance."""
    assert html.render(failed) == failed.to_html() == html.render([failed])


def test_the_command_line_writes_a_page(tmp_path):
    """`--format html -o FILE`: of the readable runs; nothing is said on stdout."""
    run = tmp_path / "metrics.csv"
    run.write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(99)))
    page = tmp_path / "report.html"

    with pytest.raises(SystemExit, match=r"^0$"):
        main(["diagnose", str(run), "--format", "html", "-o", str(page)])
    assert parsed(page.read_text(encoding="utf-8")).lines[0].startswith("title: metrics.csv: ")


def test_several_runs_share_a_page(failed, healthy):
    """An article each, ids that differ, and a list of them."""
    page = parsed(html.render([failed, healthy]))
    ids = [told["id"] for _, told in page.tags if "id" in told]

    assert len(ids) == len(set(ids))
    assert [told["id"] for tag, told in page.tags if tag == "article"] == ["run0", "run1"]
    links = [told["href"][1:] for tag, told in page.tags if tag == "a"]
    assert set(links) <= set(ids)
    assert links[:2] == ["run0", "run1"]


def test_every_plot_says_what_it_shows(failed):
    """A sentence for who cannot see it; a place for the keyboard."""
    page = parsed(html.render(failed))
    plots = [told for tag, told in page.tags if tag == "svg" and "plot" in (told.get("class") or "")]

    assert [p["aria-label"].split(".")[0] for p in plots] == [
        "Loss", "Learning rate", "Gradient norm", "3 events at their steps, numbered as in the list below"
    ]  # fmt: skip
    assert {p["role"] for p in plots} == {"img"}
    assert (
        "train/loss: 2.32 → 0.389 → 5.05 → NaN over steps 10 to 24,650; NaN or infinite at step 24,650"
        in (plots[0]["aria-label"])
    )
    stages = [told for _, told in page.tags if told.get("class") == "stage"]
    assert [s["tabindex"] for s in stages] == ["0"] * 4


def test_the_root_cause_line_is_marked(crashed):
    """The excerpt has its numbers; recognised lines around it are named."""
    lines = model.table(
        "lines", {"file": "slurm-991.out", "line": [2013, 2014], "part": ["root", "confirm"], "text": ["a", "b"]}
    )
    shown = Excerpt("slurm-991.out", 2012, ("  File <x>", "torch.OutOfMemoryError", "srun: exited"), 2013)
    text = html.render(replace(crashed, excerpts=(shown,), run=replace(crashed.run, lines=lines)))

    assert '<span class="l root"><span class="n">  2013 </span><mark>torch.OutOfMemoryError</mark>' in text
    assert '<span class="n">  2012 </span>  File &lt;x&gt;' in text
    assert 'srun: exited<span class="note">  ◀ follows from it</span>' in text
    assert text.index('id="run0-log"') < text.index('id="run0-evidence"')


def test_without_a_cause_the_last_recognised_lines_are_shown(healthy):
    """Those of the last start; of a run that goes on none is called its cause."""
    rows = {
        "file": "slurm-9.out",
        "line": range(1, 101),
        "part": "root",
        "text": [f"fault {i}!" for i in range(1, 101)],
    }
    text = html.render(replace(healthy, run=replace(healthy.run, lines=model.table("lines", rows))))

    assert ("fault 100!" in text, "fault 61!" in text, "fault 60!" in text) == (True, True, False)
    assert (text.count("<td>a fault</td>"), "<td>the cause</td>" in text) == (40, False)


def test_curves_stand_in_panels_by_what_they_are():
    """Training and held-out loss together, rates under them, readings of the machine last, other steps apart."""
    steps = np.arange(100)
    memory = Role("gpu_memory", "memory", "up", False)
    curves = [
        curve("gpu", memory, steps, np.ones(100)),
        curve("lr", RATE, steps, np.ones(100)),
        curve("loss", LOSS, steps, np.ones(100)),
        curve("val_loss", VAL, steps[::10], np.ones(10)),
        curve("epoch_norm", GRAD, [1, 2, 3], [1, 1, 1]),
    ]
    found = panels(model.Diagnosis(run=model.Run(), status="healthy", confidence=1, curves=curves))

    assert [(p.title, [c.metric for c in p.curves], p.shared, p.machine) for p in found] == [
        ("Loss", ["loss", "val_loss"], True, False),
        ("Learning rate", ["lr"], True, False),
        (GAP, ["val_loss − loss"], True, False),
        ("Gradient norm", ["epoch_norm"], False, False),
        ("Memory of the GPU", ["gpu"], True, True),
    ]


def test_a_monitor_that_counts_its_readings_has_an_axis_of_its_own():
    """Ten times as many readings as steps would press the curves against the left edge."""
    memory = Role("gpu_memory", "memory", "up", False)
    curves = [curve("loss", LOSS, range(100), np.ones(100)), curve("gpu", memory, range(1000), np.ones(1000))]
    found = panels(model.Diagnosis(run=model.Run(), status="healthy", confidence=1, curves=curves))

    assert [(p.title, p.shared) for p in found] == [("Loss", True), ("Memory of the GPU", False)]


def test_sizes_far_apart_do_not_share_a_panel():
    """A term of 100 would flatten one of 0.01."""
    term = Role("loss_component", "a term", "up", True)
    curves = [curve(name, term, range(9), np.full(9, size)) for name, size in (("a", 0.01), ("b", 100), ("c", 0.02))]
    found = panels(model.Diagnosis(run=model.Run(), status="healthy", confidence=1, curves=curves))

    assert [[c.metric for c in p.curves] for p in found] == [["a", "c"], ["b"]]


def test_the_gap_is_validation_less_training():
    """At the steps of the validation; nothing where training was not logged around it."""
    train = curve("loss", LOSS, range(101), np.linspace(2, 1, 101))
    val = curve("val_loss", VAL, [0, 50, 100, 150], [2.5, 2.0, 1.75, 1.0])
    gap = held_out_gap([train, val])

    assert gap is not None
    assert gap.steps.tolist() == [0, 50, 100]
    assert gap.values == pytest.approx([0.5, 0.5, 0.75])
    assert held_out_gap([train]) is None
    assert held_out_gap([train, curve("val_loss", VAL, [0, 1], [1, 1])]) is None


def test_thinning_keeps_extremes_ends_and_missing_values():
    """Of 10,000 values about 100 are left, among them the single spike, the dip and both edges of the NaN."""
    values = np.sin(np.arange(10_000) / 500)
    values[1234], values[5678] = 50, -50
    values[8000:8005] = np.nan
    kept = thinned(values, 100)

    assert {0, 1234, 5678, 7999, 8000, 8004, 8005, 9999} <= set(kept.tolist())
    assert len(kept) <= 110
    assert (np.diff(kept) > 0).all()
    assert thinned(values, 10_000).tolist() == list(range(10_000))


def test_a_line_is_broken_where_a_value_is_missing():
    """Moves and lines in the units of the box; a dot each where asked."""
    x, y = Axis(0, 4), Axis(0, 1)
    steps, values = np.arange(5.0), np.array([0, 0.5, np.nan, np.inf, 1])

    assert path(x, y, steps, values) == "M0.0 100.0L250.0 50.0M1000.0 0.0"
    assert path(x, y, steps, values, dots=True) == "M0.0 100.0h0M250.0 50.0h0M1000.0 0.0h0"


def test_ticks_are_round():
    """Multiples of 1, 2, 2.5 or 5; powers of ten over decades, 1, 2, 5 over less."""
    assert Axis(0, 100).ticks(5) == [0, 20, 40, 60, 80, 100]
    assert Axis(-1, 1).ticks(4) == [-1, -0.5, 0, 0.5, 1]
    assert Axis(0.02, 300, log=True).ticks(5) == pytest.approx([0.1, 1, 10, 100])
    assert Axis(0.3, 8, log=True).ticks(4) == pytest.approx([0.5, 1, 2, 5])
    assert [label(v) for v in (0, 0.25, 1500, 2.5e6, 1e-5, -0.002)] == ["0", "0.25", "1,500", "2.5e6", "1e-5", "-0.002"]


@pytest.mark.parametrize("values", [[0, 0], [5, 5], [-1e308, 1e308], [1e-320, 2e-320]])
def test_an_axis_always_has_an_extent(values):
    """Of equal values, and where a difference would overflow."""
    axis = fitted(np.array(values, float), log=False)

    assert axis.low < axis.high
    assert all(map(math.isfinite, axis.ticks(4)))


def test_the_data_of_the_script_is_that_of_the_run(failed):
    """Steps as differences, values to five digits, NaN as text."""
    page = parsed(html.render(failed))
    packed = json.loads(next(body for kind, body in page.scripts if kind))
    line = packed["p0"]["lines"][0]
    loss = failed.curves[0]

    assert np.cumsum(line["x"]).tolist() == loss.steps.tolist()
    assert line["y"][-1] == "NaN"
    assert line["y"][:-1] == pytest.approx(loss.values[:-1], rel=1e-4)
    assert packed["p0"]["x"] == [10.0, 24650.0]


def test_a_long_run_fits(failed):
    """60,000 points of six curves: under 1.5 MB, no value of theirs beyond what is drawn lost."""
    rng = np.random.default_rng(1)
    curves = [
        curve(f"m{i}", role, range(10_000), rng.normal(1, 0.1, 10_000)) for i, role in enumerate([LOSS, GRAD] * 3)
    ]
    text = html.render(replace(failed, curves=curves))

    assert len(text.encode()) < 1_500_000


def test_layers_are_a_heat_map(failed):
    """A row a layer in the order of their numbers, from the smallest to the largest value; NaN has a colour."""
    page = parsed(html.render(replace(failed, curves=layered(12, broken=11))))
    packed = json.loads(next(body for kind, body in page.scripts if kind))["layers"]
    picture = next(told for tag, told in page.tags if told.get("aria-label", "").startswith("Gradient of 12 layers"))

    assert packed["layers"] == [f"grad_norm/layer{i}.weight" for i in range(12)]
    assert packed["values"][1][0] == 0.1
    assert packed["values"][11][-1] == "NaN or infinite"
    assert picture["aria-label"] == (
        "Gradient of 12 layers over the steps. At the end the smallest is 1.0e-10 (grad_norm/layer10.weight), the "
        "largest 1 (grad_norm/layer0.weight). 1 became NaN or infinite."
    )


def test_histograms_stand_in_for_norms_of_layers(healthy):
    """The root mean square of each, where no norms are logged."""
    histograms = model.table(
        "distributions",
        {"metric": ["gradients/b", "gradients/a"] * 2, "step": [0, 0, 400, 400], "mean": 3.0, "std": 4.0},
    )
    page = parsed(html.render(replace(healthy, run=replace(healthy.run, distributions=histograms))))
    packed = json.loads(next(body for kind, body in page.scripts if kind))["layers"]

    assert packed["layers"] == ["gradients/a", "gradients/b"]
    assert {v for row in packed["values"] for v in row if v is not None} == {5.0}


def test_one_layer_is_no_map(failed):
    """Two make one."""
    assert "Gradient by layer" not in html.render(replace(failed, curves=layered(1)))
    assert "Gradient by layer" in html.render(replace(failed, curves=layered(2)))


def test_events_stand_at_their_steps(failed):
    """Numbered as in the list, and where they are near under each other."""
    text = html.render(failed)
    strip = text[text.index('class="plot strip"') :]

    places = re.findall(r'<svg x="([0-9.]+)%" class="at m-\w+ event" data-at="([0-9]+)">', strip)
    assert places == [("99.590", "24549"), ("99.756", "24590"), ("100.000", "24650")]
    heights = re.findall(r'<circle cy="([0-9.]+)"', strip)
    assert len(set(heights)) == 3


def test_strange_curves_are_drawn(failed):
    """Only NaN, a single point, the largest numbers, nothing at all."""
    odd = [
        curve("nan", LOSS, range(9), np.full(9, np.nan)),
        curve("one", GRAD, [5], [1.0]),
        curve("huge", VAL, range(9), [-1.7e308, 1.7e308] * 4 + [0]),
    ]
    for curves in (odd, odd[:1], odd[1:2], odd[2:], []):
        assert parsed(html.render(replace(failed, curves=curves))).faults == []
