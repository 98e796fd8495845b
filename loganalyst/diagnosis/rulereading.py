"""One rule file in, one checked rule out; every fault is noted with its line, not only the first."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from loganalyst.diagnosis.rule import (
    SEVERITIES,
    STATUSES,
    VERDICTS,
    ExperimentRule,
    FixTemplate,
    Item,
    NoteRule,
    NoteTest,
    OutcomeRule,
    Rule,
    RuleTest,
    SymptomRule,
)
from loganalyst.diagnosis.rulesql import Ask, ask, parsed
from loganalyst.diagnosis.texttemplate import Template, template
from loganalyst.errors import RuleError, nearest
from loganalyst.model import Feature, FeatureValue, Verdict
from loganalyst.model.labels import LABELS
from loganalyst.rulefiles import Keys, RuleFile

MAX_WEIGHT = 7.0  # |log-likelihood ratio|; e^7 is a thousandfold, more is never known so well

RULE = [
    "id",
    "title",
    "label",
    "status",
    "since",
    "family",
    "severity",
    "prior",
    "symptoms",
    "summary",
    "mechanism",
    "evidence",
    "fix",
    "will_not_fix",
    "tests",
]
RULE_OPTIONAL = ("applies_when", "explains", "side_effects", "prevention", "replay", "references")
ITEM = ("id", "kind", "ask", "weight", "says")
ITEM_OPTIONAL = ("group", "basis", "says_if_false", "otherwise", "at")
FIX = ("change", "expected_impact", "verify")
FIX_OPTIONAL = ("from", "to", "otherwise", "if_not", "expect")
WEIGHT = ("if_true", "if_false")
SYMPTOM = ("title", "ask", "says")
SYMPTOM_OPTIONAL = ("at", "metric", "core", "told")
EXPERIMENT = ("question", "outcomes")
EXPERIMENT_OPTIONAL = ("group", "limits")
NOTE = ("title", "ask", "says", "change", "tests")
NOTE_OPTIONAL = ("doubt", "perhaps", "blind")
NOTE_TEST = ("name", "shown", "features")

_PYTHON: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "bool": (bool,), "text": (str,)}
_EMPTY = Template("", ())
_NOTHING = ask("nothing", {"nothing": Feature("nothing", "bool", "", "", "")})
T = TypeVar("T")


@dataclass
class Reader:
    """Typed access to one file. A faulty part is noted in `faults` and a neutral value stands in for it."""

    file: RuleFile
    declared: Mapping[str, Feature]
    faults: list[RuleError] = field(default_factory=list)

    def note(self, at: Keys, what: str, allowed: str = "") -> None:
        """Note a fault at a path of keys."""
        self.faults.append(RuleError(self.file.where(*at), what, allowed))

    def attempt(self, default: T, do: Callable[..., T], *args: Any) -> T:
        """`do(*args)`, or the default where it raises RuleError (which is noted)."""
        try:
            return do(*args)
        except RuleError as error:
            self.faults.append(error)
            return default

    def keys(self, at: Keys, required: Collection[str], optional: Collection[str] = ()) -> bool:
        """Whether the node is a mapping that can be read on (its keys are checked)."""
        self.attempt(None, self.file.check_keys, at, required, optional)
        return isinstance(self.file.get(at), dict)

    def value(self, at: Keys) -> Any:
        """The node, or None where it is absent."""
        node = self.file.get(at[:-1])
        return node.get(at[-1]) if isinstance(node, dict) else node[at[-1]]

    def text(self, at: Keys, default: str = "") -> str:
        """A text; noted where it is something else or empty. Line breaks become blanks."""
        value = self.value(at)
        if value is None:
            return default
        if not isinstance(value, str) or not value.strip():
            self.note(at, f"{at[-1]} is {value!r}", "a text is needed (in quotes where it looks like something else)")
            return default
        return " ".join(value.split())

    def choice(self, at: Keys, allowed: Collection[str], default: str = "") -> str:
        """A text out of a fixed set."""
        value = self.text(at, default)
        if value and value not in allowed:
            hint = nearest(value, allowed) or f"allowed are {', '.join(sorted(allowed))}"
            self.note(at, f"{at[-1]} is {value!r}", hint)
        return value

    def number(self, at: Keys, low: float, high: float) -> float:
        """A finite number within [low, high]; NaN stands in for a faulty one."""
        value = self.value(at)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self.note(at, f"{at[-1]} is {value!r}", f"a number from {low:g} to {high:g} is needed")
            return math.nan
        return float(value)

    def flag(self, at: Keys) -> bool:
        """True or false; an absent one is false."""
        value = self.value(at)
        if value is not None and not isinstance(value, bool):
            self.note(at, f"{at[-1]} is {value!r}", "true or false is needed")
        return value is True

    def items(self, at: Keys) -> list[Keys]:
        """The paths of a list's entries; an absent list has none."""
        value = self.value(at)
        if value is None:
            return []
        if not isinstance(value, list):
            self.note(at, f"{at[-1]} is a {type(value).__name__}", "a list is needed")
            return []
        return [(*at, i) for i in range(len(value))]

    def texts(self, at: Keys) -> tuple[str, ...]:
        """A list of texts, each once."""
        found = tuple(self.text(key) for key in self.items(at))
        if len(set(found)) < len(found):
            self.note(at, f"{at[-1]} names something twice")
        return found

    def ask(self, at: Keys) -> Ask | None:
        """A fenced question, which polars has not seen yet, or None where absent or faulty."""
        text = self.text(at)
        return self.attempt(None, parsed, text, self.declared, self.file.where(*at)) if text else None

    def template(self, at: Keys) -> Template | None:
        """A text with placeholders, or None where absent or faulty."""
        text = self.text(at)
        return self.attempt(None, template, text, self.declared, self.file.where(*at)) if text else None

    def feature(self, at: Keys, *, text: bool = False) -> str | None:
        """The name of a declared feature (of type text where asked so), or None where absent."""
        name = self.text(at)
        if name and name not in self.declared:
            self.note(at, f"{name!r} is no feature", nearest(name, self.declared) or "a declared feature is needed")
        elif name and text and self.declared[name].dtype != "text":
            self.note(at, f"{name} is no text feature", "the feature that holds the metric's name is needed")
        return name or None


