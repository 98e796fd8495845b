"""Trainers: which library or script trained a run, and what each metric is that it logs.

A trainer is one file of `rules/trainers/`, also of that folder in a user's own rules. Witnesses recognise it: names of
metrics, keys of the settings, names of files, readers, texts of log lines. Each has a weight. A trainer is recognised
from a sum of 1 on; the one with the largest sum is taken, but one that extends another is preferred to it if it has a
witness of its own. The trainer gives the role of every metric that it names, and the kind of training.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from loganalyst.curves.metricnames import names_held_out
from loganalyst.curves.roles import all_roles
from loganalyst.errors import RuleError
from loganalyst.model import OF_FILE, Role, Run
from loganalyst.patterntraits import having
from loganalyst.rulefiles import RuleFile, refuse_name
from loganalyst.trainerfiles import Kind, TrainerFile, Witnesses, trainer_files

RECOGNISED = 1.0  # the sum of weights from which a trainer is recognised


@dataclass(frozen=True, eq=False)
class Trainer:
    """A trainer: `kind` of training ("any" where its users train all kinds), what its `step` counts, the range that is
    `usual` for a feature, and the witnesses by their five sorts. `clips` is the norm at which it clips gradients where
    no setting says otherwise (None: not known, or it does not). `prints_end`: a line of its says that training ended.
    """

    id: str
    title: str
    source: str
    kind: Kind
    step: str
    usual: Mapping[str, tuple[float, float]]
    clips: float | None
    prints_end: bool
    witnesses: Mapping[str, Mapping[str, float]]
    prefixes: tuple[str, ...]
    exact: Mapping[str, Role]
    patterns: tuple[tuple[str, Role], ...]  # with `*`
    ancestors: frozenset[str]  # those that it extends, directly or through others

    def role(self, metric: str) -> Role | None:
        """The role of a metric by its whole name, or by what follows one of the prefixes; None if no entry names it. A
        metric of a file for held-out data, such as `valid::loss`, is looked up with the name of the file.
        """
        file, _, name = metric.rpartition(OF_FILE)
        if names_held_out(file):
            name = f"{file}/{name}"
        names = [name, *(name.removeprefix(p) for p in self.prefixes if name.startswith(p))]
        exact = next((self.exact[n] for n in names if n in self.exact), None)
        return exact or next((role for n in names for glob, role in self.patterns if _regex(glob).fullmatch(n)), None)


def known_roles(trainer: Trainer | None, metrics: Iterable[str]) -> dict[str, tuple[Role, str]]:
    """The role of each metric that the trainer names, and why."""
    if trainer is None:
        return {}
    found = {metric: trainer.role(metric) for metric in metrics}
    return {metric: (role, f"{trainer.title} logs it") for metric, role in found.items() if role}


def recognised(run: Run, folders: Sequence[Path] = ()) -> Trainer | None:
    """The trainer of a run; `folders` are the user's own rules. None if no trainer has enough witnesses."""
    seen = _seen(run)
    known = {trainer.id: trainer for trainer in trainers(tuple(folders))}
    found = {name: _found(trainer, seen) for name, trainer in known.items()}
    scores = {name: score for name, facts in found.items() if (score := sum(facts.values())) >= RECOGNISED}
    extended = {a for name in scores for a in known[name].ancestors if found[name].keys() - found[a].keys()}
    best = max(scores.keys() - extended, key=lambda name: (scores[name], name), default=None)
    return known[best] if best else None


def _seen(run: Run) -> dict[str, set[str]]:
    """What may be a witness, by sort. A setting is known by its whole key and by its last part."""
    metrics = {name.rpartition(OF_FILE)[2] for name in run.points["metric"].unique()}
    keys = run.config["key"].unique().to_list()
    files = {Path(source.path).name for source in run.sources}
    lines = run.lines.filter(pl.col("pattern").is_in(having("trainer_line")))
    return {
        "metrics": metrics | {name.partition("/")[2] for name in metrics if name.startswith(("train/", "eval/"))},
        "settings": {*keys, *(key.rpartition(".")[2] for key in keys)},
        "files": files,
        "readers": {source.format for source in run.sources if source.format},
        "lines": set(lines["captures"].str.json_path_match("$.witness").drop_nulls()),
    }


