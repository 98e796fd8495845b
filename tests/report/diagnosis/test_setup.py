"""What was trained and how, and what to look at after the fix."""

from dataclasses import replace

import numpy as np
import pytest

from loganalyst import model
from loganalyst.model import Diagnosis, Excerpt, Features, Role, Run, TrainingKind
from loganalyst.report.diagnosis.setup import setup, training
from loganalyst.report.diagnosis.watchlist import watch
from tests.report.conftest import LOSS, VAL, curve

TERM = Role("loss_component", "a term of the loss", "up", True)


def configured(settings: dict[str, str], **features: float | str | bool) -> Diagnosis:
    """A run with these settings and features, and three curves."""
    curves = [curve(name, role, [1, 2], [1, 1]) for name, role in (("loss", LOSS), ("recon", TERM), ("kl", TERM))]
    keys, values = list(settings), list(settings.values())
    config = model.table("config", {"key": keys, "value": values, "number": None, "origin": "config.yaml"})
    return Diagnosis(
        run=Run(config=config),
        status="healthy",
        confidence=0.9,
        curves=[curves[0], curves[1], replace(curves[2], weight=0.1)],
        features=Features(features),
    )


def test_what_was_trained_is_told_in_five_rows():
    """Model, loss with its terms and their weights, optimiser, schedule, batch, data."""
    found = configured(
        {"model.name": "x", "model.arch": "unet", "loss.kl_weight": "0.1", "optim.weight": "3", "lambda_adv": "2"},
        config_parameters=124e6,
        config_precision="bf16",
        train_loss_metric="loss",
        optimizer="adamw",
        lr_peak=3e-3,
        config_clip=0.0,
        config_weight_decay=0.1,
        lr_kind="warmup_constant",
        lr_warmup_share=0.04,
        run_planned_steps=50_000.0,
        config_batch=512.0,
        config_shuffle=False,
    )

    assert [(row.label, row.text) for row in setup(found)] == [
        ("Model", "unet, 124 million parameters, bf16"),
        ("Loss", "loss, 2 terms: recon, kl × 0.1, kl_weight = 0.1, lambda_adv = 2"),
        ("Optimiser", "adamw, peak rate 3.0e-3, weight decay 0.1, no clipping"),
        ("Schedule", "constant after a warm-up, warm-up over 4 % of the run, 50,000 steps planned"),
        ("Batch", "512 samples an update"),
        ("Data", "not shuffled"),
    ]


def test_shape_batch_and_data_come_from_the_settings():
    """What is switched off is said where it matters; a setting that is not given is not mentioned."""
    settings = {
        "model.model_type": "gpt2", "model.n_layer": "12", "model.n_embd": "768", "model.vocab_size": "50257",
        "optim.betas": "[0.9, 0.95]", "optim.momentum": "0.9", "optim.nesterov": "false",
        "lr_scheduler_type": "cosine", "min_lr": "6e-5", "per_device_train_batch_size": "8",
        "gradient_accumulation_steps": "4", "world_size": "2", "data.normalize": "true", "data.augmentation": "none",
        "data.mixup": "0.2", "data.cutmix": "0.0", "train_samples": "50000",
    }  # fmt: skip
    found = configured(settings, config_batch=64.0, config_beta2=0.95)

    assert {row.label: row.text for row in setup(found)} == {
        "Model": "gpt2, 12 layers, width 768, vocabulary of 50257",
        "Loss": "2 terms: recon, kl × 0.1",
        "Optimiser": "betas [0.9, 0.95], momentum 0.9",
        "Schedule": "scheduler cosine, lowest rate 6e-5",
        "Batch": "64 samples an update (8 a device × 4 accumulated × 2 devices)",
        "Data": "50000 samples, normalised, no augmentation, mixup 0.2",
    }


@pytest.mark.parametrize(
    ("trainer", "kind", "words"),
    [
        (
            "TRL DPOTrainer",
            TrainingKind("preference", "preference training", 0.95, ("TRL DPOTrainer",), sure=True),
            "preference training (TRL DPOTrainer), 95 %",
        ),
        (
            "Keras",
            TrainingKind("supervised", "supervised training", 0.62, ("val_accuracy",)),
            "probably supervised training (Keras, val_accuracy), 62 %",
        ),
        (
            None,
            TrainingKind("speech", "speech recognition", 0.9, ("wer", "cer"), sure=True),
            "speech recognition (wer, cer), 90 %",
        ),
        (None, TrainingKind("speech", "speech recognition", 0.9, ()), "probably speech recognition, 90 %"),
        ("Keras", None, "with Keras"),
        ("Keras", TrainingKind("forecasting", "forecasting", 0.21, ("seq_len",)), "with Keras"),  # likelier another one
        (None, None, ""),
    ],
)
def test_the_kind_of_training_in_words(trainer, kind, words):
    found = replace(configured({}), trainer=trainer, training_kind=kind)

    assert training(found) == words
    assert [row.text for row in setup(found) if row.label == "Training"] == [words] * bool(words)


def test_what_is_not_known_has_no_row():
    """Nothing is made up."""
    assert list(setup(replace(configured({}), curves=[]))) == []


def test_curves_of_the_cause_are_watched(failed):
    """Each with its level before the onset, and how far it went."""
    assert [(row.label, row.text) for row in watch(failed)] == [
        ("grad_norm", "stays near 0.8, its level before step 24,549; it went to 24.1 at step 24,640"),
        ("train/loss", "stays near 0.427, its level before step 24,549; it became NaN or infinite"),
    ]


def test_without_an_onset_the_best_is_what_to_reach(failed):
    """And where it ended."""
    steps = np.arange(10)
    curves = [curve("val_loss", VAL, steps, [5, 4, 3, 2, 1, 2, 3, 4, 5, 6])]
    cause = replace(failed.causes[0], onset_step=None, metric="val_loss", evidence=())

    assert [row.text for row in watch(replace(failed, curves=curves, causes=(cause,)))] == [
        "ended at 6; its best was 1 at step 4"
    ]


def test_a_line_must_not_come_back(crashed, healthy):
    """As it stands in the log; a healthy run has nothing to watch."""
    seen = replace(crashed, excerpts=(Excerpt("slurm-991.out", 2012, ("a", "CUDA out of memory"), 2013),))

    assert [(row.label, row.text) for row in watch(seen)] == [("the log", "no line like “CUDA out of memory”")]
    assert list(watch(healthy)) == []


def test_a_curve_of_nan_only_must_become_finite(failed):
    """It has no level."""
    curves = [curve("train/loss", LOSS, [1, 2, 3], [np.nan] * 3)]
    cause = replace(failed.causes[0], metric="train/loss", evidence=())

    assert [row.text for row in watch(replace(failed, curves=curves, causes=(cause,)))] == ["stays finite"]
