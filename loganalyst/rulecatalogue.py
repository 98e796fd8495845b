"""The rules and patterns in force, ours and the user's: loaded, explained, tested and begun from a skeleton."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from loganalyst import features, guard, rulefiles
from loganalyst.curves import trainers
from loganalyst.diagnosis import Catalogue, Outcome, check_rules, compiledrules, load_catalogue, skeleton
from loganalyst.diagnosis.catalogue import entries
from loganalyst.diagnosis.catalogueentries import Entries
from loganalyst.errors import LogAnalystError, RuleError, nearest
from loganalyst.model import Features, SettingsFile
from loganalyst.settings import Settings
from loganalyst.sources.text.metrics import printedexamples
from loganalyst.sources.text.patterns import literaldatabase, userpatterns
from loganalyst.writing import write_new


def catalogue(rules: tuple[Path, ...] = (), unquoted: tuple[Path, ...] = ()) -> Catalogue:
    """The checked rules: the package's own and those in the user's folders `unquoted` and `rules`. `problems` names
    their faults; it quotes nothing of the files in `unquoted`.
    """
    return _catalogue(rules, unquoted)


@cache
def _catalogue(rules: tuple[Path, ...], unquoted: tuple[Path, ...]) -> Catalogue:
    folders = (rulefiles.rules_dir(), *unquoted, *rules)
    return load_catalogue(features.declared(), folders, unquoted=unquoted, ours=_ours())


@cache
def _ours() -> Entries:
    """Checked once, whatever folders of the user's stand beside ours: it takes a second where they are not compiled."""
    compiled = rulefiles.compiled()
    if compiled:
        return compiledrules.decoded(compiled.rules)
    return entries(features.declared(), rulefiles.rules_dir())


def keep_compiled(read: Iterable[Path]) -> None:
    """Keep the compiled catalogue and the compiled search for its literals in the user's cache folder for the next
    start, if they are not there yet. Nothing happens where the folder cannot be written, or lies in one of the runs
    that were `read`.
    """
    rules = None if rulefiles.compiled() else rulefiles.cache_file()
    search = literaldatabase.file() if literaldatabase.is_new() else None
    with suppress(LogAnalystError, OSError):
        if rules or search:
            guard.check([rules, search], [guard.Read(str(path)) for path in read])
        if search:
            literaldatabase.keep(search)
        if rules:
            rulefiles.keep_compiled(rules, compiled_rules)


def compiled_rules() -> bytes:
    """Our checked rules, for the compiled catalogue. Raises RuleError for faults in them."""
    return compiledrules.encoded(entries(features.declared(), rulefiles.rules_dir()))


def explain(rule: str, rules: Sequence[Path] = ()) -> dict[str, Any]:
    """A rule, ours or from the folders `rules`: the data of its file, with the weights in force. Raises RuleError
    for an unknown id, naming the nearest.

    >>> import loganalyst as la
    >>> la.explain("lr-too-high")["label"]
    'lr_too_high'
    """
    known = catalogue(tuple(rules)).rules
    if rule not in known:
        raise RuleError(rule, "no such rule", nearest(rule, known) or "`loganalyst rules list` names them all")
    data: dict[str, Any] = rulefiles.load(known[rule].path).data
    for entry, item in zip(data["evidence"], known[rule].evidence, strict=True):  # fitted weights are not in the file
        entry |= {"weight": {"if_true": item.if_true, "if_false": item.if_false}, "basis": item.basis}
    return data


def new_rule(rule: str, family: str = "own", folder: Path = Path()) -> Path:
    """Write a sound rule to start from to `folder`/`family`/, and return its path. Raises RuleError for an id that is
    taken or no plain name, and for a file that exists; LogAnalystError where it lies inside a run or cannot be written.
    """
    text = skeleton(rule, family)
    if rule in catalogue().rules:
        raise RuleError(rule, "is a rule of ours", f"`loganalyst rules explain {rule}` shows it; take another id")
    path = folder / family / f"{rule}.yaml"
    guard.check([path])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_new(path, text, "-o takes a folder")
    except FileExistsError:
        raise RuleError(path, "exists already", "it is not written over; take another id or remove it") from None
    except OSError as error:
        raise RuleError(path, f"cannot be written ({error.strerror})", "-o takes a folder") from None
    return path


def rule_tests(ids: Sequence[str], rules: Sequence[Path], measure: Callable[[Path], Features]) -> list[Outcome]:
    """Run the tests of the rules `ids` (none: of all, and of the user's patterns of log lines). In a checkout the
    healthy fixtures are asked too; `measure` gives the features of a run.

    Raises RuleError for an unknown id.
    """
    for id_ in ids:
        explain(id_, rules)
    known = catalogue(tuple(rules))
    runs = rulefiles.rules_dir().parent / "fixtures" / "runs"
    healthy = sorted(path.name for path in runs.glob("healthy-*/"))
    found = check_rules(known.only(ids) if ids else known, lambda name: measure(runs / name), healthy)
    if ids:
        return found
    tested = userpatterns.tested(userpatterns.find(rules))
    return [*found, *(Outcome(id_, test, not why, why) for id_, test, why in tested)]


def pattern_count(rules: Sequence[Path] = ()) -> int:
    """How many patterns of log lines there are, with the sound ones of the folders `rules`."""
    return len(userpatterns.known(userpatterns.find(rules)))


def pattern_faults(rules: Sequence[Path] = (), unquoted: Sequence[Path] = ()) -> tuple[str, ...]:
    """The faults of the user's own patterns of log lines, in `text/` and `trainers/` of the folders `unquoted` and
    `rules`. Those of `unquoted` quote nothing.
    """
    found, also = userpatterns.find(unquoted), userpatterns.find(rules)
    return (
        *(str(fault.unquoted()) for fault in (*userpatterns.faults(found), *printedexamples.faults(found))),
        *map(str, (*userpatterns.faults(also), *printedexamples.faults(also))),
    )


def trainer_faults(rules: Sequence[Path] = (), unquoted: Sequence[Path] = ()) -> tuple[str, ...]:
    """The faults of the user's own trainers, in `trainers/` of the folders `unquoted` and `rules`. Those of `unquoted`
    quote nothing.
    """
    return (
        *(str(fault.unquoted()) for fault in trainers.faults(unquoted)),
        *map(str, trainers.faults(rules)),
    )


def obeyed(corrected: Settings, known: Catalogue, rules: Sequence[Path]) -> tuple[SettingsFile, ...]:
    """Every file and folder of the user's that has a say; for a folder, how many rules, patterns and healthy runs it
    holds.
    """
    found = [SettingsFile(str(corrected.path), corrected.summary())] if corrected.path else []
    for folder in (*corrected.rules, *rules):
        own_rules = sum(rule.path.is_relative_to(folder) for rule in known.rules.values())
        patterns = len(userpatterns.origins(userpatterns.find([folder])))
        what = f"{_count(own_rules, 'rule')} and {_count(patterns, 'pattern')} of log lines"
        healthy = [r.runs for path, r in known.healthy_runs.references.items() if path.is_relative_to(folder)]
        what += f", {_count(sum(healthy), 'healthy run')} to compare with" if healthy else ""
        found.append(SettingsFile(str(folder), what))
    return tuple(found)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