def rule(reader: Reader) -> Rule | None:
    """The rule of a file; None where it is not even a mapping. Whether it is sound, `reader.faults` tells."""
    if not reader.keys((), RULE, RULE_OPTIONAL):
        return None
    path = reader.file.path
    text = reader.text
    if (name := text(("id",))) and name != path.stem:
        reader.note(("id",), f"id is {name!r}", f"the file's name is needed: {path.stem!r}")
    for key in ("symptoms", "evidence", "fix", "tests"):
        if reader.value((key,)) == []:
            reader.note((key,), f"{key} is empty", "at least one is needed")
    items = tuple(filter(None, (_item(reader, at) for at in reader.items(("evidence",)))))
    if len({i.id for i in items}) < len(items):
        reader.note(("evidence",), "two items have the same id")
    return Rule(
        id=name,
        title=text(("title",)),
        label=reader.choice(("label",), LABELS),
        status=reader.choice(("status",), STATUSES),
        since=text(("since",)),
        family=text(("family",)),
        severity=reader.choice(("severity",), SEVERITIES),
        prior=reader.number(("prior",), 0.0001, 0.9),
        applies_when=reader.ask(("applies_when",)),
        symptoms=reader.texts(("symptoms",)),
        summary=text(("summary",)),
        mechanism=text(("mechanism",)),
        evidence=items,
        explains=reader.texts(("explains",)),
        fix=tuple(filter(None, (_fix(reader, at) for at in reader.items(("fix",))))),
        will_not_fix=text(("will_not_fix",)),
        side_effects=text(("side_effects",)),
        prevention=text(("prevention",)),
        replay=tuple(weights := _replay(reader)),
        replay_weights={name: own for name, own in weights.items() if own},
        references=reader.texts(("references",)),
        tests=tuple(filter(None, (_test(reader, at) for at in reader.items(("tests",))))),
        path=path,
    )


def _replay(reader: Reader) -> dict[str, dict[str, float]]:
    """The experiments that a rule names, each with the weights of its outcomes, if the rule brings its own."""
    if not isinstance(named := reader.value(("replay",)), dict):
        return {name: {} for name in reader.texts(("replay",))}
    return {name: _numbers(reader, ("replay", name), MAX_WEIGHT) for name in named}


