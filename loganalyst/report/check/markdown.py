"""Checked settings as Markdown."""

from collections.abc import Iterator

from loganalyst.model import SettingFinding, SettingsCheck
from loganalyst.report.check import sentences
from loganalyst.report.common.markdowntext import escape, section, titled_table
from loganalyst.report.common.wording import clean

__all__ = ["render"]


def render(found: SettingsCheck) -> str:
    """The verdict, each finding, what should be recorded, what is usual, and what was not found."""
    words, _ = sentences.headline(found)
    blocks = [f"# {escape(words)}", f"{escape(clean(found.path, 200))}: {escape(sentences.kind(found))}"]
    if found.facts:
        blocks.append(escape(sentences.described(found)))
    for finding in found.findings:
        blocks += _finding(finding)
    rows = [sentences.usual(one) for one in found.usual]
    blocks += titled_table("Usual", ("setting", "value", "usual range"), rows)
    blocks += section("Not found", [sentences.missing(one) for one in found.missing])
    blocks += section("Faults", [clean(fault) for fault in found.faults])
    return "\n\n".join(blocks) + "\n"


def _finding(finding: SettingFinding) -> Iterator[str]:
    yield f"## {escape(clean(finding.title, 120))} ({finding.severity})"
    facts = (
        ("Found", sentences.found_and_usual(finding)),
        ("Why", finding.why),
        ("Change", clean(finding.change, 400)),
    )
    sources = [f"- **Source:** {escape(sentences.source(one))}" for one in finding.sources]
    yield "\n".join([*(f"- **{label}:** {escape(words)}" for label, words in facts if words), *sources])
