"""The node or pod that lines of Kubernetes name."""

import polars as pl
import pytest

from loganalyst.sources.text.lines import pods

LINES = {
    "58m  Warning  Evicted  pod/llama-worker-5  The node was low on resource: memory.": "llama-worker-5",
    "jobs  6m  Normal  NodeNotReady  node/gpu-07  Node gpu-07 status is now: NodeNotReady": "gpu-07",
    "Warning  OOMKilling  2m  kernel-monitor, gpu-14  Memory cgroup out of memory: Killed process 7": "gpu-14",
    "gpt-worker-2   0/1   OOMKilled   0   41m   10.42.3.11   node-gpu-13   <none>   <none>": "node-gpu-13",
    "gpt-worker-2   0/1   OOMKilled   0   41m": "gpt-worker-2",
    "[pod/llama-worker-2/pytorch] RuntimeError: CUDA error": "llama-worker-2",
    "2024-05-01T10:00:02.5Z [pod/llama-worker-2/pytorch] Killed": "llama-worker-2",
    "llama-worker-1 pytorch ValueError: sample 8812": "llama-worker-1",
    "Back-off restarting failed container main in pod gpt-worker-1_jobs(0a1b)": "gpt-worker-1",
    "pod train-0 terminated: OOMKilled (exit code 137)": "train-0",
    "Pod: kubeflow.bert-worker-1 exited with code 137": "bert-worker-1",
    "Task:worker, Pod:resnet-worker-3, Event:PodEvicted, ExitCode:0": "resnet-worker-3",
    '"SyncLoop (PLEG): event for pod" pod="jobs/gpt-worker-6" event={}': "gpt-worker-6",
}
NO_PODS = [
    "loading /home/node/train.py and pod/config.yaml",
    "epoch 3  0/1  loss 0.5",
    "the worker-1 process of the loader died",
    "[node] Error: 3/4 done",
    "Message: Pod was terminated in response to imminent node shutdown.",
]


@pytest.mark.parametrize(("line", "name"), LINES.items())
def test_a_line_names_its_node_or_pod(line: str, name: str) -> None:
    assert pl.select(pods.named(pl.Series([line]))).item() == name


@pytest.mark.parametrize("line", NO_PODS)
def test_other_lines_name_none(line: str) -> None:
    assert pl.select(pods.named(pl.Series([line]))).to_series().to_list() == [None]
