"""A rule as a page of Markdown: what `loganalyst rules explain` prints."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loganalyst.report.markdown import escape

__all__ = ["render"]

# Field of the rule, heading of its paragraph; in this order after the summary
PARAGRAPHS = {
    "mechanism": "Why this happens",
    "evidence": "",
    "fix": "",
    "will_not_fix": "What the fix will not fix",
} | {
    "side_effects": "Side effects",
    "prevention": "Prevention",
}


def render(rule: Mapping[str, Any]) -> str:
    """The page of one rule, given as data (`loganalyst.explain`)."""
    return "\n\n".join(_blocks(rule)) + "\n"


def _blocks(rule: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {escape(rule['title'])}"
    yield (
        f"`{rule['id']}` · label `{rule['label']}` · family {escape(rule['family'])} · {rule['severity']} · "
        f"{rule['status']} since {escape(rule['since'])}"
    )
    yield escape(rule["summary"])
    if rule["applies_when"]:
        yield f"Applies when `{rule['applies_when']['text']}`."
    for field, heading in PARAGRAPHS.items():
        if field == "evidence":
            yield "## Evidence"
            yield "\n".join(map(_item, rule["evidence"]))
        elif field == "fix":
            for fix in rule["fix"]:
                yield from _fix(fix)
        elif rule[field]:
            yield f"## {heading}\n\n{escape(rule[field])}"
    yield from _list("Symptoms it can cause", [f"`{s}`" for s in rule["symptoms"]])
    yield from _list("Causes it explains", [f"`{s}`" for s in rule["explains"]])
    yield from _list("References", [escape(r) for r in rule["references"]])


def _item(item: Mapping[str, Any]) -> str:
    """One item: its words, the question behind them, and what an answer weighs (a log-likelihood ratio)."""
    against = f", false {item['if_false']:+g}" if item["if_false"] else ""
    return (
        f"- {escape(item['says']['text'])}\n  ({item['kind']}; true {item['if_true']:+g}{against}; {item['basis']})\n"
        f"  `{item['ask']['text']}`"
    )


def _fix(fix: Mapping[str, Any]) -> Iterator[str]:
    values = f": {escape(fix['start']['text'])} → {escape(fix['goal']['text'])}" if fix["start"] and fix["goal"] else ""
    parts = (
        ("What it will change", "expected_impact"),
        ("How to verify", "verify"),
        ("Without these values", "otherwise"),
        ("If it does not help", "if_not"),
    )
    lines = [f"- **{label}:** {escape(fix[key]['text'])}" for label, key in parts if fix[key]]
    yield f"## Fix\n\n{escape(fix['change']['text'])}{values}"
    yield "\n".join(lines)


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"## {title}\n\n" + "\n".join(f"- {item}" for item in items)
