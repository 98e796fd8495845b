import polars as pl
import pytest

from loganalyst.model.labels import LOG_LABELS
from loganalyst.sources.text.patterns import catalogue, literals

CATALOGUE = catalogue.catalogue()
BY_ID = {p.id: p for p in CATALOGUE}
EXAMPLES = [text for p in CATALOGUE for text in (*p.match, *p.no_match)]

FATAL = ("root", "stop", "confirm")
HEALTHY = (
    "Epoch 3: train_loss=0.412 val_loss=0.518 lr=1.0e-04 grad_norm=0.93",
    "{'loss': 1.9375, 'grad_norm': 0.71, 'learning_rate': 9.8e-05, 'epoch': 0.02}",
    "| loss scale: 65536.0 | number of skipped iterations:   0 | number of nan iterations:   0 |",
    "Mean error: 0.0123, max error: 0.5, failed checks: 0",
    "Error rate 4.2 %, word errors 310 of 7400",
    "n1:76786:77145 [3] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/IPC",
    "n1:76786:77145 [3] misc/nvmlwrap.cc:181 NCCL WARN No NVML device found, using the default",
    "[rank0]:[W1107 02:07:08.4 ProcessGroupNCCL.cpp:1250] Warning: destroy_process_group() was not called",
    "UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`.",
    "RuntimeWarning: overflow encountered in exp",
    "Some weights of BertForTokens were not initialized and are newly initialized: ['classifier.weight']",
    "WARNING:jax._src.xla_bridge: no CUDA-enabled jaxlib is installed. Falling back to cpu.",
    "I tensorflow/tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, GPU will not be used.",
    "srun: job 4242 queued and waiting for resources",
    "srun: warning: can't honor --ntasks-per-node set to 8",
    "bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)",
    "torchvision 0.15.2 requires torch==2.0.1, but you have torch 2.1.0 which is incompatible.",
    "WARNING: There was an error initializing an OpenFabrics device.",
    "wandb: WARNING Tried to log to step 4 that is less than the current step 9.",
    "wandb: Waiting for W&B process to finish... (success).",
    "distributed.core - INFO - Event loop was unresponsive in Worker for 4.08s.",
    "Flow run 'red-fox' - Finished in state Completed()",
    "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0",
    "pcieport 0000:40:01.1: PCIe Bus Error: severity=Corrected, type=Physical Layer",
    "Corrupt JPEG data: 2 extraneous bytes before marker 0xd9",
    "saved checkpoint out/ckpt_1000.pt (no space problems, quota 40 % used)",
    "EarlyStopping counter: 1 out of 5",
    "Batch size 64 failed, trying batch size 32",
)


def test_own_examples() -> None:
    """A pattern matches all of its `match` examples and none of its `no_match` ones."""
    found = {p.where: (p.match, matched(p, p.match), matched(p, p.no_match)) for p in CATALOGUE}

    assert len(found) == len(CATALOGUE)
    assert {where: each for where, each in found.items() if each != (each[0], each[0], ())} == {}


def matched(pattern: catalogue.Pattern, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The texts that a pattern matches when it is asked alone."""
    hits = catalogue.match(pl.Series(texts), [pattern])
    assert set(hits["pattern"]) <= {pattern.id}
    return tuple(texts[row] for row in hits["row"])


def test_examples_in_the_whole_catalogue() -> None:
    """Among all patterns, an example is claimed by its own or by one with the same label."""
    labels = claimed()
    found = [(p.id, text, labels.get(text)) for p in CATALOGUE for text in p.match if labels.get(text) != p.label]

    assert found == []


def claimed() -> dict[str, str]:
    """The label of the pattern that claims each example, among all patterns."""
    texts = [text for p in CATALOGUE for text in p.match]
    hits = catalogue.match(pl.Series(texts), CATALOGUE)
    return {texts[row]: BY_ID[id_].label for row, id_ in hits.select("row", "pattern").iter_rows()}


def test_every_pattern_has_both_kinds_of_examples() -> None:
    """Every pattern has an example that must match and one that must not."""
    assert [p.id for p in CATALOGUE if not p.match or not p.no_match] == []


def test_the_catalogue_is_large() -> None:
    assert len(CATALOGUE) >= 250


def test_every_label_but_those_of_metrics_has_a_pattern() -> None:
    """A label without a log line is one that only metrics show."""
    from_metrics = {"loss_spikes", "exploding_gradients", "straggler", "dead_run"}

    assert set(LOG_LABELS) - {p.label for p in CATALOGUE} == from_metrics


@pytest.mark.parametrize("line", HEALTHY)
def test_lines_of_healthy_runs_are_no_fault(line: str) -> None:
    """No line of a healthy run is claimed by a pattern that ends a run."""
    claimed = catalogue.match(pl.Series([line]), CATALOGUE)["pattern"].to_list()

    assert [c for c in claimed if BY_ID[c].part in FATAL] == []


@pytest.mark.parametrize(
    "box",
    [
        '│ ❱  891 │   │   │   f"{}"',
        '│    890 │   raise ValueError("{}")',
        '  |   12 |   "{}"',
        '    raise ValueError(f"{}")',
        '    assert batch, "{}"',
    ],
)
def test_source_code_is_no_message(box: str) -> None:
    """An exception in quoted source code was not raised there; the message itself is found."""
    said = "AssertionError: Check batch related parameters. train_batch_size is not equal"
    claimed = catalogue.match(pl.Series([box.format(said), said]), CATALOGUE)

    assert claimed["row"].to_list() == [1]


def test_works_without_hyperscan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without hyperscan every line is claimed by the same pattern."""
    text = pl.Series(EXAMPLES)
    fast = catalogue.match(text, CATALOGUE)
    monkeypatch.setattr(literals, "_scanner", lambda *_: None)

    assert fast.equals(catalogue.match(text, CATALOGUE))


def test_captures_are_a_json_object() -> None:
    """Named groups are texts; a group that took no part is null."""
    hits = catalogue.match(pl.Series(["CUDA out of memory. Tried to allocate 2.50 GiB"]), CATALOGUE)
    captures = hits["captures"].str.json_decode(pl.Struct({"tried": pl.String, "unit": pl.String, "gpu": pl.String}))

    assert captures[0] == {"tried": "2.50", "unit": "GiB", "gpu": None}


def test_a_specific_pattern_goes_before_a_generic_one() -> None:
    """Hardware, CUDA and the general exception match this line; hardware claims it."""
    hits = catalogue.match(pl.Series(["RuntimeError: CUDA error: uncorrectable ECC error encountered"]), CATALOGUE)

    assert hits["pattern"].to_list() == ["gpu-ecc"]


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("[Errno 2] No such file or directory: 'data/train.csv'", "data/train.csv"),
        ("Couldn't find 'x/y.csv' there", "x/y.csv"),
        ("'a'", "a"),
        ("it isn't there", None),
    ],
)
def test_the_path_of_a_missing_file(said: str, path: str | None) -> None:
    hits = catalogue.match(pl.Series([f"FileNotFoundError: {said}"]), catalogue.catalogue())

    assert hits["pattern"].to_list() == ["file-not-found"]
    captures = hits["captures"].str.json_decode(pl.Struct({"message": pl.String, "path": pl.String}))
    assert captures.to_list() == [{"message": said, "path": path}]
