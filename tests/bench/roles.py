"""How often a metric gets the role, and a run the kind of training, that readers of the runs gave them.

Run: python -m tests.bench.roles [--corpus DIR] [--wrong]

`tests/curves/role_labels.yaml` holds the labels by path below DIR (default: the environment's LOGANALYST_CORPUS, else
`../shared/corpus`). A role is right when it is one of the fair ones. A kind that is not stated counts as `any`. The
mean over runs gives every run the same weight: detection logs many metrics.
"""

import argparse
import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import msgspec
import yaml

from loganalyst import diagnose
from loganalyst.model import TrainingKindName

ROOT = Path(__file__).parents[2]
LABELS = ROOT / "tests/curves/role_labels.yaml"
CORPUS = Path(os.environ.get("LOGANALYST_CORPUS", ROOT.parent / "shared/corpus"))
KINDS: frozenset[str] = frozenset({*get_args(TrainingKindName), "any"})
SURE = 0.8  # the probability from which rules trust a kind
NOT_READ = "(not read)"


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fair kinds of a run and the fair roles of its important metrics, joined by `|`; what no role can express."""

    kind: str
    roles: dict[str, str] = {}
    missing: dict[str, str] = {}


@dataclass(frozen=True)
class Answer:
    """What was said of one metric (or of a run's kind), and the fair answers; `probability` of a kind."""

    run: str
    name: str
    said: str
    fair: tuple[str, ...]
    probability: float = 1.0

    @property
    def right(self) -> bool:
        """Whether a fair answer was given."""
        return self.said in self.fair


@dataclass(frozen=True)
class Measured:
    """All answers about roles and kinds."""

    roles: tuple[Answer, ...]
    kinds: tuple[Answer, ...]

    @property
    def role_share(self) -> float:
        """The share of metrics with a fair role."""
        return share(self.roles)

    @property
    def mean_over_runs(self) -> float:
        """The mean over runs of the share of metrics with a fair role."""
        by_run = defaultdict(list)
        for answer in self.roles:
            by_run[answer.run].append(answer)
        return sum(map(share, by_run.values())) / max(len(by_run), 1)

    def stated(self, above: float) -> tuple[Answer, ...]:
        """The kinds that were stated with at least the probability `above`."""
        return tuple(a for a in self.kinds if a.probability >= max(above, 1e-9))

    @property
    def kind_share(self) -> float:
        """The share of runs with a fair kind, stated or rightly not stated."""
        return share(self.kinds)


def labels(path: Path = LABELS) -> dict[str, Label]:
    """The labels by path of the run. Raises msgspec.ValidationError for a field that does not exist."""
    return msgspec.convert(yaml.load(path.read_text(), yaml.CSafeLoader), dict[str, Label])


def measure(corpus: Path, known: dict[str, Label]) -> Measured:
    """The answers about all runs of `known`. Raises LogAnalystError for a run that cannot be read."""
    roles, kinds = list[Answer](), list[Answer]()
    for run, label in known.items():
        found = diagnose(corpus / run)
        said = {metric.name: metric.role for metric in found.metrics}
        roles += [Answer(run, n, said.get(n, NOT_READ), tuple(fair.split("|"))) for n, fair in label.roles.items()]
        kind, sure = (found.features.values.get(f"training_kind{end}") for end in ("", "_probability"))
        kinds.append(Answer(run, "kind", str(kind or "any"), tuple(label.kind.split("|")), float(sure or 0)))
    return Measured(tuple(roles), tuple(kinds))


def main() -> None:
    """Print the shares; with `--wrong` every wrong answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--wrong", action="store_true", help="list what was wrong")
    args = parser.parse_args()
    found = measure(args.corpus, labels())
    print(f"roles right {_text(found.roles)}, mean over runs {found.mean_over_runs:.1%}")
    print(
        f"kinds right: of all {_text(found.kinds)}, stated {_text(found.stated(0))}, sure {_text(found.stated(SURE))}"
    )
    _print_by_role(found.roles)
    for answer in (*found.roles, *found.kinds) if args.wrong else ():
        if not answer.right:
            chance = f" {answer.probability:.2f}" if answer.name == "kind" else ""
            print(f"  {answer.run[-60:]}  {answer.name}: {answer.said}{chance}, fair: {', '.join(answer.fair)}")


def _print_by_role(answers: Iterable[Answer]) -> None:
    """The share of each labelled role, with what else was said of it."""
    by_role = defaultdict(list)
    for answer in answers:
        by_role[answer.fair[0]].append(answer)
    for role, group in sorted(by_role.items()):
        wrong = Counter(a.said for a in group if not a.right)
        print(f"  {role:22} {_text(group):18} {', '.join(f'{said} {n}' for said, n in wrong.most_common())}")


def share(answers: Iterable[Answer]) -> float:
    """The share of right answers; 0 of none."""
    right = [answer.right for answer in answers]
    return sum(right) / max(len(right), 1)


def _text(answers: Iterable[Answer]) -> str:
    """`right/all (percent)`."""
    group = list(answers)
    return f"{sum(a.right for a in group)}/{len(group)} ({share(group):.1%})"


if __name__ == "__main__":
    main()
