"""The node, or else the pod, that a line of Kubernetes names: events, tables of pods, operators, collectors of logs."""

import polars as pl

_NAME = r"([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)"
# A pod's name in running words: `Pod was terminated` names none
_POD = r"([a-z0-9][a-z0-9.]*-(?:[a-z0-9.-]*[a-z0-9])?)"
# An event `3m  Warning  Evicted  pod/gpt-worker-2  The node was …`, `kernel-monitor, gpu-14  Memory cgroup …`
_EVENT = rf"\b(?:Normal|Warning)\s+\w+\s+(?:pod|node)/{_NAME}\s|\bkernel-monitor, {_NAME}\s"
# The node in a row of `kubectl get pods -o wide`: `gpt-worker-2  0/1  OOMKilled  0  41m  10.42.3.11  gpu-13  <none>`
_WIDE_ROW = rf"^\s*\S.*\s\d+/\d+\s+[A-Z]\w+\s.*\s\d+\.\d+\.\d+\.\d+\s+{_NAME}\s+<none>"
# The pod in such a row: `gpt-worker-2  0/1  OOMKilled  0  41m`
_ROW = rf"^(?:\S+\s+)?{_NAME}\s+\d+/\d+\s+(?:[A-Z]\w*(?:Error|BackOff|Killed)|Error|Evicted|Failed|Unknown)\b"
# kubectl logs --prefix `[pod/gpt-worker-2/main] `, perhaps behind a time
_PREFIXED = rf"^(?:[\d:.TZ+-]+ )?\[pod/{_NAME}[/\]]"
# stern writes the pod of an operator's job and its container: `gpt-worker-2 pytorch `
_STERN = r"^([a-z0-9][a-z0-9.-]*-(?:worker|master|launcher|replica|chief)-\d{1,5}(?:-[a-z0-9]{5})?) [a-z][a-z0-9-]* "
# `in pod gpt-worker-2_jobs(0a1b)`, `pod gpt-worker-2 terminated`, `Error pod gpt-worker-2 container`,
# `Pod: jobs.gpt-worker-2 exited`, Volcano's `Pod:gpt-worker-2, Event:PodFailed`, klog's `pod="jobs/gpt-worker-2"`
_SAID = (
    rf"\bin pod {_NAME}_|\b[Pp]od {_POD} (?:terminated|container|failed|exited|evicted)\b"
    rf"|\bPod: ?(?:[a-z0-9-]+\.)?{_NAME}(?: exited|, Event:)|\bpod=\"[a-z0-9-]+/{_NAME}\""
)
_GROUPS = ((_EVENT, 2), (_WIDE_ROW, 1), (_ROW, 1), (_PREFIXED, 1), (_STERN, 1), (_SAID, 4))
# One of these is in every such line
_OPERATORS = ("-worker-", "-master-", "-launcher-", "-replica-", "-chief-")
_WORDS = ("pod", "Pod", "node/", "kernel-monitor", "/1 ", "/2 ", *_OPERATORS)


def named(text: pl.Series) -> pl.Expr:
    """The node (String) that each line names as Kubernetes does, else the pod; NULL where it names neither.

    >>> line = "3m  Warning  Evicted  pod/gpt-worker-2  The node was low on resource: memory."
    >>> pl.select(named(pl.Series([line]))).item()
    'gpt-worker-2'
    """
    if not text.str.contains_any([*_WORDS]).any():
        return pl.lit(None, pl.String)
    line = pl.lit(text)
    return pl.coalesce(line.str.extract(regex, k) for regex, groups in _GROUPS for k in range(1, groups + 1))
