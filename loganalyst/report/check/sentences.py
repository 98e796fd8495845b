"""The parts of a report on settings as words, the same in every renderer."""

from loganalyst.model import (
    CheckedSetting,
    MissingSetting,
    Publication,
    SettingFinding,
    SettingsCheck,
    UsualSetting,
    amount,
)
from loganalyst.report.common.wording import clean, count, percent

__all__ = ["described", "found_and_usual", "headline", "kind", "missing", "short_source", "source", "usual"]

# how a fact is worded: a text for `{}`, or the name of the fact
TOLD = {
    "model_size": "{} parameters",
    "embedding_share": "{} of them in the embedding",
    "adapters": "LoRA adapters",
    "base_model": "starts from {}",
    "optimizer_family": "{}",
    "learning_rate": "rate {}",
    "batch_total": "{} samples an update",
    "tokens_per_update": "{} tokens an update",
    "tokens_planned": "{} tokens planned",
    "tokens_per_parameter": "{} tokens a parameter",
    "data_passes": "passes over the data: {}",
    "warmup_share": "warm-up {} of the run",
    "precision_kind": "{}",
}
SHARES = ("embedding_share", "warmup_share")
NAMES = {"adam": "Adam", "sgd": "SGD", "lion": "Lion", "muon": "Muon", "adafactor": "Adafactor", "rmsprop": "RMSprop"}
_UNITS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def headline(found: SettingsCheck) -> tuple[str, str]:
    """The verdict in a sentence, and its weight: wrong, unusual or fine."""
    wrong = sum(f.severity == "wrong" for f in found.findings)
    unusual = sum(f.severity == "unusual" for f in found.findings)
    parts = [count(wrong, "setting") + " cannot be right"] if wrong else []
    if unusual:
        parts.append(f"{unusual:,} {'is' if unusual == 1 else 'are'} unusual" if wrong else _unusual(unusual))
    if parts:
        return ", ".join(parts), "wrong" if wrong else "unusual"
    if not found.usual:
        return "Nothing to compare: no setting with a known range was found", "unusual"
    return f"Nothing wrong or unusual among {count(len(found.usual), 'setting')} with a known range", "fine"


def _unusual(n: int) -> str:
    return "1 setting is unusual" if n == 1 else f"{n:,} settings are unusual"


def kind(found: SettingsCheck) -> str:
    """The kind of training with its probability, and how many settings were read."""
    read = f"{count(found.settings, 'setting')} read"
    if found.kind is None:
        return f"Kind of training not known · {read}"
    meaning = found.kind.meaning[:1].upper() + found.kind.meaning[1:]
    unsure = "" if found.kind.sure else ", not sure"
    return f"{meaning} ({percent(found.kind.probability)}{unsure}) · {read}"


def described(found: SettingsCheck) -> str:
    """The training in one line."""
    return " · ".join(_told(fact) for fact in found.facts)


def _told(fact: CheckedSetting) -> str:
    return TOLD.get(fact.name, f"{fact.meaning} {{}}").format(_value(fact))


def _value(fact: CheckedSetting) -> str:
    """The value for people."""
    value = fact.value
    if fact.name in SHARES and isinstance(value, float):
        return f"{value:.1%}".replace(".0%", "%").replace("%", " %")
    if isinstance(value, str):
        return clean(NAMES.get(value, value), 80)
    return "" if value is None or isinstance(value, bool) else _number(value)


def _number(value: float) -> str:
    """A number; from a million on in words."""
    for unit, name in _UNITS:
        if abs(value) >= unit:
            return f"{value / unit:.3g} {name}"
    return amount(value if float(value).is_integer() else float(f"{value:.4g}"))


def found_and_usual(finding: SettingFinding) -> str:
    """What was found, where, and what is usual."""
    files = dict.fromkeys(clean(s.file, 60) for s in finding.settings if s.file)
    where = f" ({', '.join(files)})" if files else ""
    usual = f"; usual: {finding.usual}" if finding.usual else ""
    return f"{clean(finding.text, 300)}{where}{usual}"


def usual(one: UsualSetting) -> tuple[str, str, str]:
    """A setting within its range: what it is, its value, and the range."""
    return one.title, _value(one.setting), one.usual


def missing(one: MissingSetting) -> str:
    """A setting that was not found, with names under which it was looked for."""
    return one.meaning + (f" ({', '.join(one.keys[:2])} …)" if one.keys else "")


def source(one: Publication) -> str:
    """A publication in one line."""
    return f"{one.author} {one.year}, {one.title}, {one.url}"


def short_source(one: Publication) -> str:
    """A publication by author, year and address."""
    return f"{one.author} {one.year} {one.url}"
