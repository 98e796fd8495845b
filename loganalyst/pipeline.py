"""One run from its files to its diagnosis. Everything above (the command line, audits, notebooks) uses this module."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst import anonymousfiles, checking, diagnosis, features, rulecatalogue, settings, signals
from loganalyst.afterdiagnosis import (
    corrections,
    expectations,
    healthy_places,
    pattern_origins,
    rejudged,
    symptom_answers,
    with_excerpts,
)
from loganalyst.blame import processstates
from loganalyst.contextfile import Case
from loganalyst.curves.runcurves import run_curves
from loganalyst.curves.trainers import Trainer, recognised
from loganalyst.diagnosis import Catalogue, Outcome, band, lowered
from loganalyst.errors import LogAnalystError, RuleError, nearest
from loganalyst.features.context import Context
from loganalyst.features.onsets import onsets
from loganalyst.features.sessionsummary import sessions
from loganalyst.features.summary import summarise
from loganalyst.model import (
    TRAINING_KINDS,
    Curve,
    Diagnosis,
    Metric,
    Run,
    SettingsCheck,
    SettingsFile,
)
from loganalyst.rulecatalogue import catalogue, explain, new_rule, pattern_count, pattern_faults, trainer_faults
from loganalyst.settings import Settings
from loganalyst.sources.config.reader import read as read_settings
from loganalyst.sources.config.settingplaces import places as setting_places
from loganalyst.sources.ingest import accounting, ingest

__all__ = [
    "band",
    "catalogue",
    "check",
    "diagnose",
    "diagnose_paths",
    "expectations",
    "explain",
    "healthy_places",
    "lowered",
    "new_rule",
    "pattern_count",
    "pattern_faults",
    "read_run",
    "rejudged",
    "rule_tests",
    "symptom_answers",
    "trainer_faults",
    "unreadable",
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
    """Read the run at `path`: a directory, one file or a job log.

    Job `logs` belong to it. So do job logs near a directory that surely come from its job, unless `separate`;
    `Run.basis` says why. `rules` are folders with rules of the user's own; the patterns in their `text/` apply to the
    logs, as do those of folders that the settings name (`config`, `trust_run_settings`: see `diagnose`).

    Raises SourceError where the path is missing, holds several runs, or nothing in it can be read, and RuleError where
    the settings are not valid.

    >>> import loganalyst as la
    >>> run = la.read_run("fixtures/runs/nan-lr")
    >>> run.status, run.points.height, round(run.points.filter(metric="train/loss")["value"].min(), 3)
    ('failed', 2211, 0.764)
    """
    path, chosen = Path(path), settings.Chosen()
    if anonymousfiles.is_document(path):
        from loganalyst import anonymous

        return anonymous.load(path)

    def own_rules(root: Path) -> Sequence[Path]:
        nonlocal chosen
        chosen = settings.choose(root, config, named=path, trusted=trust_run_settings)
        return (*chosen.read().rules, *rules)

    run = ingest(path, [Path(log) for log in logs], separate=separate, rules=own_rules)
    return replace(run, settings=chosen.file, settings_inside=chosen.inside, settings_ignored=chosen.ignored)


def rule_tests(ids: Sequence[str] = (), rules: Sequence[Path] = ()) -> list[Outcome]:
    """Run the tests of the rules `ids` (none: of all, and of the user's patterns of log lines). In a checkout the
    healthy fixtures are asked too.

    Raises RuleError for an unknown id.
    """
    return rulecatalogue.rule_tests(ids, rules, lambda run: diagnose(run).features)


def diagnose(
    run: str | Path | Run,
    *,
    logs: Sequence[str | Path] = (),
    separate: bool = False,
    config: Path | None = None,
    rules: Sequence[Path] = (),
    symptoms: Sequence[str] = (),
    baseline: str | Path | Run | Diagnosis | None = None,
    history: Sequence[str | Path | Run] = (),
    case: Case | None = None,
    trust_run_settings: bool = False,
    checkpoints: bool = False,
    watch: Callable[[int, int], object] | None = None,
) -> Diagnosis:
    """Say what happened to one run, and why.

    - `run`: a path, or the result of `read_run`.
    - `logs`: job logs that belong to it. With `separate`, no other logs are looked for.
    - `config`: a loganalyst.yaml. Default: the nearest above the run, or in it with `trust_run_settings`.
    - `rules`: folders with rules of the user's own.
    - `symptoms`: what the user saw; it is checked against the logs (`summary["told_symptoms"]`).
    - `baseline`: a run to compare with (`Diagnosis.baseline`).
    - `history`: earlier attempts at this training, in order of time (`Diagnosis.restart`).
    - `case`: what a context file names. Its config is read with the run's; both its config and its code are searched
      for the settings that fixes change (`Fix.places`).
    - `checkpoints`: inspect the last checkpoints too (`Run.inspection`), which takes as long as reading them.
    - `watch`: called with the number of checkpoints that were inspected, and of all.

    Raises SourceError or RuleError.

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
    trusted: dict[str, Any] = {"config": config, "rules": rules, "trust_run_settings": trust_run_settings}
    earlier = [diagnose(one, separate=separate, **trusted) for one in history]
    found = _diagnosis(run, corrections(run, config), rules, symptoms, case or Case(), earlier=earlier)
    if baseline is None:
        return found
    if not isinstance(baseline, Diagnosis):
        baseline = diagnose(baseline, separate=separate, **trusted)
    from loganalyst.baseline import compare

    return replace(found, baseline=compare(found, baseline))


def _diagnosis(
    run: Run,
    corrected: Settings,
    rules: Sequence[Path],
    symptoms: Sequence[str],
    case: Case,
    *,
    earlier: Sequence[Diagnosis],
) -> Diagnosis:
    """The diagnosis of a run that was read, without a baseline. `earlier` are diagnoses of earlier attempts."""
    run = replace(run, config=pl.concat([run.config, *(t.config for path in case.config for t in read_settings(path))]))
    places, unsearched = setting_places((*case.config, *case.code))
    trainer = recognised(run, (*corrected.rules, *rules))
    curves, metrics = _curves(run, corrected, trainer)
    findings, coverage = signals.find(curves)
    context = _context(run, curves, findings, trainer)
    known = catalogue(tuple(rules), corrected.rules)
    measured = replace(
        _measured(context, metrics, coverage),
        settings_obeyed=rulecatalogue.obeyed(corrected, known, rules),
        settings_ignored=tuple(SettingsFile(file, settings.NOT_OBEYED) for file in run.settings_ignored),
    )
    found = diagnosis.conclude(
        measured,
        known,
        (*symptoms, *case.symptoms),
        accepted=corrected.accepted(run.path, run.name),
        origins=pattern_origins(corrected, rules),
        places=places,
        onsets=onsets(context),
    )
    found = diagnosis.advised(found, known, earlier)
    found = replace(found, notes=(*found.notes, *checking.setting_notes(found)))
    faults = (*_rule_faults(run, known, corrected, rules), *case.missing, *unsearched)
    return with_excerpts(replace(found, summary={**found.summary, "faults": faults}))


def _rule_faults(run: Run, known: Catalogue, corrected: Settings, rules: Sequence[Path]) -> tuple[str, ...]:
    """What could not be used of the user's own rules, patterns and trainers, and ignored findings that do not exist."""
    return (
        *known.problems,
        *pattern_faults(rules, corrected.rules),
        *trainer_faults(rules, corrected.rules),
        *corrected.unknown_ignores(known.rules, quoted=not run.settings_inside),
    )


def _curves(run: Run, corrected: Settings, trainer: Trainer | None) -> tuple[list[Curve], tuple[Metric, ...]]:
    try:
        return run_curves(run, corrected.corrections(), corrected.direction, corrected.loss_terms, trainer)
    except RuleError as error:
        raise (error.unquoted() if run.settings_inside else error) from None


def _context(run: Run, curves: Sequence[Curve], findings: pl.DataFrame, trainer: Trainer | None) -> Context:
    """What features are computed from. The states of its processes may say how the run ended."""
    context = Context(run, curves, findings, trainer)
    status = processstates.ended(run.status, context.processes)
    return context if status == run.status else Context(replace(run, status=status), curves, findings, trainer)


def _measured(context: Context, metrics: tuple[Metric, ...], coverage: Mapping[str, int]) -> Diagnosis:
    """All that is known of a run before it is judged."""
    return Diagnosis(
        run=context.run,
        status="insufficient_data",  # until it is judged
        confidence=0.0,
        metrics=metrics,
        coverage=coverage,
        sessions=sessions(context),
        processes=context.processes,
        summary=summarise(context.run, context.curves, context.training_kind),
        features=features.compute(context),
        findings=context.findings,
        curves=context.curves,
        trainer=context.trainer.title if context.trainer else None,
        training_kind=context.training_kind,
    )


def check(
    run: str | Path | Run,
    *,
    kind: str | None = None,
    config: Path | None = None,
    rules: Sequence[Path] = (),
    trust_run_settings: bool = False,
) -> SettingsCheck:
    """Say which settings of a run or of a config file cannot be right, are unusual, or should be recorded.

    - `run`: a run, or a file with settings alone: YAML, JSON, TOML, INI or printed arguments.
    - `kind`: the kind of training (`loganalyst.model.TRAINING_KINDS`), where the settings do not show it.
    - `config`, `rules`, `trust_run_settings`: as for `diagnose`.

    A setting that is not known is not judged. Raises SourceError or RuleError, and LogAnalystError for an unknown kind.

    >>> import loganalyst as la
    >>> found = la.check("fixtures/runs/nan-lr")
    >>> found.wrong, [(one.name, one.value) for one in found.facts][:2]
    (False, [('optimizer_family', 'sgd'), ('learning_rate', 0.0258)])
    """
    if kind is not None and kind not in TRAINING_KINDS:
        hint = nearest(kind, TRAINING_KINDS) or f"allowed are {', '.join(TRAINING_KINDS)}"
        raise LogAnalystError("kind", f"{kind!r} is no kind of training", hint)
    if not isinstance(run, Run):
        run = read_run(run, config=config, rules=rules, trust_run_settings=trust_run_settings)
    if kind is not None:
        run = replace(run, given={**run.given, "training_kind": kind, "training_kind_probability": 1.0})
    return checking.check(diagnose(run, config=config, rules=rules, trust_run_settings=trust_run_settings))


def diagnose_paths(paths: Sequence[Path], *, separate: bool = False, **options: Any) -> list[Diagnosis]:
    """Diagnose each path with the `options` of `diagnose`.

    A run directory followed by job logs is one run, and so is any run followed by accounting files, or by files that
    the `case` names as parts of one training, unless `separate`.
    A path that cannot be read, or whose loganalyst.yaml is not valid, gets a diagnosis of status `unreadable`; the
    others go on. Raises SourceError or RuleError for a missing `config` or folder of `rules`, and for a `config` that
    is not valid.
    """
    for folder in options.get("rules", ()):
        if not os.path.isdir(folder):
            raise RuleError(folder, "is no folder", "--rules takes a folder with rules of your own")
    if options.get("config"):
        settings.find(Path(), options["config"])
    case = options.get("case") or Case()
    groups: list[tuple[Path, list[Path]]] = []
    for path in paths:
        joins = os.path.isfile(path) and groups and not separate
        if joins and (os.path.isdir(groups[-1][0]) or path in case.one_training or accounting(path)):
            groups[-1][1].append(path)
        else:
            groups.append((path, []))
    return [d for run, logs in groups for d in _diagnosed(run, logs, {**options, "separate": separate})]


def _diagnosed(run: Path, logs: Sequence[Path], options: Mapping[str, Any]) -> list[Diagnosis]:
    """One diagnosis; where the run cannot be read, one more for each of its logs."""
    try:
        return [diagnose(run, logs=logs, **options)]
    except LogAnalystError as error:
        return [unreadable(run, error), *(d for log in logs for d in _diagnosed(log, (), options))]


def unreadable(path: Path, error: LogAnalystError) -> Diagnosis:
    """The answer where nothing could be read."""
    return Diagnosis(
        run=Run(path=path, name=path.name), status="unreadable", confidence=0.0, summary={"why": str(error)}
    )
