"""The page of an audit: its structure, what it may load and run, and how its table behaves in a real browser."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from loganalyst.auditing import failurecontrasts, failuregroups, nodefailures
from loganalyst.auditing.runlist import COLUMNS, worst_first
from loganalyst.report import audit as auditpage
from loganalyst.report.audit import schema as auditschema
from loganalyst.report.audit import screen
from loganalyst.report.audit.packed import argument
from loganalyst.report.common.html.shell import STYLE, asset
from tests.report.browser import Browser
from tests.report.pages import golden, parsed

SCHEMA = Path(__file__).parents[3] / "docs/schema/audit-1.json"
NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)> \"' \x1b[31m\u202e</td>"
Frames = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]
FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
ROWS = "document.querySelectorAll('tr.run')"


def frames(n: int, word: str = "run") -> Frames:
    """Of ten runs four failed of memory, all with a batch of 512; one is not readable, of one no cause is known."""
    rows, config = [], []
    for i in range(n):
        kind, node = i % 10, f"gpu-{i % 7:02d}"
        row = {"run_id": f"{i:05d}", "path": f"/runs/sweep-{i % 3}/{word}-{i}", "name": f"{word}-{i}", "node": node}
        row |= {"started": datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=i), "points": 10 * i, "job": f"{900 + i}"}
        if kind < 4:
            row |= {"status": "diagnosis_complete", "cause": "oom", "label": "cuda_oom", "severity": "critical"}
            row |= {"issue": f"Out of memory {word}"[:30], "verdict": "likely", "confidence": 0.5 + i / n / 2}
            row |= {"says": f"{word}: tried {i} GiB", "file": f"{word}/slurm-{i}.out", "line": 100 + i}
        elif kind < 6:
            row |= {"status": ("cause_unknown", "unreadable")[kind - 4], "why": f"{word} took too long", "step": 1200}
        else:
            row |= {"status": "healthy", "confidence": 0.9}
        rows.append(row)
        config.append((row["run_id"], "batch", "512" if kind < 4 else "32", 512.0 if kind < 4 else 32.0))
    settings = pl.LazyFrame(config, schema=["run_id", "key", "value", "number"], orient="row")
    runs = worst_first(pl.DataFrame(rows, schema=COLUMNS))
    return (
        runs,
        failuregroups.groups(runs, settings),
        failurecontrasts.contrasts(runs, settings),
        nodefailures.nodes(runs),
    )


def test_the_structure_is_the_stored_one() -> None:
    """Counts, groups, contrasts, then a row a run."""
    page = parsed(auditpage.render(*frames(20)))

    assert page.faults == []
    text = "\n".join(page.lines) + "\n"
    assert golden("audit-html.txt", text) == text


def test_without_a_script_the_first_rows_are_there() -> None:
    """200 of them, the worst, and the page says so."""
    text = auditpage.render(*frames(300))

    assert text.split("<tbody>")[-1].count("<tr ") == 200
    assert "The first 200 of 300 runs, the worst first; a script shows the others." in text
    assert "The first 200" not in auditpage.render(*frames(200))


def test_hostile_text_makes_no_element_and_no_attribute() -> None:
    """The same elements as with harmless names; the data ends where it should; no sign steers a terminal."""
    text = auditpage.render(*frames(20, NASTY))
    page, harmless = parsed(text), parsed(auditpage.render(*frames(20)))

    assert page.faults == []
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in harmless.tags}
    assert {key for _, told in page.tags for key in told} == {key for _, told in harmless.tags for key in told}
    (data,) = (body for kind, body in page.scripts if kind)
    assert "<" not in data
    assert len(json.loads(data)["status"]) == 20
    assert not {"\x1b", "\u202e"} & set("".join(json.loads(data)["texts"]["run"][0]))


def test_only_our_style_and_script_may_run() -> None:
    """The policy names them by hash, and nothing has an address or a handler."""
    page = parsed(auditpage.render(*frames(20)))

    assert [k for _, told in page.tags for k in told if k in ("src", "href", "style") or k.startswith("on")] == []
    policy = next(told["content"] for _, told in page.tags if told.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    (script,) = (body for kind, body in page.scripts if kind is None)
    assert script == asset("audit", "audit.js")
    assert asset(*STYLE)


@pytest.mark.parametrize(
    ("path", "said"),
    [("/a/b-1", "/a/b-1"), ("/a b/$(x)", "'/a b/$(x)'"), ("/a\n'x\u202e", "$'/a\\x0a\\x27x\\xe2\\x80\\xae'")],
)
def test_a_path_is_given_as_a_shell_takes_it(path: str, said: str) -> None:
    """What cannot be seen is an escape."""
    assert argument(path) == said


def test_the_json_fits_its_schema_and_is_published() -> None:
    """Each column of the frames is described."""
    told = json.loads(json.dumps(screen.data(*frames(40)[:3]), allow_nan=False))
    schema = auditschema.schema()

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(told, schema)
    described = {
        "runs": [*COLUMNS, "report"],
        "groups": [*failuregroups.COLUMNS],
        "contrasts": [*failurecontrasts.COLUMNS],
    }
    for name, columns in described.items():
        assert told[name]
        assert list(schema["properties"][name]["items"]["properties"]) == columns
    assert json.dumps(schema, indent=2) + "\n" == SCHEMA.read_text(encoding="utf-8")


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Browser]]:
    """Puts runs on the screen; nothing may leave the page or complain until the test is over."""
    page = tmp_path / "audit.html"

    def show(n: int, word: str = "run", **window: int) -> Browser:
        page.write_text(auditpage.render(*frames(n, word)), encoding="utf-8")
        browser.open(page, **window)
        return browser

    yield show
    assert browser.requests == [page.as_uri()]
    assert browser.complaints == []


def column(page: Browser, key: str, most: int = 3) -> list[str]:
    return page.say(f"[...{ROWS}].slice(0, {most}).map(tr => tr.querySelector('.c-{key}').textContent)")


def filtered(page: Browser, text: str) -> str:
    page.say(
        f"(s => {{ s.value = {json.dumps(text)}; s.dispatchEvent(new Event('input')); }})"
        "(document.querySelector('[type=search]'))"
    )
    return page.say("document.querySelector('.tools output').textContent")


def test_heads_sort_there_and_back(shown: Callable[..., Browser]) -> None:
    """Numbers in names count as numbers; what is missing stays last; the third time it is as it was."""
    page = shown(30)
    first = column(page, "run")
    head = "document.querySelector('th[data-key={}] button').click()"
    page.say(head.format("where"))
    assert column(page, "where") == ["slurm-0.out:100", "slurm-1.out:101", "slurm-2.out:102"]
    page.say(head.format("where"))
    assert column(page, "where") == ["step 1,200"] * 3
    assert page.say("document.querySelector('[aria-sort]').ariaSort") == "descending"
    page.say(head.format("where"))
    assert column(page, "run") == first
    page.say(head.format("sure"))
    assert column(page, "sure", 1) == ["88 %"]


def test_words_and_states_filter(shown: Callable[..., Browser]) -> None:
    """All words must occur; a state that is not ticked is not there; a group shows its runs."""
    page = shown(100)
    assert filtered(page, "MEMORY gpu-03") == "6 of 100 runs"
    assert filtered(page, "no such run") == "0 of 100 runs"
    assert filtered(page, "") == "100 runs"
    page.say("document.querySelector('.states .s-healthy input').click()")
    assert page.say("document.querySelector('.tools output').textContent") == "60 of 100 runs"
    page.say("document.querySelector('.show').click()")
    assert page.say("document.querySelector('.tools output').textContent") == "40 of 100 runs"


def test_ten_thousand_runs_are_a_few_rows(shown: Callable[..., Browser]) -> None:
    """Wherever one scrolls, the rows in sight are those of the place."""
    page = shown(10_000)
    for key in ("Home", "End"):
        page.say("document.querySelector('tr.run button[tabindex=\"0\"]').focus()")
        page.key(key)
        assert page.say(f"{ROWS}.length") < 80
    assert page.say("document.activeElement.closest('tr').ariaRowIndex") == "10001"
    assert page.say("document.activeElement.getBoundingClientRect().bottom <= innerHeight")
    assert page.say("document.querySelector('table.runs').ariaRowCount") == "10001"


def test_a_filter_shows_its_rows_from_the_first(shown: Callable[..., Browser]) -> None:
    """Wherever one was; and one row in sight is the stop of the Tab key."""
    page = shown(10_000)
    page.say("scrollTo({top: 200000, behavior: 'instant'})")
    page.call("Runtime.evaluate", expression=FRAME, awaitPromise=True)
    stop = f"[...{ROWS}].filter(tr => tr.querySelector('button').tabIndex === 0).map(tr => +tr.ariaRowIndex)"
    (row,) = page.say(stop)
    assert row > 5000
    assert filtered(page, "gpu-03") == "1,429 of 10,000 runs"
    page.call("Runtime.evaluate", expression=FRAME, awaitPromise=True)
    assert page.say(stop) == [2]
    assert page.say(f"{ROWS}[0].getBoundingClientRect().top > 0")


def test_the_keyboard_opens_a_row(shown: Callable[..., Browser]) -> None:
    """Down to the second one; its details have the command; Escape closes them."""
    page = shown(30)
    page.say("document.querySelector('tr.run button').focus()")
    page.key("ArrowDown")
    page.say("document.activeElement.click()")
    name = page.say("document.activeElement.textContent")

    assert page.say("document.querySelector('.command code').textContent") == f"loganalyst diagnose /runs/{name}"
    assert page.say("document.activeElement.ariaExpanded") == "true"
    page.key("Escape")
    assert page.say("document.querySelectorAll('.details').length") == 0


def test_hostile_names_are_texts_in_the_table_too(shown: Callable[..., Browser]) -> None:
    """Nothing runs, nothing is asked for, on a phone nothing moves sideways."""
    page = shown(30, NASTY, width=390, height=844)
    page.say("document.querySelector('table.runs').scrollIntoView({behavior: 'instant'})")
    page.call("Runtime.evaluate", expression=FRAME, awaitPromise=True)
    page.say("document.querySelector('tr.run button').click()")

    assert page.say("document.querySelectorAll('main img, main script:not(.data)').length") == 0
    assert page.say("document.documentElement.scrollWidth") <= 390


def test_paper_gets_the_first_500(shown: Callable[..., Browser]) -> None:
    """And says so; afterwards the screen is as it was."""
    page = shown(600)
    page.say("dispatchEvent(new Event('beforeprint'))")
    assert page.say(f"{ROWS}.length") == 500
    assert page.say("document.querySelector('.cut').textContent") == "The first 500 of 600 runs."
    page.say("dispatchEvent(new Event('afterprint'))")
    assert page.say(f"{ROWS}.length") < 80