def symptoms(reader: Reader) -> dict[str, SymptomRule]:
    """The sound symptoms of a symptoms.yaml, by id."""
    return _by_id(reader, _symptom, SYMPTOM, SYMPTOM_OPTIONAL)


def notes(reader: Reader) -> dict[str, NoteRule]:
    """The sound notes of a notes.yaml, by id."""
    return _by_id(reader, _note, NOTE, NOTE_OPTIONAL)


def experiments(reader: Reader) -> dict[str, ExperimentRule]:
    """The sound experiments of a replay.yaml, by id."""
    return _by_id(reader, _experiment, EXPERIMENT, EXPERIMENT_OPTIONAL)


def _by_id(
    reader: Reader, read: Callable[[Reader, str], T], required: Collection[str], optional: Collection[str]
) -> dict[str, T]:
    """The sound entries of a file that holds several."""
    if not reader.keys((), (), reader.file.data if isinstance(reader.file.data, dict) else ()):
        return {}
    found = {}
    for id_ in reader.file.data:
        before = len(reader.faults)
        entry = read(reader, id_) if reader.keys((id_,), required, optional) else None
        if entry is not None and len(reader.faults) == before:
            found[id_] = entry
    return found


def _experiment(reader: Reader, id_: str) -> ExperimentRule:
    outcomes = reader.value((id_, "outcomes"))
    if not isinstance(outcomes, dict) or not outcomes:
        reader.note((id_, "outcomes"), "outcomes is no mapping", "what may be found, each with means and weights")
        outcomes = {}
    return ExperimentRule(
        id=id_,
        question=reader.text((id_, "question")),
        group=reader.text((id_, "group"), id_),
        limits=_numbers(reader, (id_, "limits"), math.inf) if reader.value((id_, "limits")) is not None else {},
        outcomes={name: _outcome(reader, (id_, "outcomes", name)) for name in outcomes},
    )


def _outcome(reader: Reader, at: Keys) -> OutcomeRule:
    if not reader.keys(at, ("means", "weights")):
        return OutcomeRule("", {})
    return OutcomeRule(reader.text((*at, "means")), _numbers(reader, (*at, "weights"), MAX_WEIGHT))


def _numbers(reader: Reader, at: Keys, most: float) -> dict[str, float]:
    """A mapping of names to numbers of at most this size."""
    names = reader.value(at)
    if not isinstance(names, dict):
        reader.note(at, f"{at[-1]} is {names!r}", "names with numbers are needed")
        return {}
    return {name: reader.number((*at, name), -most, most) for name in names}


def _note(reader: Reader, id_: str) -> NoteRule:
    return NoteRule(
        id=id_,
        title=reader.text((id_, "title")),
        ask=reader.ask((id_, "ask")) or _NOTHING,
        says=reader.template((id_, "says")) or _EMPTY,
        change=reader.template((id_, "change")) or _EMPTY,
        tests=tuple(filter(None, (_note_test(reader, at) for at in reader.items((id_, "tests"))))),
        doubt=reader.number((id_, "doubt"), 0.0, MAX_WEIGHT) if reader.value((id_, "doubt")) is not None else 0.0,
        perhaps=reader.texts((id_, "perhaps")),
        blind=reader.flag((id_, "blind")),
    )


def _note_test(reader: Reader, at: Keys) -> NoteTest | None:
    if not reader.keys(at, NOTE_TEST):
        return None
    shown = reader.value((*at, "shown"))
    if not isinstance(shown, bool):
        reader.note((*at, "shown"), f"shown is {shown!r}", "true or false is needed")
    return NoteTest(reader.text((*at, "name")), shown is True, _features(reader, (*at, "features")))


def _symptom(reader: Reader, id_: str) -> SymptomRule:
    return SymptomRule(
        id=id_,
        title=reader.text((id_, "title")),
        ask=reader.ask((id_, "ask")) or _NOTHING,
        says=reader.template((id_, "says")) or _EMPTY,
        at=reader.feature((id_, "at")),
        metric=reader.feature((id_, "metric"), text=True),
        core=reader.texts((id_, "core")),
        told=reader.texts((id_, "told")),
    )