def _found(trainer: Trainer, seen: Mapping[str, set[str]]) -> dict[tuple[str, str], float]:
    """The weight of each witness of a trainer that is there."""
    return {
        (sort, name): weight
        for sort, witnesses in trainer.witnesses.items()
        for name, weight in witnesses.items()
        if name in seen[sort]
    }


def trainers(folders: tuple[Path, ...] = ()) -> tuple[Trainer, ...]:
    """Every trainer of our catalogue, and every valid one of `folders`. Raises RuleError for a fault of ours."""
    return _loaded(folders)[0]


def faults(folders: Iterable[Path]) -> tuple[RuleError, ...]:
    """The faults of trainers in `folders`, one for each faulty file; these trainers are left out."""
    return _loaded(tuple(folders))[1]


@cache
def _loaded(folders: tuple[Path, ...]) -> tuple[tuple[Trainer, ...], tuple[RuleError, ...]]:
    """The trainers in the order of their names, and the faults of those in `folders`."""
    read, ours = trainer_files(folders), trainer_files().shapes
    shapes, files = read.shapes, read.files
    found, wrong = list[Trainer](), [*read.faults]
    for name in sorted(shapes):
        try:
            found.append(_trainer(name, shapes, files))
        except RuleError as error:
            if name in ours:
                raise
            wrong.append(error)
    return tuple(found), tuple(wrong)


def _trainer(name: str, shapes: Mapping[str, TrainerFile], files: Mapping[str, RuleFile]) -> Trainer:
    shape, file = shapes[name], files[name]
    names = _chain(name, shapes, files)
    chain = [shapes[n] for n in names]
    for metric, role in shape.metrics.items():
        if role not in all_roles():
            refuse_name(file, ("metrics", metric), role, all_roles())
    roles = {metric: all_roles()[role] for ancestor in reversed(chain) for metric, role in ancestor.metrics.items()}
    globs = [m for ancestor in chain for m in ancestor.metrics if "*" in m]
    return Trainer(
        name, shape.title, shape.source, shape.kind, next((s.step for s in chain if s.step), ""),
        usual={feature: bounds for ancestor in reversed(chain) for feature, bounds in ancestor.usual.items()},
        clips=next((s.clips for s in chain if s.clips is not None), None),
        prints_end=any(ancestor.ends for ancestor in chain),
        witnesses={sort: getattr(shape.witnesses, sort) for sort in Witnesses.__struct_fields__},
        prefixes=tuple(prefix for ancestor in chain for prefix in ancestor.prefixes),
        exact={m: role for m, role in roles.items() if "*" not in m},
        patterns=tuple((m, roles[m]) for m in dict.fromkeys(globs)),
        ancestors=frozenset(names[1:]),
    )  # fmt: skip


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    """A pattern with `*` as a regex, without the atomic groups that `fnmatch` would write: `rewards/*/mean`."""
    return re.compile(".*".join(map(re.escape, pattern.split("*"))))


def _chain(name: str, shapes: Mapping[str, TrainerFile], files: Mapping[str, RuleFile]) -> list[str]:
    """A trainer, then those that it extends. Raises RuleError for a name that is missing or its own ancestor."""
    chain = [name]
    while parent := shapes[chain[-1]].extends:
        if parent not in shapes:
            refuse_name(files[chain[-1]], ("extends",), parent, shapes)
        if parent in chain:
            raise RuleError(
                files[chain[-1]].where("extends"), f"extends is {parent!r}", "a trainer cannot extend itself"
            )
        chain.append(parent)
    return chain
