"""The result of a replay as Markdown."""

from loganalyst.model import Experiment, Replay
from loganalyst.report.common.markdowntext import escape, section, table
from loganalyst.report.common.wording import clean, percent
from loganalyst.report.replay.screen import facts, headline

__all__ = ["render"]


def render(found: Replay) -> str:
    """The verdict, the causes before and after, then each experiment with its expectation and its measurement."""
    lines = [f"# {escape(clean(headline(found), 200))}", ""]
    lines += [f"- **{label}:** {escape(clean(words, 1200))}" for label, words in facts(found)]
    head = ("cause", "before", "after", "")
    rows = [(clean(h.issue, 200), percent(h.before), percent(h.after), h.verdict) for h in found.hypotheses]
    blocks = ["\n".join(lines), *([table(head, rows)] if rows else [])]
    blocks += [block for experiment in found.experiments for block in _experiment(experiment)]
    for title, items in (("Learned", found.learned), ("Next", found.next_steps)):
        blocks += section(title, [clean(item, 1200) for item in items])
    return "\n\n".join(blocks) + "\n"


def _experiment(e: Experiment) -> list[str]:
    bold = {True: "**", False: ""}
    means = [f"- {bold[n == e.outcome]}{escape(n)}{bold[n == e.outcome]}: {escape(m)}" for n, m in e.means.items()]
    found = f"Outcome: **{escape(e.outcome)}**. {escape(clean(e.text, 800))}"
    return [f"## {escape(e.name)}", escape(clean(e.question, 300)), "\n".join(means), found]
