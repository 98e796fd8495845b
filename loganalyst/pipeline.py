"""One run from its files to its diagnosis. Everything above (the command line, audits, notebooks) uses this."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst import anonymous, diagnosis, features, guard, rulefiles, settings, signals
from loganalyst.baseline import compare
from loganalyst.contextfile import Case
from loganalyst.curves import roles as role_names
from loganalyst.curves.effective import curves as effective_curves
from loganalyst.curves.effective import last_training, stand_ins
from loganalyst.curves.effective import metrics as named_metrics
from loganalyst.curves.trainers import known_roles, recognised
from loganalyst.curves.valuemeanings import with_meanings
from loganalyst.diagnosis import promises
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.catalogue import load as load_catalogue
from loganalyst.diagnosis.confidence import Judged
from loganalyst.diagnosis.fixplaces import cited
from loganalyst.diagnosis.judgement import band
from loganalyst.diagnosis.loweredcauses import lowered
from loganalyst.diagnosis.outlook import recommended
from loganalyst.diagnosis.quickfixes import quick_fixes
from loganalyst.diagnosis.ruleskeleton import skeleton
from loganalyst.diagnosis.ruletests import Outcome
from loganalyst.diagnosis.ruletests import check as check_rules
from loganalyst.diagnosis.timeline import timeline
from loganalyst.errors import LogAnalystError, RuleError, nearest
from loganalyst.features.context import Context
from loganalyst.features.onsets import onsets
from loganalyst.features.summary import summarise
from loganalyst.model import (
    OURS,
    Cause,
    Curve,
    Diagnosis,
    Evidence,
    Expectation,
    Metric,
    Role,
    Run,
    SessionSummary,
    SettingsFile,
)
from loganalyst.settings import Settings
from loganalyst.sources.config.reader import read as settings_of
from loganalyst.sources.config.settingplaces import places as written
from loganalyst.sources.files.excerpt import excerpts
from loganalyst.sources.ingest import accounting, ingest
from loganalyst.sources.text.patterns import userpatterns
from loganalyst.writing import write_new

__all__ = [
    "band",
    "catalogue",
    "diagnose",
    "diagnose_paths",
    "expectations",
    "explain",
    "lowered",
    "new_rule",
    "read_run",
    "rejudged",
    "rule_tests",
    "symptom_answers",
]


def read_run(
    path: str | Path,
    logs: Sequence[str | Path] = (),
    *,
    separate: bool = False,
    config: Path | None = None,
    rules: Sequence[Path] = (),
    trust_run_settings: bool = False,
) -> Run:
    """Read the run at `path` (a directory, one file or a job log), with job `logs` that belong to it. Job logs near a
    directory that are surely of its job are read too (`Run.basis` says why), unless `separate`. `rules` are folders
    with rules of the user's own, of which the patterns in `text/` hold for the logs, as do those that the settings name
    (`config`, `trust_run_settings`: see `diagnose`).

    Raises SourceError where the path is missing, holds several runs, or nothing in it could be read, RuleError where
    the settings are not valid.

    >>> import loganalyst as la
    >>> run = la.read_run("fixtures/runs/nan-lr")
    >>> run.status, run.points.height, round(run.points.filter(metric="train/loss")["value"].min(), 3)
    ('failed', 2211, 0.764)
    """
    path, chosen = Path(path), settings.Chosen()
    if anonymous.is_document(path):
        return anonymous.load(path)

    def own_rules(root: Path) -> Sequence[Path]:
        nonlocal chosen
        chosen = settings.choose(root, config, named=path, trusted=trust_run_settings)
        return (*chosen.read().rules, *rules)

    run = ingest(path, [Path(log) for log in logs], separate=separate, rules=own_rules)
    return replace(run, settings=chosen.file, settings_inside=chosen.inside, settings_ignored=chosen.ignored)


def catalogue(rules: tuple[Path, ...] = (), unquoted: tuple[Path, ...] = ()) -> Catalogue:
    """The checked rules: the package's own and those in the user's folders `unquoted` and `rules`. `problems` names
    their faults, which quote nothing of the files in `unquoted`.
    """
    return _catalogue(rules, unquoted)


@cache
def _catalogue(rules: tuple[Path, ...], unquoted: tuple[Path, ...]) -> Catalogue:
    folders = (rulefiles.rules_dir(), *unquoted, *rules)
    return load_catalogue(features.declared(), folders, unquoted=unquoted)


def explain(rule: str, rules: Sequence[Path] = ()) -> dict[str, Any]:
    """A rule, of ours or of the folders `rules`, as the data of its file with the weights in force. Raises RuleError
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
    """Write a sound rule to start from into `folder`/`family`/ and say where. Raises RuleError for an id that is taken
    or no plain name, and for a file that exists; LogAnalystError where it lies inside a run or cannot be written.
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


def rule_tests(ids: Sequence[str] = (), rules: Sequence[Path] = ()) -> list[Outcome]:
    """Run the tests of the rules `ids` (none: of all, and of the user's patterns of log lines), on the healthy fixtures
    too where there is a checkout.

    Raises RuleError for an unknown id.
    """
    for id_ in ids:
        explain(id_, rules)
    known = catalogue(tuple(rules))
    runs = rulefiles.rules_dir().parent / "fixtures" / "runs"
    healthy = sorted(path.name for path in runs.glob("healthy-*/"))
    found = check_rules(known.only(ids) if ids else known, lambda name: diagnose(runs / name).features, healthy)
    lines = (
        []
        if ids
        else [Outcome(id_, test, not why, why) for id_, test, why in userpatterns.tested(userpatterns.find(rules))]
    )
    return [*found, *lines]


def pattern_count(rules: Sequence[Path] = ()) -> int:
    """How many patterns of log lines there are, with the sound ones of the folders `rules`."""
    return len(userpatterns.known(userpatterns.find(rules)))


def pattern_faults(rules: Sequence[Path] = ()) -> tuple[str, ...]:
    """What is wrong with patterns of log lines of the user's own, in `text/` of the folders `rules`."""
    return tuple(map(str, userpatterns.faults(userpatterns.find(rules))))


def diagnose(
    run: str | Path | Run,
    *,
    logs: Sequence[str | Path] = (),
    separate: bool = False,
    config: Path | None = None,
    rules: Sequence[Path] = (),
    symptoms: Sequence[str] = (),
    baseline: str | Path | Run | Diagnosis | None = None,
    case: Case | None = None,
    trust_run_settings: bool = False,
    checkpoints: bool = False,
    watch: Callable[[int, int], object] | None = None,
) -> Diagnosis:
    """Say what happened to one run and why.

    `run` is a path or what `read_run` returned, `logs` job logs that belong to it (`separate`: no others are looked
    for), `config` a loganalyst.yaml (else the nearest above the run, and one in it only if `trust_run_settings`),
    `rules` folders with rules of the user's own, `symptoms` what the user saw, to be checked against the logs
    (`summary["told_symptoms"]`), `baseline` a run to compare it with (`Diagnosis.baseline`), `case` what a context file
    names: its config is read with the run's, and searched with its code for what fixes change (`Fix.places`). With
    `checkpoints` the last ones of the run are looked into (`Run.inspection`), which takes as long as reading them;
    `watch` is told how many of how many are done. Raises SourceError or RuleError.

    >>> import loganalyst as la
    >>> found = la.diagnose("fixtures/runs/nan-lr", symptoms=["the loss is NaN"])
    >>> found.status, found.causes[0].id, found.summary["told_symptoms"][0]["verdict"]
    ('diagnosis_complete', 'lr-too-high', 'confirmed')
    """
    if not isinstance(run, Run):
        run = read_run(run, logs, separate=separate, config=config, rules=rules, trust_run_settings=trust_run_settings)
    if checkpoints:
        from loganalyst.checkpoint import runcheckpoints

        run = replace(run, inspection=runcheckpoints.inspect_run(run, watch))
    found = _diagnosis(run, _corrections(run, config), rules, symptoms, case or Case())
    if baseline is None:
        return found
    if not isinstance(baseline, Diagnosis):
        baseline = diagnose(
            baseline, separate=separate, config=config, rules=rules, trust_run_settings=trust_run_settings
        )
    return replace(found, baseline=compare(found, baseline))


def _diagnosis(run: Run, corrected: Settings, rules: Sequence[Path], symptoms: Sequence[str], case: Case) -> Diagnosis:
    """The run by itself, from what was read of it to its diagnosis."""
    run = replace(run, config=pl.concat([run.config, *(t.config for path in case.config for t in settings_of(path))]))
    places, unsearched = written((*case.config, *case.code))
    missing = (*case.missing, *unsearched)
    curves, metrics = _curves(run, corrected)
    findings, coverage = signals.find(curves)
    context = Context(run, curves, findings)
    row = features.compute(context)
    known = catalogue(tuple(rules), corrected.rules)
    judged = diagnosis.diagnose(known, row, (*symptoms, *case.symptoms))
    recommendation, notes = recommended(judged.status, run.status, judged.notes)
    kept, ignored = _ignored(cited(_marked(judged.causes, run, corrected, rules), places), run, corrected)
    return Diagnosis(
        run=run,
        status=judged.status if kept or not ignored else "healthy",  # all that was found is accepted
        confidence=judged.confidence,
        metrics=metrics,
        coverage=coverage,
        sessions=_sessions(context),
        symptoms=judged.symptoms,
        causes=kept,
        ruled_out=judged.ruled_out,
        unknown=judged.unknown,
        timeline=timeline(
            findings,
            run.lines,
            run.points,
            onsets=onsets(context),
            down=[c.metric for c in curves if c.role.worse == "down"],
        ),
        summary={
            **summarise(run, curves),
            "recommendation": recommendation,
            "told_symptoms": [asdict(told) for told in judged.told],
            "faults": (
                *known.problems,
                *_pattern_faults(corrected, rules),
                *_unknown_ignores(corrected, known, run),
                *missing,
            ),
        },
        features=row,
        findings=findings,
        curves=curves,
        ignored_findings=ignored,
        notes=notes,
        decide=judged.decide,
        rivals=judged.rivals,
        quick_fixes=quick_fixes(kept, judged.symptoms),
        excerpts=excerpts(run, [(c.file, c.line) for c in kept]),
        settings_obeyed=_obeyed(corrected, known, rules),
        settings_ignored=tuple(SettingsFile(file, settings.NOT_OBEYED) for file in run.settings_ignored),
    )


def rejudged(
    found: Diagnosis,
    measured: Mapping[str, Sequence[Evidence]],
    *,
    config: Path | None = None,
    rules: Sequence[Path] = (),
) -> tuple[Diagnosis, dict[str, Judged]]:
    """The diagnosis with what was measured beside the logs (by rule id, such as by a replay), and every rule as it is
    judged then, the likeliest first; with the rules that judged `found`.
    """
    corrected = _corrections(found.run, config)
    known = catalogue(tuple(rules), corrected.rules)
    told = [told["text"] for told in found.summary.get("told_symptoms", ())]
    judged = diagnosis.diagnose(known, found.features, told, measured)
    kept, ignored = _ignored(_marked(judged.causes, found.run, corrected, rules), found.run, corrected)
    again = replace(
        found,
        status=judged.status if kept or not ignored else "healthy",
        confidence=judged.confidence,
        causes=kept,
        ruled_out=judged.ruled_out,
        unknown=judged.unknown,
        decide=judged.decide,
        rivals=judged.rivals,
        ignored_findings=ignored,
        quick_fixes=quick_fixes(kept, judged.symptoms),
        excerpts=excerpts(found.run, [(c.file, c.line) for c in kept]),
    )
    return again, dict(judged.sure)


def expectations(
    old: Diagnosis, new: Diagnosis, *, config: Path | None = None, rules: Sequence[Path] = ()
) -> dict[str, tuple[Expectation, ...]]:
    """What the fixes of each cause of `old` (by id) promise, held against `new`; with the rules that judged `old`."""
    known = catalogue(tuple(rules), _corrections(old.run, config).rules)
    return {c.id: promises.expectations(known, c.id, old.features.values, new.features) for c in old.causes}


def symptom_answers(
    run: Diagnosis, *, config: Path | None = None, rules: Sequence[Path] = ()
) -> Mapping[str, bool | None]:
    """Every symptom by id: seen, looked for and not seen, or not known (None)."""
    known = catalogue(tuple(rules), _corrections(run.run, config).rules)
    return promises.symptoms(known, run.features)


def diagnose_paths(paths: Sequence[Path], *, separate: bool = False, **options: Any) -> list[Diagnosis]:
    """Diagnose each path with the `options` of `diagnose`. A run directory followed by job logs is one run, and so is
    any run followed by accounting files, unless `separate`. A path that cannot be read, or whose loganalyst.yaml is not
    valid, gives a diagnosis of status `unreadable`; the others go on. Raises SourceError or RuleError for a missing
    `config` or folder of `rules`, and for a `config` that is not valid.
    """
    for folder in options.get("rules", ()):
        if not os.path.isdir(folder):
            raise RuleError(folder, "is no folder", "--rules takes a folder with rules of your own")
    if options.get("config"):
        settings.find(Path(), options["config"])
    groups: list[tuple[Path, list[Path]]] = []
    for path in paths:
        joins = os.path.isfile(path) and groups and not separate
        if joins and (os.path.isdir(groups[-1][0]) or accounting(path)):
            groups[-1][1].append(path)
        else:
            groups.append((path, []))
    return [d for run, logs in groups for d in _diagnosed(run, logs, {**options, "separate": separate})]


def _diagnosed(run: Path, logs: Sequence[Path], options: Mapping[str, Any]) -> list[Diagnosis]:
    """One diagnosis; logs beside a run that cannot be read have one each."""
    try:
        return [diagnose(run, logs=logs, **options)]
    except LogAnalystError as error:
        return [unreadable(run, error), *(d for log in logs for d in _diagnosed(log, (), options))]


def _corrections(run: Run, config: Path | None) -> Settings:
    """The settings that hold for a run: those it was read with, else the file `config`. Raises RuleError."""
    return settings.Chosen(str(config)).read() if config else settings.Chosen(run.settings, run.settings_inside).read()


def _obeyed(corrected: Settings, known: Catalogue, rules: Sequence[Path]) -> tuple[SettingsFile, ...]:
    """Every file and folder of the user's that has a say: of a folder how many rules and patterns of log lines."""
    said = [(str(corrected.path), corrected.what())] if corrected.path else []
    for folder in (*corrected.rules, *rules):
        own_rules = sum(rule.path.is_relative_to(folder) for rule in known.rules.values())
        patterns = len(userpatterns.origins(userpatterns.find([folder])))
        said.append((str(folder), f"{_count(own_rules, 'rule')} and {_count(patterns, 'pattern')} of log lines"))
    return tuple(SettingsFile(file, what) for file, what in said)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _marked(causes: Sequence[Cause], run: Run, corrected: Settings, rules: Sequence[Path]) -> tuple[Cause, ...]:
    """The causes, with the file of a pattern that is not ours and claimed a line that shows one, as its `origin`."""
    foreign = userpatterns.origins(userpatterns.find((*corrected.rules, *rules)))
    if not foreign:
        return tuple(causes)
    lines = run.lines.filter(pl.col("pattern").is_in(list(foreign))).select("file", "line", "pattern").iter_rows()
    files = {(file, line): foreign[pattern] for file, line, pattern in lines}
    return tuple(replace(c, origin=_origin(c, files)) for c in causes)


def _origin(cause: Cause, files: Mapping[tuple[str | None, int | None], str]) -> str:
    """That of its rule, if this is not ours; else the file of a pattern that shows it."""
    shows = [(cause.file, cause.line), *((e.file, e.line) for e in cause.evidence if e.holds)]
    return next((files[place] for place in shows if place in files and cause.origin == OURS), cause.origin)


def _pattern_faults(corrected: Settings, rules: Sequence[Path]) -> tuple[str, ...]:
    """As `pattern_faults`; those in folders that settings name quote nothing."""
    return (
        *(str(fault.unquoted()) for fault in userpatterns.faults(userpatterns.find(corrected.rules))),
        *pattern_faults(rules),
    )


def _curves(run: Run, corrected: Settings) -> tuple[list[Curve], tuple[Metric, ...]]:
    names = run.points["metric"].unique(maintain_order=True)
    try:
        known = known_roles(recognised(run, corrected.rules), names)
        roles = role_names.assign(names, {**run.roles, **corrected.corrections()}, known)
    except RuleError as error:
        raise (error.unquoted() if run.settings_inside else error) from None
    roles = {metric: (_turned(metric, role, corrected), why) for metric, (role, why) in roles.items()}
    curves = effective_curves(run, roles)
    if corrected.loss_terms:
        curves = [replace(c, weight=_weight(c.metric, corrected)) for c in curves]
    curves = with_meanings(last_training(curves), role_names.all_roles())
    return [*curves, *stand_ins(curves, role_names.all_roles())], named_metrics(curves, roles)


def _turned(metric: str, role: Role, corrected: Settings) -> Role:
    for glob, worse in corrected.direction.items():
        if fnmatchcase(metric, glob):
            return replace(role, worse="up" if worse == "up" else "down")
    return role


def _weight(metric: str, corrected: Settings) -> float:
    return next((w for glob, w in corrected.loss_terms.items() if fnmatchcase(metric, glob)), 1.0)


def _sessions(context: Context) -> tuple[SessionSummary, ...]:
    rows = context.run.sessions.group_by("session").agg(
        pl.col("first_line").min(), pl.col("last_line").max(), pl.col("status", "job").drop_nulls().last()
    ).sort("session")  # fmt: skip
    told = ("label", "file", "line", "rank", "node")
    return tuple(
        SessionSummary(
            index=r["session"],
            first_line=r["first_line"],
            last_line=r["last_line"],
            status=r["status"] or "unknown",
            job=r["job"],
            **{name: (context.roots.get(r["session"]) or {}).get(name) for name in told},
        )
        for r in rows.to_dicts()
    )


def _ignored(causes: tuple[Cause, ...], run: Run, corrected: Settings) -> tuple[tuple[Cause, ...], tuple[str, ...]]:
    """Causes the user accepted leave the list, but are counted."""
    today = date.today()
    path = str(run.path)
    accepted = {
        i.rule: f"{i.rule}: {i.reason or 'accepted'}"
        + (f" (until {i.until})" if i.until else "")
        + f", says {corrected.path}"
        for i in corrected.ignore
        if (i.until is None or today <= i.until) and (fnmatchcase(path, i.runs) or fnmatchcase(run.name, i.runs))
    }
    kept = tuple(c for c in causes if c.id not in accepted)
    return kept, tuple(accepted[c.id] for c in causes if c.id in accepted)


def _unknown_ignores(corrected: Settings, known: Catalogue, run: Run) -> Iterator[str]:
    """What `ignore` names that is no rule: most likely misspelt."""
    for entry in corrected.ignore:
        if entry.rule not in known.rules and run.settings_inside:
            yield f"{corrected.path}: ignore names what is no rule"
        elif entry.rule not in known.rules:
            hint = nearest(entry.rule, known.rules) or "`loganalyst rules list` names them all"
            yield f"{corrected.path}: ignore names {entry.rule!r}, which is no rule; {hint}"


def unreadable(path: Path, error: LogAnalystError) -> Diagnosis:
    """The answer where nothing could be read."""
    return Diagnosis(
        run=Run(path=path, name=path.name), status="unreadable", confidence=1.0, summary={"why": str(error)}
    )
