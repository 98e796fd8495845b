"""Constants of evidence that healthy runs often pass: `[--least 0.05]`.

An item that asks for one feature above or below a constant is compared with the reference of healthy runs. Printed for
each item that speaks for its cause: the constant, the share of healthy runs of a kind that pass it, and the quantile
of these runs that the constant would have at 97.5 %.
"""

import argparse
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from loganalyst import pipeline
from loganalyst.diagnosis.catalogue import Catalogue

COMPARED = re.compile(r"(\w+) (>=?|<=?) (-?\d+(?:\.\d+)?(?:e-?\d+)?)")  # "train_loss_rise_z >= 3"
TAIL = 0.025  # of healthy runs beyond the constant that is proposed


class Passed(NamedTuple):
    """An item whose constant a `share` of the healthy `runs` of a kind passes. `quantile` leaves TAIL beyond it."""

    rule: str
    item: str
    kind: str
    runs: int
    question: str
    share: float
    quantile: float
    weight: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--least", type=float, default=0.05, help="the smallest share of healthy runs (default: 0.05)")
    least = parser.parse_args().least
    for row in sorted(passed(pipeline.catalogue()), key=lambda row: -row.share):
        if row.share >= least:
            print(
                f"{row.rule}/{row.item}  weight {row.weight:+.1f}  {row.question}  passed by {row.share:.0%} of "
                f"{row.runs} healthy {row.kind} runs; {1 - TAIL:.1%} of them: {row.quantile:g}"
            )


def passed(catalogue: Catalogue) -> Iterator[Passed]:
    """The items that ask for one comparison with a constant, for each kind with enough healthy runs."""
    for rule in catalogue.rules.values():
        for item in rule.evidence if not rule.benign else ():
            asked = COMPARED.fullmatch(item.ask.text)
            if not asked or item.if_true <= 0:
                continue
            for kind, (runs, share, quantile) in shares(catalogue, *asked.groups()).items():
                yield Passed(rule.id, item.id, kind, runs, item.ask.text, share, quantile, item.if_true)


def shares(catalogue: Catalogue, feature: str, sign: str, constant: str) -> Mapping[str, tuple[int, float, float]]:
    """By kind: the number of healthy runs, the share that passes the constant, and the quantile at the same side."""
    known = catalogue.healthy_runs
    found = {}
    for kind in known.kinds(feature):
        place, of = known.place(feature, float(constant), [kind]), known.range(feature, kind)
        if place is None or of is None:
            continue
        beyond = 1 - place.below if sign[0] == ">" else 1 - place.above
        at = known.probabilities.index(1 - TAIL if sign[0] == ">" else TAIL)
        found[kind] = (of.runs, beyond if sign[1:] else _strict(place.below, place.above, sign), of.values[at])
    return found


def _strict(below: float, above: float, sign: str) -> float:
    """The share of runs beyond a constant that itself does not count."""
    return above if sign == ">" else below


if __name__ == "__main__":
    main()
