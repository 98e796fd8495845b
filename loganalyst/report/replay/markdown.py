"""What a replay found, as Markdown."""

from loganalyst.model import Experiment, Replay
from loganalyst.report.common.wording import clean, percent
from loganalyst.report.diagnosis.markdown import escape
from loganalyst.report.replay.screen import facts, headline

__all__ = ["render"]


def render(found: Replay) -> str:
    """The verdict, the causes before and after, then each experiment with what was stated and what was measured."""
    lines = [f"# {escape(clean(headline(found), 200))}", ""]
    lines += [f"- **{label}:** {escape(clean(words, 1200))}" for label, words in facts(found)]
    if found.hypotheses:
        lines += ["", "| cause | before | after | |", "|---|---|---|---|"]
    lines += [
        f"| {escape(clean(h.issue, 200))} | {percent(h.before)} | {percent(h.after)} | {h.verdict} |"
        for h in found.hypotheses
    ]
    for experiment in found.experiments:
        lines += _experiment(experiment)
    for title, rows in (("Learned", found.learned), ("Next", found.next_steps)):
        lines += ["", f"## {title}", "", *(f"- {escape(clean(row, 1200))}" for row in rows)] if rows else []
    return "\n".join(lines) + "\n"


def _experiment(e: Experiment) -> list[str]:
    bold = {True: "**", False: ""}
    means = [f"- {bold[n == e.outcome]}{escape(n)}{bold[n == e.outcome]}: {escape(m)}" for n, m in e.means.items()]
    found = f"Outcome: **{escape(e.outcome)}**. {escape(clean(e.text, 800))}"
    return ["", f"## {escape(e.name)}", "", escape(clean(e.question, 300)), "", *means, "", found]
