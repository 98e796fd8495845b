"""Features of unusual pauses in logging, and of silence before the end."""

import json
from datetime import datetime

import numpy as np
import polars as pl

from loganalyst.curves.logtimes import LONG_PAUSE, Pauses, pauses
from loganalyst.features.context import Computed, Context, witness_at
from loganalyst.model import Feature, Run, Witness
from loganalyst.patterntraits import having

NEEDS = "times of the logged rows (timestamps in the lines, or a tracker)"
END = "times of the logged rows, and when the job ended (SLURM accounting, or a log with timestamps)"
RANKS = "logs with timestamps, one for each rank or node"
FEATURES = (
    Feature("log_pause_s", "float", "s", "usual time between two logged rows", NEEDS),
    Feature("stall_count", "int", "events", "pauses far longer than usual, without evaluations, checkpoints and pauses that recur at equal distances (0 = none found)", NEEDS),
    Feature("stall_step", "int", "step", "step after the longest stall", NEEDS),
    Feature("stall_s", "float", "s", "length of the longest stall", NEEDS),
    Feature("stall_ratio", "float", "", "length of the longest stall divided by the length expected there", NEEDS),
    Feature("stall_share", "float", "share", "share of the logged time spent in stalls", NEEDS),
    Feature("end_is_regular", "bool", "", "a log, a tracker or the scheduler states that the run finished or stopped on purpose", "run"),
    Feature("end_by_time_limit", "bool", "", "a log, a tracker or the scheduler states that the time limit ended the run", "run"),
    Feature("log_ends_mid_line", "bool", "", "the last line of the job log is incomplete and no progress bar", "the job log"),
    Feature("log_cut_text", "text", "", "end of the incomplete line", "the job log"),
    Feature("log_cut_at_buffer", "bool", "", "the log ends at the end of an output buffer (a multiple of 4,096 bytes), so what followed was never written", "the job log"),
    Feature("end_silence_s", "float", "s", "time from the last logged row to the last sign of the job: its accounted end, a machine reading, a line of the log", END),
    Feature("end_silence_ratio", "float", "", "end_silence_s divided by the longest usual pause", END),
    Feature("end_silence_step", "int", "step", "last step logged before the silence", END),
    Feature("silent_log_s", "float", "s", "time from the last line of the log of a rank or node that ended first to the last line of the log that ended last", RANKS),
    Feature("silent_log_file", "text", "", "the log of a rank or node that ended first", RANKS),
)  # fmt: skip
MAX_TEXT = 60  # characters
# file names such as "rank_3.log", "logs/node-12.out"
_OF_A_RANK = r"(?i)(?:rank|node|worker|proc|gpu|task)[-_.]?\d+[^/]*$"
BUFFER = 4096  # bytes: C and Python write to files in multiples of it


def compute(context: Context) -> Computed:
    """All of FEATURES; those of the times only if the rows have times."""
    end: Computed = {
        "end_is_regular": context.run.status in ("finished", "stopped_early"),
        "end_by_time_limit": context.run.status == "timeout",
        **_ending(context.run),
        **_first_silent(context.run),
    }
    saved = context.run.checkpoints["time"].drop_nulls().dt.epoch("us").to_numpy() / 1e6
    found = pauses(context.curves, saved)
    if found is None:
        return end
    return {**end, "log_pause_s": float(np.median(found.seconds)), **_stalls(found), **_silence(context, found)}


def _ending(run: Run) -> Computed:
    """How the text of the last session ends."""
    if not any(s.format == "text" for s in run.sources):
        return {}
    last = run.sessions["session"].max()
    if last is None:  # the reader failed
        return {}
    cut = run.lines.filter(pl.col("pattern").is_in(having("cut_line")), session=last).to_dicts()
    if not cut:
        return {"log_ends_mid_line": False, "log_cut_at_buffer": False}
    witness = Witness(file=cut[0]["file"], line=cut[0]["line"])
    return {
        "log_ends_mid_line": (True, witness),
        "log_cut_text": (cut[0]["text"][-MAX_TEXT:], witness),
        "log_cut_at_buffer": (any(int(json.loads(row["captures"])["bytes"]) % BUFFER == 0 for row in cut), witness),
    }


def _first_silent(run: Run) -> Computed:
    """The log of a rank or node that ends first, by its timestamps."""
    if run.sessions.height < 2:
        return {}
    ends = run.sessions.filter(pl.col("source").str.contains(_OF_A_RANK)).drop_nulls("ended")
    logs = ends.group_by("source").agg(pl.col("ended").max()).sort("ended", "source")
    if logs.height < 2:
        return {}
    seconds = (logs["ended"][-1] - logs["ended"][0]).total_seconds()
    witness = Witness(file=logs["source"][0])
    return {"silent_log_s": (seconds, witness), "silent_log_file": (logs["source"][0], witness)}


def _stalls(found: Pauses) -> Computed:
    stalls = np.flatnonzero(found.ratio > LONG_PAUSE)
    if not stalls.size:
        return {"stall_count": 0}
    worst = stalls[np.argmax(found.seconds[stalls])]
    at = int(found.ends[worst])
    witness = witness_at(found.curve, at)
    return {
        "stall_count": (int(stalls.size), witness),
        "stall_step": (int(found.curve.steps[at]), witness),
        "stall_s": (float(found.seconds[worst]), witness),
        "stall_ratio": (float(found.ratio[worst]), witness),
        "stall_share": float(found.seconds[stalls].sum() / found.seconds.sum()),
    }


def _silence(context: Context, found: Pauses) -> Computed:
    """The silence at the end of the last session; how earlier sessions ended is not known."""
    run = context.run
    logged = [
        float(np.nanmax(c.times)) for c in context.curves if c.role.name != "system" and np.isfinite(c.times).any()
    ]
    ended = run.jobs.filter(pl.col("job") == (run.job or ""))["ended"]
    signs = [ended.max(), run.lines["time"].max(), run.points["time"].max()]
    known = [sign.timestamp() for sign in signs if isinstance(sign, datetime)]
    if not known or max(known) <= max(logged):
        return {}
    silent = max(known) - max(logged)
    longest_usual = float(np.max(np.where(found.ratio > LONG_PAUSE, 0.0, found.seconds)))
    last = len(found.curve.steps) - 1
    witness = witness_at(found.curve, last)
    return {
        "end_silence_s": (silent, witness),
        "end_silence_ratio": (silent / longest_usual, witness),
        "end_silence_step": (int(found.curve.steps[last]), witness),
    }
