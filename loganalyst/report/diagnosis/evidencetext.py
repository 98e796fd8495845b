"""The evidence for a cause in words: what supports it, what contradicts it, what is not known."""

from collections.abc import Sequence

import msgspec

from loganalyst.model import Evidence
from loganalyst.report.common.wording import clean
from loganalyst.report.diagnosis.placenames import place_text
from loganalyst.report.diagnosis.ruledout import words


class EvidenceText(msgspec.Struct, frozen=True):
    """One item of evidence: whether it supports the cause (None = not known), its text, kind and place.

    An item that does not hold may support a cause, and an item that holds may contradict it. `place` is `file:line`, or
    empty.
    """

    supports: bool | None
    text: str
    kind: str
    place: str


def ordered_evidence(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Supporting evidence, then contradicting, then unknown; within each, direct evidence first, then by weight.

    The same words appear once. An item that does not hold and did not count is left out, and so is one that states the
    same fact as a stronger item of its group.
    """
    rank = {True: 0, False: 1, None: 2}
    stated = {e.group for e in evidence if e.holds and e.weight}
    counted = [e for e in evidence if e.text and (e.weight or e.holds is None or (e.holds and e.group not in stated))]
    ranked = sorted(counted, key=lambda e: (rank[supports(e)], e.kind != "direct", -abs(e.weight)))
    once = list({(supports(e), e.text): e for e in reversed(ranked)}.values())[::-1]
    return [e for e in once if not any(e.text in o.text and o is not e and supports(o) is supports(e) for o in once)]


def supports(e: Evidence) -> bool | None:
    """Whether an item speaks for its cause; None where its answer is not known."""
    return None if e.holds is None else e.weight > 0 or (e.holds and not e.weight)


def evidence_text(e: Evidence) -> EvidenceText:
    """An item in words, with the place of its line."""
    file = e.file if e.line is not None or e.metric is None else None  # a curve's file means nothing without a line
    text = e.text if e.holds is not None else words(e.text.removeprefix("not known: "), 1000)
    return EvidenceText(supports(e), clean(text, 240), e.kind, place_text(file, e.line))
