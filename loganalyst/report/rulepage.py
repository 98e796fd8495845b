"""A rule as a page of Markdown: what `loganalyst rules explain` prints."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loganalyst.report.common.markdowntext import escape

__all__ = ["render"]

FIX_LINES = (
    ("Only if", "when"),
    ("Unless", "unless"),
    ("What it will change", "expected_impact"),
    ("How to verify", "verify"),
    ("Without these values", "otherwise"),
    ("If it does not help", "if_not"),
)
CLOSING = (
    ("What the fix will not fix", "will_not_fix"),
    ("Side effects", "side_effects"),
    ("Prevention", "prevention"),
)


def render(rule: Mapping[str, Any]) -> str:
    """The page of one rule, from the data of its file (`loganalyst.explain`)."""
    return "\n\n".join(_blocks(rule)) + "\n"


def _blocks(rule: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {escape(rule['title'])}"
    yield (
        f"`{rule['id']}` · label `{rule['label']}` · family {escape(rule['family'])} · {rule['severity']} · "
        f"{rule['status']} since {escape(rule['since'])}"
    )
    yield escape(rule["summary"])
    if "applies_when" in rule:
        yield f"Applies when `{rule['applies_when']}`."
    for key, words in (
        ("kinds", "Only in training of these kinds"),
        ("excluded_kinds", "Not in training of these kinds"),
    ):
        if rule.get(key):
            yield f"{words}: {', '.join(rule[key])}."
    yield f"## Why this happens\n\n{escape(rule['mechanism'])}"
    yield "## Evidence"
    yield "\n".join(map(_item, rule["evidence"]))
    for fix in rule["fix"]:
        yield from _fix(fix)
    yield from (f"## {heading}\n\n{escape(rule[field])}" for heading, field in CLOSING if rule.get(field))
    yield from _list("Symptoms it can cause", [f"`{s}`" for s in rule["symptoms"]])
    yield from _list("Causes it explains", [f"`{s}`" for s in rule.get("explains", ())])
    yield from _list("References", [escape(r) for r in rule.get("references", ())])


def _item(item: Mapping[str, Any]) -> str:
    """One item of evidence: its text, the weights of its answers (log-likelihood ratios), and its question."""
    weight = item["weight"]
    against = f", false {weight['if_false']:+g}" if weight["if_false"] else ""
    basis = item.get("basis", "judged")
    return (
        f"- {escape(item['says'])}\n  ({item['kind']}; true {weight['if_true']:+g}{against}; {basis})\n"
        f"  `{item['ask']}`"
    )


def _fix(fix: Mapping[str, Any]) -> Iterator[str]:
    values = f": {escape(str(fix['from']))} → {escape(str(fix['to']))}" if "from" in fix and "to" in fix else ""
    yield f"## Fix\n\n{escape(fix['change'])}{values}"
    yield "\n".join(f"- **{label}:** {escape(fix[key])}" for label, key in FIX_LINES if key in fix)


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"## {title}\n\n" + "\n".join(f"- {item}" for item in items)
