"""Features of generative models: latent divergence, codebooks, generator and discriminator."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.metricnames import normalise
from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.features.shares import as_shares
from loganalyst.model import Curve, Feature

FEATURES = (
    Feature("kl_metric", "text", "", "name of the latent divergence term", "kl"),
    Feature("kl_points", "int", "points", "logged values of the divergence term", "kl"),
    Feature("kl_last", "float", "nats", "last level of the divergence term", "kl"),
    Feature("kl_max", "float", "nats", "largest value of the divergence term", "kl"),
    Feature("kl_max_step", "int", "step", "step of this largest value", "kl"),
    Feature("kl_max_ratio", "float", "ratio", "largest value of the divergence term divided by its first level", "kl"),
    Feature("kl_share", "float", "share", "last level of the divergence term divided by that of the reconstruction term", "kl"),
    Feature("recon_metric", "text", "", "name of the reconstruction term", "recon_loss"),
    Feature("recon_drop_relative", "float", "share", "fall of the reconstruction term relative to its first level", "recon_loss"),
    Feature("codebook_metric", "text", "", "name of the metric of codebook usage", "codebook_usage"),
    Feature("codebook_first", "float", "", "first level of the codebook usage", "codebook_usage"),
    Feature("codebook_best", "float", "", "highest value of the codebook usage", "codebook_usage"),
    Feature("codebook_last", "float", "", "last level of the codebook usage", "codebook_usage"),
    Feature("codebook_last_ratio", "float", "ratio", "last level of the codebook usage divided by its highest value", "codebook_usage"),
    Feature("codebook_codes", "float", "codes", "last level of the codebook usage if it counts codes (as a perplexity or a number)", "codebook_usage"),
    Feature("codebook_share", "float", "share", "last level of the codebook usage as a share of the codebook size in the config", "codebook_usage"),
    Feature("discriminator_loss_last", "float", "loss", "last level of the discriminator's loss", "discriminator_loss"),
    Feature("discriminator_loss_min", "float", "loss", "lowest value of the discriminator's loss (below 0: a difference of scores, as of a critic)", "discriminator_loss"),
    Feature("discriminator_loss_share", "float", "share", "last level of the discriminator's loss divided by its first level, or by its first value if that is higher", "discriminator_loss"),
    Feature("generator_loss_ratio", "float", "ratio", "last level of the generator's loss divided by its first level, or by its first value if that is lower", "generator_loss"),
    Feature("generator_loss_last", "float", "loss", "last level of the generator's loss", "generator_loss"),
    Feature("discriminator_accuracy_last", "float", "share", "last level of the discriminator's accuracy", "discriminator_score"),
    Feature("discriminator_margin_last", "float", "", "discriminator's score of real samples minus its score of generated samples (last levels)", "discriminator_score"),
    Feature("sample_distance_metric", "text", "", "name of the distance between generated and real samples", "sample_distance"),
    Feature("sample_distance_rise_ratio", "float", "ratio", "last level of this distance divided by its lowest level", "sample_distance"),
    Feature("sample_distance_best_step", "int", "step", "step at which this distance was lowest", "sample_distance"),
    Feature("repetition_last", "float", "share", "last level of the share of repeated phrases in generated text", "repetition"),
    Feature("diversity_last", "float", "share", "last level of the share of distinct phrases in generated text", "diversity"),
)  # fmt: skip

ONE_NAT = 1.0  # the usual size of a divergence that carries information
_REAL, _FAKE = {"real", "x"}, {"fake", "gz", "z", "g"}
_SIZES = ("num_embeddings", "codebook_size", "num_codes", "n_codes", "codebook.size")


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    return _latent(context) | _codebook(context) | _adversarial(context) | _scores(context) | _samples(context)


def _level(curves: list[Curve]) -> float | None:
    return last_level(curves[0].values) if curves else None


def _latent(context: Context) -> Computed:
    kl, recon = context.with_role("kl"), context.with_role("recon_loss")
    out: Computed = {}
    if recon:
        out["recon_metric"] = recon[0].metric
        out["recon_drop_relative"] = context.shape(recon[0]).total_relative_drop
    if kl:
        level = _level(kl)
        level = None if level == 0 and not context.counts_as_zero(kl[0], ONE_NAT) else level
        out |= {
            "kl_metric": kl[0].metric,
            "kl_points": len(kl[0].values),
            "kl_last": (level, witness_at(kl[0])),
            "kl_share": ratio(level, abs(last) if (last := _level(recon)) is not None else None),
            **_largest(kl[0]),
        }
    return out


def _largest(curve: Curve) -> Computed:
    finite = np.where(np.isfinite(curve.values), curve.values, -np.inf)
    top = int(np.argmax(finite))
    if not np.isfinite(finite[top]):
        return {}
    witness = witness_at(curve, top)
    return {
        "kl_max": (float(finite[top]), witness),
        "kl_max_step": (witness.step, witness),
        "kl_max_ratio": ratio(float(finite[top]), first_level(curve.values)),
    }


def _codebook(context: Context) -> Computed:
    curves = context.with_role("codebook_usage")
    values = context.until_nonfinite(curves[0]) if curves else np.empty(0)
    if not np.isfinite(values).any():
        return {}
    curve = curves[0]
    best, last, size = (
        float(values[np.isfinite(values)].max()),
        last_level(values),
        context.number(*_SIZES),
    )
    counted = best > 1 or "perplexity" in curve.metric.lower()  # otherwise it is a share of the codes
    return {
        "codebook_metric": curve.metric,
        "codebook_first": first_level(values),
        "codebook_best": best,
        "codebook_last": (last, witness_at(curve)),
        "codebook_last_ratio": ratio(last, best),
        "codebook_codes": last if counted else None,
        "codebook_share": ratio(last, size) if counted else last,
    }


def _adversarial(context: Context) -> Computed:
    discriminator, generator = context.with_role("discriminator_loss"), context.with_role("generator_loss")
    out: Computed = {}
    if discriminator:
        c = discriminator[0]
        last = last_level(c.values)
        out["discriminator_loss_last"] = (last, witness_at(c))
        finite = c.values[np.isfinite(c.values)]
        out["discriminator_loss_min"] = float(finite.min()) if finite.size else None
        # A contest may be decided within the three values of a level.
        out["discriminator_loss_share"] = ratio(last, max(_beginnings(finite), default=None))
    if generator:
        c = generator[0]
        last = last_level(c.values)
        out["generator_loss_last"] = (last, witness_at(c))
        out["generator_loss_ratio"] = ratio(last, min(_beginnings(c.values[np.isfinite(c.values)]), default=None))
    return out


def _beginnings(finite: NDArray[np.float64]) -> list[float]:
    """The first value and the first level; none without values."""
    first = first_level(finite)
    return [] if first is None else [float(finite[0]), first]


def _scores(context: Context) -> Computed:
    """The discriminator's accuracy, or the distance between its scores of real and generated samples."""
    scores = context.with_role("discriminator_score")
    right = [c for c in scores if "acc" in c.metric.lower()]
    real, fake = ([c for c in scores if words & set(normalise(c.metric).split("_"))] for words in (_REAL, _FAKE))
    on_real, on_fake = _level(real), _level(fake)
    return {
        "discriminator_accuracy_last": last_level(as_shares(right[0].values)) if right else None,
        "discriminator_margin_last": None if right or on_real is None or on_fake is None else on_real - on_fake,
    }


def _samples(context: Context) -> Computed:
    """The quality of the generated samples."""
    out: Computed = {
        f"{role}_last": (_level(curves), witness_at(curves[0]))
        for role in ("repetition", "diversity")
        if (curves := context.with_role(role))
    }
    for curve in context.with_role("sample_distance")[:1]:
        shape = context.shape(curve)
        best = witness_at(curve, shape.best_index)
        out |= {
            "sample_distance_metric": curve.metric,
            "sample_distance_rise_ratio": (shape.rise_ratio, best),
            "sample_distance_best_step": (best.step, best),
        }
    return out
