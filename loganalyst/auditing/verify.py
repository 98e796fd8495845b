"""Did the fix help? Check each cause of an old run in the run that was made after the fix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loganalyst import pipeline
from loganalyst.auditing.fixhistory import learned
from loganalyst.baseline import Kinds, kinds
from loganalyst.errors import SourceError
from loganalyst.model import (
    Cause,
    CauseCheck,
    Change,
    Diagnosis,
    Expectation,
    Run,
    SymptomCheck,
    Verification,
    VerifyOutcome,
)
from loganalyst.store import Store

Outcome = Literal["fixed", "partly", "not", "cannot_tell"]
Answer = tuple[Outcome, str, tuple[str, ...]]  # the outcome, its reason, and the data that would be needed
COMPLETED = ("finished", "stopped_early")  # such a run got past the failure that ended the old one


def verify(
    old: str | Path | Run,
    new: str | Path | Run,
    *,
    store: str | Path | Store | None = None,
    config: Path | None = None,
    rules: Sequence[Path] = (),
    trust_run_settings: bool = False,
) -> Verification:
    """Diagnose both runs, and check whether each cause of `old` is fixed.

    A `store` keeps the outcome; a cause whose fixes failed three times there gets a lower confidence. `config`, `rules`
    and `trust_run_settings` are those of `diagnose`. Raises SourceError if a run cannot be read or `old` has nothing to
    verify; RuleError; StoreError.

    >>> import loganalyst as la
    >>> la.verify("fixtures/runs/divergence-lr", "fixtures/runs/healthy-mended-rate").checks[0].why
    '...'
    """
    opened = store if isinstance(store, Store) or store is None else Store(store)  # may raise StoreError
    trusted = trust_run_settings
    before = pipeline.diagnose(old, config=config, rules=rules, trust_run_settings=trusted)
    if not before.causes and not before.symptoms:
        what = f"nothing was found in this run that could be fixed ({before.status})"
        raise SourceError(before.run.path, what, "OLD is the run that failed, NEW the one after the fix")
    after = pipeline.diagnose(new, config=config, rules=rules, baseline=before, trust_run_settings=trusted)
    seen = pipeline.symptom_answers(after, config=config, rules=rules)
    promises = pipeline.expectations(before, after, config=config, rules=rules)
    found = _verification(_Pair(before, after, seen, promises, kinds()))
    return learned(found, opened) if opened else found


@dataclass(frozen=True)
class _Pair:
    """Both runs, the symptoms of the new run by id, and the promises of the fixes by cause of the old run."""

    old: Diagnosis
    new: Diagnosis
    seen: Mapping[str, bool | None]
    promises: Mapping[str, tuple[Expectation, ...]]
    kinds: Kinds

    @property
    def fresh(self) -> tuple[Cause, ...]:
        """The likely causes of the new run that the old run did not have."""
        known = {name for c in self.old.causes for name in (c.id, c.label)}
        return tuple(c for c in self.new.causes if c.verdict == "likely" and not {c.id, c.label} & known)

    @property
    def changes(self) -> Sequence[Change]:
        return self.new.baseline.changes if self.new.baseline else ()

    @property
    def settings_logged(self) -> bool:
        """Whether both runs logged their settings."""
        return self.new.baseline is not None and not self.new.baseline.not_logged


def _verification(pair: _Pair) -> Verification:
    checks = tuple(_check(cause, pair) for cause in pair.old.causes) or (_symptoms_alone(pair),)
    likely = [c.id for c in pair.old.causes if c.verdict == "likely"]
    counting = [check for check in checks if check.id in likely] or checks[:1]
    return Verification(
        pair.old, pair.new, _overall([c.outcome for c in counting], bool(pair.fresh)), checks, pair.fresh
    )


def _overall(outcomes: Sequence[Outcome], fresh: bool) -> VerifyOutcome:
    if "not" in outcomes or "partly" in outcomes:
        return "partly" if {"fixed", "partly"} & {*outcomes} else "not"
    if fresh:
        return "new_problem"
    return "cannot_tell" if "cannot_tell" in outcomes else "fixed"


def _check(cause: Cause, pair: _Pair) -> CauseCheck:
    """One cause: are the promises of its fixes kept, are its symptoms gone, was a fix applied?"""
    symptoms = _symptoms(cause.symptoms, pair)
    promises = pair.promises[cause.id]
    again = next((c.verdict for c in pair.new.causes if c.id == cause.id or c.label == cause.label), None)
    outcome, why, missing = _outcome(cause, pair, symptoms, again == "likely")
    of_kind = [c for c in pair.changes if cause.label in pair.kinds.kinds[c.kind].causes]
    mends = tuple(c for c in of_kind if pair.kinds.kinds[c.kind].mends(cause.label, c.way))
    named = any(cause.label in kind.causes and kind.section == "config" for kind in pair.kinds.kinds.values())
    return CauseCheck(
        id=cause.id,
        label=cause.label,
        issue=cause.issue,
        confidence=cause.confidence,
        outcome=outcome,
        why=why,
        expectations=promises,
        applied=True if mends else False if named and pair.settings_logged else None,
        changes=mends,
        against=tuple(c for c in of_kind if c not in mends),
        symptoms=symptoms,
        missing=missing,
    )


def _symptoms(ids: Sequence[str], pair: _Pair) -> tuple[SymptomCheck, ...]:
    """Whether each symptom is gone; a harmless one, such as a plateau at the end of training, counts as gone."""
    titles = {s.id: s.title for s in pair.old.symptoms}
    shown = {s.id for s in pair.new.symptoms}
    gone = {i: None if pair.seen.get(i) is None else i not in shown for i in ids}
    return tuple(SymptomCheck(i, titles.get(i, i), gone[i]) for i in ids)


def _symptoms_alone(pair: _Pair) -> CauseCheck:
    """The check of an old run without a cause: its symptoms only."""
    symptoms = _symptoms([s.id for s in pair.old.symptoms], pair)
    nothing = Cause("", "", "", "", 0.0, "low", "possible", "", "", (), (), onset_step=pair.old.symptoms[0].step)
    outcome, why, missing = _outcome(nothing, pair, symptoms, False)
    return CauseCheck("", "", "No cause was found", 0.0, outcome, why, symptoms=symptoms, missing=missing)


def _outcome(cause: Cause, pair: _Pair, symptoms: Sequence[SymptomCheck], again: bool) -> Answer:
    """The outcome for a cause; `again`: it is likely in the new run too."""
    promises = pair.promises.get(cause.id, ())
    gone, seen = ([s for s in symptoms if s.gone is state] for state in (True, False))
    kept = bool(promises) and all(p.holds for p in promises)
    broken = any(p.holds is False for p in promises)
    if again or (seen and (broken or not promises)):
        return (
            ("partly", "some symptoms are gone or promises kept, but the cause is still likely", ())
            if gone or kept
            else _still(seen)
        )
    others = {s for c in pair.fresh for s in c.symptoms}
    if seen and kept and others.issuperset(s.id for s in seen):
        return "fixed", f"the promise is kept; the symptoms that remain have another cause: {pair.fresh[0].issue}", ()
    if unknown := _cannot_tell(cause, pair, symptoms):
        return unknown
    if seen or broken:
        return "partly", "its symptoms remain" if seen else "its symptoms are gone, but its promise is not kept", ()
    return "fixed", "the promise is kept, and all symptoms are gone", ()


def _still(seen: Sequence[SymptomCheck]) -> Answer:
    titles = "; ".join(s.title for s in seen)
    return "not", f"its symptoms remain: {titles}" if titles else "the cause is still likely", ()


def _cannot_tell(cause: Cause, pair: _Pair, symptoms: Sequence[SymptomCheck]) -> Answer | None:
    """The answer if the new run does not show whether the cause is fixed; None if it does."""
    promises = pair.promises.get(cause.id, ())
    open_ = tuple(dict.fromkeys(name for p in promises for name in p.missing))
    if late := _too_short(cause, pair):
        return "cannot_tell", "the new run did not reach the step where this began", (late,)
    if pair.new.status in ("insufficient_data", "unreadable"):
        return "cannot_tell", "too little was logged in the new run", open_
    if any(s.gone is False for s in symptoms) or any(p.holds is False for p in promises):
        return None
    if open_ or not (promises or any(s.gone for s in symptoms)):
        unseen = tuple(s.title for s in symptoms if s.gone is None)
        return "cannot_tell", "the new run does not log what would show it", open_ or unseen
    return None


def _too_short(cause: Cause, pair: _Pair) -> str:
    """The length that the new run lacks to reach the step where the cause began; empty if it reached that step, or the
    step is unknown. A run that finished is past the failure that ended the old one.
    """
    at, last = cause.onset_step, pair.new.summary.get("last_step")
    if cause.line is not None and at is None:
        if pair.new.run.status in COMPLETED:
            return ""
        at = pair.old.summary.get("last_step")
    if at is None or at == 0 or (last is not None and last >= at):
        return ""
    return f"a run to past step {at:,}" + (
        f" (it ended at step {last:,})" if last is not None else " (no step is logged)"
    )
