"""The page in a real browser: zooming, reading out, the keyboard, what leaves it, what a narrow window does to it."""

from dataclasses import replace

import numpy as np
import pytest

from loganalyst.report.diagnosis import html
from tests.report.browser import Browser
from tests.report.conftest import GRAD, LOSS, curve
from tests.report.pages import STATES, layered

STAGE = "document.querySelectorAll('.stage')"
BOX = STAGE + "[{}].querySelector('svg.plot').getBoundingClientRect().toJSON()"


@pytest.fixture
def shown(browser, tmp_path):
    """Puts a diagnosis on the screen; nothing may leave the page or complain until the test is over."""

    def show(diagnosis, **window) -> Browser:
        page = tmp_path / "report.html"
        page.write_text(html.render(diagnosis), encoding="utf-8")
        browser.open(page, **window)
        return browser

    yield show
    asked = [url for url in browser.requests if not url.startswith("data:image/png")]
    assert asked == [(tmp_path / "report.html").as_uri()]
    assert browser.complaints == []


def drag(browser: Browser, plot: int, start: float, end: float) -> None:
    box = browser.say(BOX.format(plot))
    middle = box["y"] + box["height"] / 2
    place = [box["x"] + box["width"] * share for share in (start, (start + end) / 2, end)]
    browser.mouse("mouseMoved", place[0], middle)
    browser.mouse("mousePressed", place[0], middle)
    for x in place[1:]:
        browser.mouse("mouseMoved", x, middle, buttons=1)
    browser.mouse("mouseReleased", place[2], middle)


def steps(browser: Browser, plot: int) -> list[int]:
    """The numbers under a plot."""
    said = f"[...{STAGE}[{plot}].querySelectorAll('.ticks text.x')].map(t => t.textContent.replaceAll(',', ''))"
    return [int(t) for t in browser.say(said)]


def read_out(browser: Browser) -> list[str]:
    return browser.say("[...document.querySelectorAll('output')].map(o => o.textContent)")


@pytest.mark.parametrize("state", STATES)
def test_nothing_leaves_the_page_and_nothing_complains(state, request, shown):
    """Names and lines made to run or load something are text like any other."""
    page = shown(request.getfixturevalue(state))

    assert page.say("document.querySelectorAll('article').length") == 1
    assert page.say("document.title").endswith("· loganalyst")


def test_dragging_zooms_all_plots_of_the_same_steps(failed, shown):
    """The numbers, the line and the marks follow, in every panel; a double click shows all again."""
    page = shown(failed)
    before = [page.say(f"{STAGE}[{i}].innerHTML") for i in range(4)]
    drag(page, 0, 0.5, 0.75)

    assert all(12_000 < s < 18_700 for i in range(4) for s in steps(page, i))
    assert page.say(f"{STAGE}[2].querySelector('.m-onset').getAttribute('visibility')") == "hidden"
    line = page.say(f"{STAGE}[0].querySelector('.lines path').getAttribute('d')")
    assert line.count("L") > 500
    assert page.say("document.querySelectorAll('.reset').length") == 4
    page.say("document.querySelector('.reset').click()")
    after = [page.say(f"{STAGE}[{i}].querySelector('.ticks').innerHTML") for i in range(4)]
    assert all(a in b for a, b in zip(after, before, strict=True))
    assert page.say("document.querySelectorAll('.reset').length") == 0


def test_pointing_reads_out_the_nearest_point(failed, shown):
    """In every panel, the value that was logged with its step."""
    page = shown(failed)
    box = page.say(BOX.format(0))
    page.mouse("mouseMoved", box["x"] + box["width"] + 3, box["y"] + 20)  # beyond the edge: the last step

    assert read_out(page)[0] == "NaN at 24,650"
    assert read_out(page)[1] == "0.003 at 24,650"
    grad = failed.curves[1]
    assert read_out(page)[2] == f"{float(f'{grad.values[-1]:.5g}')} at 24,640"


def test_the_keyboard_reads_out_and_zooms(healthy, shown):
    """Arrows go from point to point, plus zooms in, Escape shows all."""
    page = shown(healthy)
    page.say(f"{STAGE}[0].focus()")
    page.key("ArrowRight")
    first = int(read_out(page)[0].split(" at ")[1].replace(",", ""))
    page.key("ArrowRight")
    second = int(read_out(page)[0].split(" at ")[1].replace(",", ""))
    whole = steps(page, 0)
    page.key("+")

    assert second == first + 10
    assert max(steps(page, 0)) - min(steps(page, 0)) < max(whole) - min(whole)
    page.key("Escape")
    assert steps(page, 0) == whole


