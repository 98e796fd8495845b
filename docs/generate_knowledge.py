"""Write docs/knowledge/ from the rules: `python docs/generate_knowledge.py`. A test checks it."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from loganalyst.checking.judging import usual_range
from loganalyst.checking.topics import Check, Topic, topics
from loganalyst.diagnosis.rule import Rule
from loganalyst.model import Publication, amount
from loganalyst.pipeline import catalogue
from loganalyst.report.common.markdowntext import escape

FOLDER = Path(__file__).parent / "knowledge"
TITLES = {
    "scaling-laws": "Scaling laws: model, data and batch",
    "optimisers": "Optimisers, rates, schedules and precision",
    "transformers": "Transformers",
    "fine-tuning": "Fine-tuning: adapters and preferences",
    "reinforcement": "Reinforcement learning",
    "records": "Data, and what to record",
}
HEAD = """\
# {title}

`python docs/generate_knowledge.py` generates this page from [rules/settings](../../rules/settings), with the ranges in
force. [`loganalyst check`](../check.md) compares a config with them.
"""
INDEX = """\
# What is usual, and why

Short pages on the settings of a training, each with its ranges and their sources.

{pages}
- [A checklist for debugging](debugging-checklist.md): what to look at, with the limits in force
"""
CHECKLIST = """\
# A checklist for debugging

`python docs/generate_knowledge.py` generates this page from the [symptoms](../../rules/symptoms.yaml) in force.
`loganalyst diagnose RUN` asks all of these questions at once; do it first. Names in the questions are
[features](../features.md). "Core" marks what a run must answer to be called healthy.

1. Diagnose the run. Look at its status, not only at the first cause.
2. Check its settings: `loganalyst check RUN`.
3. Go through the table below for what the diagnosis could not answer. `loganalyst show RUN` says what was logged.
4. Change one thing. Then compare: `loganalyst verify OLD NEW`.
5. Stop after three changes that did not help, and measure instead: `loganalyst script`.

| look for | the question in force | causes, the commonest first |
|---|---|---|
{rows}
"""
SIZES = (125e6, 350e6, 1.3e9, 7e9, 13e9, 70e9)  # parameters
TOKENS_FOR_EACH = 20  # Hoffmann et al. 2022
BYTES = {"full fine-tuning": 16.0, "LoRA": 2.0, "QLoRA": 0.5}  # of a parameter: weights, gradients and states of Adam
MAX_CAUSES = 5
MAX_QUESTION = 200  # characters of a question in the checklist


def pages() -> dict[str, str]:
    """All pages by file name."""
    by_page = sorted(topics(), key=lambda topic: [*TITLES].index(topic.page))
    found = {f"{page}.md": _page(page, list(some)) for page, some in groupby(by_page, lambda topic: topic.page)}
    listed = "\n".join(f"- [{TITLES[name.removesuffix('.md')]}]({name})" for name in found)
    return {"index.md": INDEX.format(pages=listed), "debugging-checklist.md": _checklist(), **found}


def _page(page: str, some: Sequence[Topic]) -> str:
    blocks = [HEAD.format(title=TITLES[page])]
    for topic in some:
        blocks += [f"## {topic.title}\n\n{escape(topic.about)}\n", *_tables(topic)]
    blocks += _sizes() if page == "scaling-laws" else _memory() if page == "fine-tuning" else ()
    sources = {source.url: source for topic in some for check in topic.checks for source in check.sources}
    ordered = sorted(sources.values(), key=lambda source: (source.author, source.year))
    return "\n".join([*blocks, "## Sources\n", *map(_source, ordered), ""])


def _tables(topic: Topic) -> Iterator[str]:
    """The ranges, then the questions."""
    ranged = [check for check in topic.checks if check.of]
    asked = [check for check in topic.checks if check.ask]
    if ranged:
        yield _table(
            ("setting", "applies if", "usual", "wrong outside", "too low", "too high", "set instead"),
            map(_range, ranged),
        )
    if asked:
        yield _table(("finding", "applies if", "question", "weight", "why", "set instead"), map(_question, asked))


def _range(check: Check) -> tuple[str, ...]:
    possible = " to ".join(map(amount, check.possible)) if check.possible else ""
    limits = " to ".join(map(amount, check.usual or ()))
    usual = limits if limits == usual_range(check) else f"{usual_range(check)} (reported outside {limits})"
    return (
        escape(check.title),
        _code(check.when),
        escape(usual),
        possible,
        *map(escape, (check.low, check.high, check.change.text)),
    )


def _question(check: Check) -> tuple[str, ...]:
    texts = map(escape, (check.why, check.change.text))
    return (escape(check.title), _code(check.when), _code(check.ask), check.severity, *texts)


def _code(ask: object) -> str:
    """A question as code; `|` would end a cell."""
    text = getattr(ask, "text", "")
    return f"`{' '.join(text.split())}`".replace("|", "\\|") if text else "always"


def _cut(code: str) -> str:
    """Code that fits into a cell."""
    return code if len(code) <= MAX_QUESTION else f"{code[:MAX_QUESTION].rsplit(' ', 1)[0]} …`"


def _table(head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _sizes() -> Iterator[str]:
    rows = (
        (_big(n), _big(TOKENS_FOR_EACH * n), f"{6 * n * TOKENS_FOR_EACH * n:.1e}".replace("e+", "e")) for n in SIZES
    )
    yield "## Tokens for the least compute\n\nThe compute is 6 N D operations for N parameters and D tokens.\n"
    yield _table(("parameters", "tokens", "operations"), rows)


def _memory() -> Iterator[str]:
    rows = ((_big(n), *(f"{n * each / 1e9:.0f} GB" for each in BYTES.values())) for n in SIZES if n >= 1e9)
    yield "## Memory for weights, gradients and states\n\nActivations come on top; adapters add a few per cent.\n"
    yield _table(("parameters", *BYTES), rows)


def _big(value: float) -> str:
    return next(
        f"{value / unit:.3g} {name}"
        for unit, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
        if value >= unit
    )


def _source(source: Publication) -> str:
    return f"- {escape(source.author)} {source.year}, [{escape(source.title)}]({source.url})"


def _checklist() -> str:
    rules = sorted(catalogue().rules.values(), key=lambda rule: (-rule.prior, rule.id))
    rows = []
    for symptom in catalogue().symptoms.values():
        causes = [rule for rule in rules if symptom.id in rule.symptoms and not rule.benign]
        core = " (core)" if symptom.core else ""
        shown = ", ".join(map(_link, causes[:MAX_CAUSES]))
        rows.append(f"| {escape(symptom.title)}{core} | {_cut(_code(symptom.ask))} | {shown} |")
    return CHECKLIST.format(rows="\n".join(rows))


def _link(rule: Rule) -> str:
    return f"[{escape(rule.title)}](../rules/{rule.family}.md#{rule.id})"


if __name__ == "__main__":
    from writepages import write

    write(FOLDER, pages())
