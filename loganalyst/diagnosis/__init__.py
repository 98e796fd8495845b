"""Asks the rules and ranks the causes: a catalogue and a row of features in, a judgement out."""

from loganalyst.diagnosis.judgement import Judgement, diagnose, judge

__all__ = ["Judgement", "diagnose", "judge"]
