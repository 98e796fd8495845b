"""Traits of log-line patterns: what else the lines of a pattern mean, as `rules/text/*.yaml` states it.

Readers and features ask for a trait, never for the id of a pattern: a new pattern needs no change in Python.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from msgspec import field

from loganalyst import rulefiles
from loganalyst.rulefiles import Shape, Text, Texts, needed

TRAITS: Mapping[str, str] = {
    "killed": "a signal from outside of the program ended it: the session was killed",
    "raised": "the program itself reports that memory ran out: it failed, and no signal killed it",
    "terminated": "SIGTERM ended the program, and the line does not say who sent it",
    "task_failed": "a task of a SLURM step failed by itself; srun then kills the others",
    "task_killed": "srun killed a task, perhaps because another one had failed",
    "of_task": "the line names one task of a SLURM step",
    "of_scheduler": "the scheduler says it, not the program",
    "of_pod": "Kubernetes says it of one pod; the description of the pod names its node",
    "pod_placed": "captures `placed`, the node of a pod, and `pod` where the line names it",
    "node_heading": "captures `headed` or `headed_first`: the node whose records follow",
    "host_named": "the job script names the node on which it runs",
    "cancelled": "the scheduler cancelled the job, perhaps because its work had failed",
    "step_cancelled": "the scheduler cancelled one step of the job, which may be one beside the training",
    "shell_line": "a command of the job script could not run; the shell goes on with the next line",
    "traceback": "head of a Python traceback; the exception follows",
    "any_exception": "exception of a traceback that no other pattern knows",
    "library_echo": "error of a library; a later line of the same message names the fault of the device",
    "often_handled": "programs often catch this error and go on; what fails after it is the cause",
    "failure_table": "head of a launcher's table of failed ranks",
    "failure_table_entry": "line of a launcher's table of failed ranks",
    "missing_ranks": "captures `ranks`: the ranks that did not arrive",
    "driver_record": "a record of the driver, which an epilog prints: behind the end of the program it is no cause",
    "device_word": "the driver of the node names a broken device; errors of libraries on its ranks are echoes",
    "own_device": "the process on the device that the line names gets the error",
    "work_counts": "captures `group`, `rank`, `enqueued` and `done`: operations of a rank in a process group",
    "rank_count": "captures `ranks`: the number of ranks of the job",
    "actor_address": "names the node of an actor that died",
    "finished": "the program reports that the training ended",
    "planned_stop": "a limit that the settings state ended the training",
    "signal_stop": "the program reports the signal that stopped it",
    "early_stop": "the program ended the training early, as its settings asked for",
    "too_few_values": "a variance was taken of too few values",
    "out_of_range": "captures `operation`: a mathematical operation had no finite result",
    "inputs_too_long": "captures `length` and `most`: an input is longer than the model allows",
    "inputs_nonfinite": "a batch or an input holds NaN or infinite values",
    "unknown_tokens": "captures `share`: so many per cent of the tokens are unknown to the tokenizer",
    "weights_left_out": "weights of a checkpoint have other names than those of the model, and were not loaded",
    "optimizer_state_lost": "the state of the optimiser was not restored",
    "labels_masked": "a sample has no label that counts for the loss",
    "faulthandler_on": "Python printed its stack at a fatal signal, as faulthandler does",
    "tracker_offline": "captures `folder`: W&B kept the run there, and sent nothing",
    "too_hot": "the device or its driver states that heat slows it down",
    "not_shuffled": "the training data is not shuffled",
    "parameters_printed": "captures the number of trained or of other parameters, and which of both it is",
    "epochs_planned": "captures `epochs`, `epochs_in_words` or `rounds`: the number of epochs that the program plans",
    "plan_printed": "captures `steps`: the number of steps that the program plans",
    "continued": "the program continues a training from its checkpoint",
    "step_printed": "the last step that the log prints; captures `step`",
    "message_advice": "captures `advice`: what the message of an error above advises",
    "cut_line": "the last line of the log has no end",
    "went_on": "ordinary work behind an exception that the program printed itself",
    "unread_rows": "rows of numbers that look like results and are not understood; captures their number, `rows`",
    "trainer_line": "a trainer of `rules/trainers` prints it; captures `witness`, the text that shows it",
}
GUESSED = "wording-"  # the ids of families of messages (`rules/wording.yaml`) begin so
SIGNALS = ("SIGABRT", "SIGBUS", "SIGHUP", "SIGINT", "SIGKILL", "SIGSEGV", "SIGTERM")
# Rows of `lines` that the reader of logs makes itself, without a pattern of the catalogue
_MADE_BY_READER = {
    "step_printed": ("last-step",), "cut_line": ("cut-line",), "trainer_line": ("trainer-line",),
    "went_on": ("went-on",), "unread_rows": ("numbers-not-read",),
}  # fmt: skip


class Examples(Shape, frozen=True):
    """Lines that a regex must match, and lines that it must not."""

    match: Texts
    no_match: Texts


class PatternEntry(Shape, frozen=True):
    """One pattern as its file states it."""

    id: Text
    label: str | None
    part: Text
    literals: Annotated[
        tuple[Annotated[str, needed("a text without line breaks", pattern=r"^[^\n]+$")], ...],
        needed("a list of texts, one of which is in every match", min_length=1),
    ]
    regex: str
    tests: Examples
    exclude: str | None = field(default=None, name="not")
    generic: bool = False
    alone: bool = False  # behind its literals no letter follows in the line
    signal: Text | None = None
    cut_label: Text | None = None
    says: Texts = ()


@cache
def having(trait: str) -> tuple[str, ...]:
    """The ids of our patterns that have a trait. Raises KeyError for a trait that TRAITS lacks.

    >>> having("rank_count")
    ('rank-on-host',)
    """
    TRAITS[trait]
    return (*_MADE_BY_READER.get(trait, ()), *(node["id"] for node in _nodes() if trait in node.get("says", ())))


@cache
def signals() -> Mapping[str, str]:
    """The name of the signal that ended the program, by id of the pattern whose lines say so.

    >>> signals()["bus-error"]
    'SIGBUS'
    """
    return {node["id"]: node["signal"] for node in _nodes() if "signal" in node}


@cache
def cut_labels() -> Mapping[str, str]:
    """The label of a log that ends before the message that a line opens, by id of the pattern of such lines.

    >>> cut_labels()
    {'traceback': 'code_exception'}
    """
    return {node["id"]: node["cut_label"] for node in _nodes() if "cut_label" in node}


@cache
def _nodes() -> tuple[Mapping[str, Any], ...]:
    return tuple(node for file in rulefiles.text_files() for node in file.data["patterns"])
