"""What a check of a whole config says."""

import pytest

import loganalyst as la
from loganalyst.checking.judging import judge, usual_range
from loganalyst.checking.topics import topics
from loganalyst.errors import LogAnalystError

LORA = """
model_name_or_path: meta-llama/Llama-3.1-8B
lora_r: 16
lora_alpha: 32
optim: adamw_torch
learning_rate: 5.0e-3
num_train_epochs: 3
per_device_train_batch_size: 4
gradient_accumulation_steps: 8
fp16: true
bf16: true
"""
# configs with one thing to find, as the brief describes them
CASES = {
    "a large model at a high rate": ("n_params: 13000000000\nlr: 1.0e-3\noptimizer: adamw\n", "rate-above-10b"),
    "beta2": ("model_type: llama\nn_params: 7000000000\noptimizer: adamw\nadam_beta2: 0.999\n", "beta2-large-model"),
    "BERT at 1e-3": ("optimizer: adamw\nlr: 1.0e-3\nmodel_name_or_path: bert-base-uncased\n", "rate-full-fine-tuning"),
    "epsilon": ("optimizer: adam\neps: 1.0e-16\nprecision: fp16\n", "epsilon-range"),
    "weight decay": ("optimizer: adamw\nweight_decay: 1.0\n", "decay-adam"),
    "FP4": ("load_in_4bit: true\nbnb_4bit_quant_type: fp4\n", "four-bit-format"),
    "rank of a classifier": ("lora_r: 256\nlora_alpha: 256\ntask_type: SEQ_CLS\n", "adapter-rank-classification"),
    "KL": ("kl_coef: 1.0e-5\n", "kl-range"),
    "no warm-up": (
        "optimizer: adamw\nwarmup_steps: 0\nn_params: 1.3e9\nmodel_type: gpt2\nmax_steps: 60\n",
        "warmup-transformer",
    ),
    "GAE": ("algo: ppo\ngae_lambda: 0.0\n", "gae-lambda"),
    "embedding": ("vocab_size: 50257\nhidden_size: 128\nnum_layers: 8\n", "embedding-share"),
    "few tokens": (
        "model_type: llama\nn_params: 1.3e9\nmax_steps: 600\nbatch_size: 64\nseq_len: 2048\n",
        "tokens-for-size",
    ),
}


def checked(tmp_path, text: str, **options):
    file = tmp_path / "config.yaml"
    file.write_text(text)
    return la.check(file, **options)


@pytest.mark.parametrize(("text", "found"), CASES.values(), ids=CASES)
def test_a_config_alone_is_enough(tmp_path, text, found):
    assert [f.id for f in checked(tmp_path, text).findings if f.severity == "unusual"] == [found]


def test_findings_are_ordered_and_name_their_settings(tmp_path):
    found = checked(tmp_path, LORA)
    precision, rate = found.findings[:2]

    assert [f.severity for f in found.findings] == ["wrong", "unusual", "record", "record"]
    assert found.wrong
    assert (precision.id, [s.key for s in precision.settings]) == ("two-precisions", ["fp16", "bf16"])
    assert (rate.text, rate.usual) == ("learning_rate is 5e-3", "1e-6 to 2e-3")
    assert rate.sources[0].url == "https://arxiv.org/abs/2106.09685"


def test_what_describes_the_training_is_worked_out(tmp_path):
    facts = {fact.name: fact.value for fact in checked(tmp_path, LORA).facts}

    assert facts["model_size"] == 8e9
    assert facts["batch_total"] == 32.0
    assert facts["adapters"] is True


def test_usual_settings_and_missing_ones_are_listed(tmp_path):
    found = checked(tmp_path, LORA)

    assert [(one.id, one.setting.value) for one in found.usual] == [
        ("adapter-rank", 16.0), ("adapter-scale", 2.0), ("passes-fine-tuning", 3.0),
    ]  # fmt: skip
    assert [one.name for one in found.missing] == [
        "warmup_share",
        "seed",
        "devices",
        "adapter_dropout",
        "config_weight_decay",
    ]
    assert next(one for one in found.missing if one.name == "warmup_share").keys == (
        "warmup_ratio", "warmup_steps", "warmup_epochs",
    )  # fmt: skip


def test_the_kind_may_be_given(tmp_path):
    """DPO's beta is judged where the training is known to be DPO."""
    text = "beta: 5.0\nlearning_rate: 5.0e-7\n"

    assert [f.id for f in checked(tmp_path, text).findings] == []
    assert [f.id for f in checked(tmp_path, text, kind="preference").findings] == ["preference-beta"]
    with pytest.raises(LogAnalystError, match="did you mean 'preference'"):
        checked(tmp_path, text, kind="preferense")


def test_a_negative_number_stands_for_automatic():
    """`warmup_steps: -1` is no length, and no value out of range."""
    assert {one.answer for one in judge({"config_clip": -1.0, "config_dropout": -1.0})} == {"silent"}


def test_a_range_is_stated_in_words():
    checks = {check.id: check for topic in topics() for check in topic.checks}

    assert usual_range(checks["rate-sgd"]) == "1e-5 to 5"
    assert usual_range(checks["schedule-against-plan"]) == "as long as the run"
    assert usual_range(checks["betas-below-one"]) == ""
