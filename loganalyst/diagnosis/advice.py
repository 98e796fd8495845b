"""Fixes filled with the run's values, and the reasons why rules were ruled out."""

from collections.abc import Iterator, Mapping

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answer, Answers, first_known
from loganalyst.diagnosis.judged import Judged
from loganalyst.diagnosis.kindcap import foreign
from loganalyst.diagnosis.rule import FixTemplate, Item, Rule
from loganalyst.model import Alternative, FeatureValue, Fix, RuledOut

NAMES_ANOTHER = "the log names another fault"
LOG_WORDS = "log_root_"  # prefix of features about the line that names the fault


def offered(rule: Rule, answers: Answers) -> tuple[FixTemplate, ...]:
    """The rule's fixes that suit the run."""
    return tuple(fix for fix in rule.fix if fix.suits(answers.conditions))


def fixes(rule: Rule, answers: Answers) -> tuple[Fix, ...]:
    """The rule's fixes that suit the run. A fix whose change cannot be filled, without `otherwise`, is left out."""
    values = answers.values
    return tuple(
        Fix(
            change=change,
            expected_impact=first_known([fix.expected_impact], values),
            verify=first_known([fix.verify], values),
            if_not=first_known([fix.if_not], values),
        )
        for fix in offered(rule, answers)
        if (change := change_text(fix, values))
    )


def change_text(fix: FixTemplate, values: Mapping[str, FeatureValue]) -> str:
    """`change from → to`, as far as known; `otherwise` where the change or its goal is not known."""
    change = fix.change.render(values)
    goal = fix.goal.render(values) if fix.goal else None
    if change is None or (fix.goal and goal is None and fix.otherwise):
        return first_known([fix.otherwise], values)
    start = first_known([fix.start], values)
    return " ".join(filter(None, (change, start, goal and f"→ {goal}")))


def ruled_out(judged: Judged, answers: Answers, catalogue: Catalogue) -> RuledOut:
    """A rule that is no cause here, and why. It is no rival if all that it lacks is a line of the log."""
    rule = judged.rule
    rival = bool(judged.seen) and not lacks_line(judged, answers)
    return RuledOut(rule.id, rule.title, judged.verdict, _reason(judged, answers, catalogue), rival, rule.label)


def lacks_line(judged: Judged, answers: Answers) -> bool:
    """Whether the strongest evidence against it is that no line of the log names it as the fault."""
    strongest = next(iter(_contrary(judged, answers)), None)
    if strongest is None:
        return False
    item, holds = strongest
    return holds is False and any(f.startswith(LOG_WORDS) for f in item.ask.features)


def names_fault(answers: Answers) -> bool:
    """Whether a line of the log names a fault."""
    return answers.values.get("log_root_label") not in (None, "none")


def alternative(judged: Judged, answers: Answers, catalogue: Catalogue) -> Alternative:
    """A rule that is less likely than the stated causes, with the evidence for it, the strongest first."""
    rule, holds = judged.rule, answers.items[judged.rule.id]
    rows = sorted(zip(judged.counted, rule.evidence, holds, strict=True), key=lambda row: -row[0])
    texts = [first_known([i.says if h else i.says_if_false], answers.values) for w, i, h in rows if w > 0]
    return Alternative(
        rule.id,
        rule.title,
        rule.label,
        judged.confidence,
        tuple(filter(None, texts)),
        _reason(judged, answers, catalogue),
    )


def _reason(judged: Judged, answers: Answers, catalogue: Catalogue) -> str:
    rule = judged.rule
    if judged.verdict == "not_applicable":
        kind, condition = foreign(rule, answers.values), rule.applies_when.text if rule.applies_when else ""
        return (
            f"does not apply to this kind of training ({kind})"
            if kind
            else f"does not apply: {condition} is not the case"
        )
    if judged.verdict == "unknown":
        return _needs(judged, answers, catalogue)
    if not judged.seen:
        titles = ", ".join(catalogue.symptoms[s].title for s in rule.symptoms)
        return f"none of its symptoms is seen ({titles})"
    return _why_not(judged, answers)


def _why_not(judged: Judged, answers: Answers) -> str:
    """Why a rule whose symptom is seen is no cause."""
    if lacks_line(judged, answers) and names_fault(answers):
        return NAMES_ANOTHER
    if stated := against(judged, answers):
        return stated
    if judged.contradicted:
        return "the evidence is against it"
    return "another cause of the same symptom is likelier" if judged.supported else "nothing supports it"


def _contrary(judged: Judged, answers: Answers) -> list[tuple[Item, Answer]]:
    """The items that count against the rule with their answers, the strongest first."""
    rows = zip(judged.counted, judged.rule.evidence, answers.items[judged.rule.id], strict=True)
    return [(item, holds) for weight, item, holds in sorted(rows, key=lambda row: row[0]) if weight < 0]


def against(judged: Judged, answers: Answers) -> str:
    """The strongest evidence against the rule that has a text. The others may assume what the strongest denies."""
    return next((text for _, text in _contrary_texts(judged, answers)), "")


def excluding(judged: Judged, answers: Answers) -> bool:
    """Whether the evidence that `against` states excludes the rule: a sign that is missing alone does not."""
    return next((item.rules_out for item, _ in _contrary_texts(judged, answers)), False)


def _contrary_texts(judged: Judged, answers: Answers) -> Iterator[tuple[Item, str]]:
    """The items that count against the rule and have a text, with that text, the strongest first."""
    for item, holds in _contrary(judged, answers):
        if text := first_known([item.says if holds else item.says_if_false], answers.values):
            yield item, text


def _needs(judged: Judged, answers: Answers, catalogue: Catalogue) -> str:
    """What must be logged to resolve an unknown verdict: whether the rule applies, its evidence, or its symptoms."""
    rule = judged.rule
    if rule.applies_when and answers.applies[rule.id] is None:
        return answers.needed(answers.missing([rule.applies_when]), catalogue.declared)
    items = [i.ask for i, holds in zip(rule.evidence, answers.items[rule.id], strict=True) if holds is None]
    if len(items) == len(rule.evidence):
        return answers.needed(answers.missing(items), catalogue.declared)
    symptoms = [catalogue.symptoms[s].ask for s in rule.symptoms if answers.symptoms[s] is None]
    return answers.needed(answers.missing(symptoms), catalogue.declared)
