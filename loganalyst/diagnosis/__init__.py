"""Asks the rules and ranks the causes: a catalogue and a row of features in, a judgement out."""

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.catalogue import load as load_catalogue
from loganalyst.diagnosis.conclusion import conclude, rejudge
from loganalyst.diagnosis.healthyrange import places as healthy_places
from loganalyst.diagnosis.judged import Judged
from loganalyst.diagnosis.judgement import Judgement, band, diagnose, judge
from loganalyst.diagnosis.loweredcauses import lowered
from loganalyst.diagnosis.promises import expectations, symptoms
from loganalyst.diagnosis.restarting import advised
from loganalyst.diagnosis.ruleskeleton import skeleton
from loganalyst.diagnosis.ruletests import Outcome
from loganalyst.diagnosis.ruletests import check as check_rules

__all__ = [
    "Catalogue",
    "Judged",
    "Judgement",
    "Outcome",
    "advised",
    "band",
    "check_rules",
    "conclude",
    "diagnose",
    "expectations",
    "healthy_places",
    "judge",
    "load_catalogue",
    "lowered",
    "rejudge",
    "skeleton",
    "symptoms",
]
