"""What is asked of a run after its diagnosis: other evidence, the promises of its fixes, its symptoms, its place among
healthy runs. Each answer is by the rules that judged it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from loganalyst import diagnosis, settings
from loganalyst.diagnosis import Judged
from loganalyst.model import Diagnosis, Evidence, Expectation, HealthyPlace, Run
from loganalyst.rulecatalogue import catalogue
from loganalyst.settings import Settings
from loganalyst.sources.files.excerpt import excerpts
from loganalyst.sources.text.patterns import userpatterns


def rejudged(
    found: Diagnosis,
    measured: Mapping[str, Sequence[Evidence]],
    *,
    config: Path | None = None,
    rules: Sequence[Path] = (),
) -> tuple[Diagnosis, dict[str, Judged]]:
    """The diagnosis with evidence from outside of the logs, such as a replay, by rule id; and how every rule is judged
    then, the likeliest first. The rules that judged `found` judge again.
    """
    corrected = corrections(found.run, config)
    again, judged = diagnosis.rejudge(
        found,
        catalogue(tuple(rules), corrected.rules),
        measured,
        accepted=corrected.accepted(found.run.path, found.run.name),
        origins=pattern_origins(corrected, rules),
    )
    return with_excerpts(again), judged


def expectations(
    old: Diagnosis, new: Diagnosis, *, config: Path | None = None, rules: Sequence[Path] = ()
) -> dict[str, tuple[Expectation, ...]]:
    """The promises of the fixes for each cause of `old` (by id), checked in `new`; with the rules that judged `old`."""
    known = catalogue(tuple(rules), corrections(old.run, config).rules)
    return {c.id: diagnosis.expectations(known, c.id, old.features.values, new.features) for c in old.causes}


def symptom_answers(
    run: Diagnosis, *, config: Path | None = None, rules: Sequence[Path] = ()
) -> Mapping[str, bool | None]:
    """Every symptom by id: seen, looked for and not seen, or not known (None)."""
    known = catalogue(tuple(rules), corrections(run.run, config).rules)
    return diagnosis.symptoms(known, run.features)


def healthy_places(
    run: Diagnosis, *, config: Path | None = None, rules: Sequence[Path] = ()
) -> Mapping[str, HealthyPlace]:
    """Where the features of a run lie among healthy runs of its kind, of which there are enough; else among all kinds.

    >>> import loganalyst as la
    >>> places = healthy_places(la.diagnose("fixtures/runs/nan-lr"))
    >>> places["train_loss_nonfinite_count"].below
    0.995
    """
    known = catalogue(tuple(rules), corrections(run.run, config).rules)
    return diagnosis.healthy_places(known, run.features)


def corrections(run: Run, config: Path | None) -> Settings:
    """The settings that hold for a run: those it was read with, else the file `config`. Raises RuleError."""
    return settings.Chosen(str(config)).read() if config else settings.Chosen(run.settings, run.settings_inside).read()


def with_excerpts(found: Diagnosis) -> Diagnosis:
    """The diagnosis with the lines of files around those that its causes name."""
    return replace(found, excerpts=excerpts(found.run, [(c.file, c.line) for c in found.causes]))


def pattern_origins(corrected: Settings, rules: Sequence[Path]) -> dict[str, str]:
    """The files that hold the user's own patterns of log lines, by id."""
    return userpatterns.origins(userpatterns.find((*corrected.rules, *rules)))
