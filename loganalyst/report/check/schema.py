"""The JSON Schema of `check --format json`."""

from loganalyst.model import CheckedSetting, MissingSetting, SettingFinding, SettingsCheck, TrainingKind, UsualSetting
from loganalyst.report.check.screen import SCHEMA_ID
from loganalyst.report.common.schemaparts import (
    BOOLEAN,
    LEFT_OUT,
    NULL,
    NUMBER,
    QUOTED,
    SHARE,
    TEXT,
    Json,
    document,
    listed,
    object_,
    object_of,
)

__all__ = ["schema"]

_VALUE: Json = {"anyOf": [TEXT, BOOLEAN, *NUMBER["anyOf"], NULL], "description": "Null: not known."}


def schema() -> Json:
    """The schema of the one object that `check` prints."""
    setting = object_of(
        CheckedSetting,
        value=_VALUE,
        key="As the config writes it; null: worked out or logged.",
        file="Where it stands.",
    )
    finding = object_of(
        SettingFinding,
        severity={"enum": ["wrong", "unusual", "record"], "description": "wrong: it cannot be right."},
        text="What was found.",
        usual="Which values are usual.",
        why="What follows from it.",
        change="What to set instead.",
        settings=listed(setting, "The values that it is about."),
    )
    whole = object_of(
        SettingsCheck,
        settings="How many settings were read.",
        kind={"anyOf": [object_of(TrainingKind, probability=SHARE), NULL]},
        facts=listed(setting, "What describes the training."),
        findings=listed(finding, "The worst first."),
        usual=listed(object_of(UsualSetting, setting=setting), "Settings within their usual range."),
        missing=listed(object_of(MissingSetting, keys="Some names of it."), "Looked for and not found."),
        faults="Faults of settings files and rules.",
    )
    fields = whole["properties"]
    wrong = {**BOOLEAN, "description": "A setting cannot be right."}
    optional = ("left_out", "quoted")
    body = object_(optional, schema={"const": SCHEMA_ID}, wrong=wrong, **fields, left_out=LEFT_OUT, quoted=QUOTED)
    return document(SCHEMA_ID, "What the settings of a training say", body)
