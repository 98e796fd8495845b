"""Writes docs/rules/, a page a family and an index, from rules/: `python docs/generate_rules.py`. A test checks it."""

import re
import sys
from itertools import groupby
from pathlib import Path

from loganalyst import explain
from loganalyst.diagnosis.rule import Rule
from loganalyst.pipeline import catalogue
from loganalyst.report.common.markdowntext import escape
from loganalyst.report.rulepage import render

FOLDER = Path(__file__).parent / "rules"
INDEX = """\
# The catalogue of causes

Written by `python docs/generate_rules.py` from the files in `rules/`; change those. How to write one: [the
format](../formats/rules.md). `loganalyst rules explain ID` shows one of them, `--format json` all of its file.

{rules} rules in {families} families. A cause needs one of its symptoms to be seen, and is weighed by its evidence
against the other causes of that symptom.

| cause | family | severity | label | what it is |
|---|---|---|---|---|
{rows}

## By symptom

What is seen, and what may have caused it, the most common first.

| symptom | causes |
|---|---|
{symptoms}
"""
HEAD = """\
# {family}

Written by `python docs/generate_rules.py`. [All causes](index.md)
"""


def pages() -> dict[str, str]:
    """Every page by its file's name."""
    by_family = sorted(catalogue().rules.values(), key=lambda rule: (rule.family, rule.id))
    families = {family: list(rules) for family, rules in groupby(by_family, key=lambda rule: rule.family)}
    return {
        "index.md": _index(families),
        **{f"{family}.md": _page(family, rules) for family, rules in families.items()},
    }


def _index(families: dict[str, list[Rule]]) -> str:
    every = [rule for rules in families.values() for rule in rules]
    return INDEX.format(
        rules=len(every), families=len(families), rows="\n".join(map(_row, every)), symptoms="\n".join(_symptoms(every))
    )


def _row(rule: Rule) -> str:
    cells = (_link(rule), rule.family, rule.severity, f"`{rule.label}`", escape(rule.summary))
    return f"| {' | '.join(cells)} |"


def _symptoms(rules: list[Rule]) -> list[str]:
    rows = []
    for symptom in catalogue().symptoms.values():
        causes = sorted(
            (rule for rule in rules if symptom.id in rule.symptoms), key=lambda rule: (-rule.prior, rule.id)
        )
        rows.append(f"| {escape(symptom.title)} (`{symptom.id}`) | {', '.join(map(_link, causes))} |")
    return rows


def _link(rule: Rule) -> str:
    return f"[{escape(rule.title)}]({rule.family}.md#{rule.id})"


def _page(family: str, rules: list[Rule]) -> str:
    """All rules of a family, each under an anchor of its id."""
    sections = (f'<a id="{rule.id}"></a>\n\n{_deeper(render(explain(rule.id)))}' for rule in rules)
    return "\n".join([HEAD.format(family=family.capitalize()), *sections])


def _deeper(page: str) -> str:
    """The page of a rule as a section of another: its headings one level down."""
    return re.sub(r"^(#+) ", r"#\1 ", page, flags=re.MULTILINE)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    written = pages()
    for stale in set(FOLDER.glob("*.md")) - {FOLDER / name for name in written}:
        stale.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{FOLDER}: {len(written)} pages\n")