def test_the_wheel_scrolls_until_a_plot_has_the_focus(healthy, shown):
    """Who reads on is not caught by a plot."""
    page = shown(healthy)
    box, whole = page.say(BOX.format(0)), steps(page, 0)
    x, y = box["x"] + box["width"] / 2, box["y"] + 50
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-100)
    assert steps(page, 0) == whole
    page.say(f"{STAGE}[0].focus({{preventScroll: true}})")
    box = page.say(BOX.format(0))
    page.mouse("mouseWheel", x, box["y"] + 50, deltaX=0, deltaY=-100)

    assert steps(page, 0) != whole


def test_a_layer_is_read_out_under_the_pointer(failed, shown):
    """Its name, value and step; the picture moves with the zoom."""
    page = shown(replace(failed, curves=layered(12)))
    stage = page.say(f"[...{STAGE}].findIndex(s => s.getAttribute('aria-label').startsWith('Gradient by layer'))")
    page.say(f"{STAGE}[{stage}].scrollIntoView({{behavior: 'instant'}})")
    box = page.say(BOX.format(stage))
    page.mouse("mouseMoved", box["x"] + box["width"] / 2, box["y"] + box["height"] * 2.5 / 12)

    assert read_out(page)[-1] == "grad_norm/layer2.weight: 0.01 at 195"
    drag(page, stage, 0.5, 1.0)
    image = f"{STAGE}[{stage}].querySelector('image')"
    assert page.say(f"Math.round(parseFloat({image}.getAttribute('width')))") == 200
    assert page.say(f"Math.round(parseFloat({image}.getAttribute('x')))") == -100


@pytest.mark.parametrize("state", STATES)
def test_a_phone_needs_no_sideways_scrolling(state, request, shown):
    """Long names and lines wrap; tables scroll in a frame of their own."""
    page = shown(request.getfixturevalue(state), width=390, height=844)

    assert page.say("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("dark", [False, True])
def test_texts_stand_out_from_their_ground(failed, shown, dark):
    """A contrast of 4.5 at least, in light and dark, for every text that is seen."""
    page = shown(failed, dark=dark)
    faint = page.say("""(() => {
      const parts = c => (c.match(/[\\d.]+/g) || []).map(Number);
      const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
      const bright = c => { const [r, g, b] = parts(c).map(v => linear(v / 255));
                            return .2126 * r + .7152 * g + .0722 * b; };
      const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
                            if (parts(c)[3] !== 0) return c; } return "rgb(255, 255, 255)"; };
      const found = [];
      for (const e of document.querySelectorAll("body :not(title)")) {
        if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
        const style = getComputedStyle(e), ink = e instanceof SVGElement ? style.fill : style.color;
        const [a, b] = [bright(ink), bright(ground(e))].sort((x, y) => y - x);
        if ((a + .05) / (b + .05) < 4.5) found.push([e.tagName, e.className, ink, ground(e)].join(" "));
      }
      return found;
    })()""")

    assert faint == []
    assert page.say("getComputedStyle(document.body).backgroundColor") == (
        "rgb(20, 22, 26)" if dark else "rgb(245, 246, 248)"
    )


def test_without_scripts_the_curves_are_there(failed, shown):
    """They are in the page, not made by it."""
    page = shown(failed, script=False)
    page.call("Emulation.setScriptExecutionDisabled", value=False)

    assert page.say("document.querySelector('.lines path').getTotalLength() > 500")
    assert page.say("document.querySelectorAll('.reset, .cursor').length") == 0


def test_a_long_run_opens_at_once(failed, shown):
    """60,000 points are there to be zoomed into, down to single ones."""
    rng = np.random.default_rng(1)
    names = ["train/loss", "grad_norm", "b/loss", "b/grad_norm", "c/loss", "c/grad_norm"]
    curves = [
        curve(name, role, range(10_000), rng.normal(1, 0.1, 10_000))
        for name, role in zip(names, [LOSS, GRAD] * 3, strict=True)
    ]
    page = shown(replace(failed, curves=curves, causes=()))
    drag(page, 0, 0.4, 0.42)

    assert page.say(f"{STAGE}[0].querySelector('.lines path').getAttribute('d').match(/[ML]/g).length") in range(
        150, 260
    )


def test_a_page_prints(failed, shown, tmp_path):
    """A PDF of a few pages."""
    shown(failed).pdf(tmp_path / "report.pdf")

    assert (tmp_path / "report.pdf").read_bytes()[:5] == b"%PDF-"