def _item(reader: Reader, at: Keys) -> Item | None:
    if not reader.keys(at, ITEM, ITEM_OPTIONAL):
        return None
    kind = reader.choice((*at, "kind"), ("direct", "circumstantial"))
    if_true, if_false = _weight(reader, (*at, "weight"))
    return Item(
        id=reader.text((*at, "id")),
        kind="direct" if kind == "direct" else "circumstantial",
        group=reader.text((*at, "group"), reader.text((*at, "id"))),
        ask=reader.ask((*at, "ask")) or _NOTHING,
        if_true=if_true,
        if_false=if_false,
        basis=_basis(reader, (*at, "basis")),
        says=reader.template((*at, "says")) or _EMPTY,
        says_if_false=reader.template((*at, "says_if_false")),
        otherwise=reader.template((*at, "otherwise")),
        at=reader.feature((*at, "at")),
    )


def _basis(reader: Reader, at: Keys) -> Literal["measured", "judged"]:
    return "measured" if reader.choice(at, ("measured", "judged"), "judged") == "measured" else "judged"


def _weight(reader: Reader, at: Keys) -> tuple[float, float]:
    """Both log-likelihood ratios. By their definition one answer speaks for the cause and the other against it."""
    if reader.value(at) is None or not reader.keys(at, WEIGHT) or set(reader.value(at)) != set(WEIGHT):
        return 0.0, 0.0
    true, false = ratios(reader, at)
    if true * false > 0 or true == false == 0:
        hint = "one answer speaks for the cause, the other against it (or says nothing)"
        reader.note(at, f"weights {true:g} and {false:g}", hint)
    return true, false


def ratios(reader: Reader, at: Keys) -> tuple[float, float]:
    """The two numbers of a weight."""
    true, false = (reader.number((*at, key), -MAX_WEIGHT, MAX_WEIGHT) for key in WEIGHT)
    return true, false


def _fix(reader: Reader, at: Keys) -> FixTemplate | None:
    if not reader.keys(at, FIX, FIX_OPTIONAL):
        return None
    return FixTemplate(
        change=reader.template((*at, "change")) or _EMPTY,
        expected_impact=reader.template((*at, "expected_impact")) or _EMPTY,
        verify=reader.template((*at, "verify")) or _EMPTY,
        start=reader.template((*at, "from")),
        goal=reader.template((*at, "to")),
        otherwise=reader.template((*at, "otherwise")),
        if_not=reader.template((*at, "if_not")),
        expect=reader.ask((*at, "expect")),
    )


def _test(reader: Reader, at: Keys) -> RuleTest | None:
    if not reader.keys(at, ("name", "expect"), ("features", "run")):
        return None
    node = reader.file.get(at)
    if ("features" in node) == ("run" in node):
        reader.note(at, "a test has either features or run")
    verdicts: tuple[Verdict, ...] = ()
    if reader.keys((*at, "expect"), ("verdict",)):
        verdicts = _verdicts(reader, (*at, "expect", "verdict"))
    features = _features(reader, (*at, "features")) if "features" in node else None
    return RuleTest(reader.text((*at, "name")), verdicts, features, reader.text((*at, "run")) or None)


def _verdicts(reader: Reader, at: Keys) -> tuple[Verdict, ...]:
    value = reader.value(at)
    names = value if isinstance(value, list) else [value]
    for name in names:
        if name not in VERDICTS:
            reader.note(at, f"verdict {name!r}", f"allowed are {', '.join(VERDICTS)}, or a list of them")
    return tuple(v for v in VERDICTS if v in names)


def _features(reader: Reader, at: Keys) -> dict[str, FeatureValue]:
    """A test's feature values, each declared and of its type (null: not known)."""
    if not reader.keys(at, (), reader.declared):
        return {}
    given = {name: value for name, value in reader.value(at).items() if name in reader.declared}
    for name, value in given.items():
        dtype = reader.declared[name].dtype
        fits = isinstance(value, _PYTHON[dtype]) and isinstance(value, bool) == (dtype == "bool")
        if value is not None and not fits:
            hint = f"a value of type {dtype} is needed (YAML: 1.0e-3, not 1e-3)"
            reader.note((*at, name), f"{name} is {value!r}", hint)
    return given
