"""The types every step shares: tables of what was read, findings, features, and the diagnosis they lead to.

Column schemas are the contract between readers, the store and `loganalyst query`. NULL means not known;
NaN and ±Inf are data and stay.
"""

from loganalyst.model.baseline import Baseline, Change, Direction, Parted, Suspect, Way
from loganalyst.model.causes import (
    Cause,
    Decider,
    Evidence,
    Fix,
    Note,
    Place,
    QuickFix,
    RuledOut,
    Symptom,
    Told,
    Verdict,
)
from loganalyst.model.diagnosis import Diagnosis, Excerpt, Onset, SessionSummary, Status, TimelineEvent
from loganalyst.model.features import Feature, Features, FeatureValue, Witness
from loganalyst.model.inspection import (
    CheckpointChange,
    CheckpointScan,
    Inspection,
    InspectionFinding,
    InspectionKind,
    ModuleShare,
    OptimizerScan,
    TensorChange,
    TensorStats,
    TensorVerdict,
)
from loganalyst.model.replay import Experiment, Hypothesis, HypothesisVerdict, Measured, Replay, ReplayEnd
from loganalyst.model.run import Run, RunStatus, Source
from loganalyst.model.signals import ChangePoint, Curve, Kind, Metric, Role
from loganalyst.model.tables import SCHEMAS, Tables, Time, constant, table
from loganalyst.model.verification import (
    CauseCheck,
    Expectation,
    Lesson,
    SymptomCheck,
    Truth,
    Verification,
    VerifyOutcome,
)

__all__ = [
    "SCHEMAS",
    "Baseline",
    "Cause",
    "CauseCheck",
    "Change",
    "ChangePoint",
    "CheckpointChange",
    "CheckpointScan",
    "Curve",
    "Decider",
    "Diagnosis",
    "Direction",
    "Evidence",
    "Excerpt",
    "Expectation",
    "Experiment",
    "Feature",
    "FeatureValue",
    "Features",
    "Fix",
    "Hypothesis",
    "HypothesisVerdict",
    "Inspection",
    "InspectionFinding",
    "InspectionKind",
    "Kind",
    "Lesson",
    "Measured",
    "Metric",
    "ModuleShare",
    "Note",
    "Onset",
    "OptimizerScan",
    "Parted",
    "Place",
    "QuickFix",
    "Replay",
    "ReplayEnd",
    "Role",
    "RuledOut",
    "Run",
    "RunStatus",
    "SessionSummary",
    "Source",
    "Status",
    "Suspect",
    "Symptom",
    "SymptomCheck",
    "Tables",
    "TensorChange",
    "TensorStats",
    "TensorVerdict",
    "Time",
    "TimelineEvent",
    "Told",
    "Truth",
    "Verdict",
    "Verification",
    "VerifyOutcome",
    "Way",
    "Witness",
    "constant",
    "table",
]
