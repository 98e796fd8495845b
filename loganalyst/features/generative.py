"""Features of generative models: latent divergence, codebooks, generator against discriminator."""

import numpy as np

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, seen
from loganalyst.model import Curve, Feature

FEATURES = (
    Feature("kl_metric", "text", "", "name of the latent divergence term", "kl"),
    Feature("kl_points", "int", "points", "logged values of it", "kl"),
    Feature("kl_last", "float", "nats", "its last level", "kl"),
    Feature("kl_share", "float", "share", "its last level against that of the reconstruction term", "kl"),
    Feature("recon_metric", "text", "", "name of the reconstruction term", "recon_loss"),
    Feature("recon_drop_relative", "float", "share", "fall of the reconstruction term against its first level", "recon_loss"),
    Feature("codebook_metric", "text", "", "name of the codebook's use", "codebook_usage"),
    Feature("codebook_best", "float", "", "its highest value", "codebook_usage"),
    Feature("codebook_last", "float", "", "its last level", "codebook_usage"),
    Feature("codebook_last_ratio", "float", "ratio", "last level against the highest", "codebook_usage"),
    Feature("codebook_codes", "float", "codes", "the last level where it counts codes (a perplexity or a number)", "codebook_usage"),
    Feature("codebook_share", "float", "share", "last level against the size in the config", "codebook_usage"),
    Feature("discriminator_loss_last", "float", "loss", "last level of the discriminator's loss", "discriminator_loss"),
    Feature("discriminator_loss_min", "float", "loss", "its lowest value (below 0: the loss is a difference of scores, as of a critic)", "discriminator_loss"),
    Feature("discriminator_loss_share", "float", "share", "the same against its first level", "discriminator_loss"),
    Feature("generator_loss_ratio", "float", "ratio", "last against first level of the generator's loss", "generator_loss"),
    Feature("generator_loss_last", "float", "loss", "last level of the generator's loss", "generator_loss"),
)  # fmt: skip

_SIZES = ("num_embeddings", "codebook_size", "num_codes", "n_codes", "codebook.size")


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    return _latent(context) | _codebook(context) | _adversarial(context)


def _level(curves: list[Curve]) -> float | None:
    return last_level(curves[0].values) if curves else None


def _latent(context: Context) -> Computed:
    kl, recon = context.of("kl"), context.of("recon_loss")
    out: Computed = {}
    if recon:
        out["recon_metric"] = recon[0].metric
        out["recon_drop_relative"] = context.shape(recon[0]).total_relative_drop
    if kl:
        level = _level(kl)
        out |= {
            "kl_metric": kl[0].metric,
            "kl_points": len(kl[0].values),
            "kl_last": (level, seen(kl[0])),
            "kl_share": ratio(level, abs(last) if (last := _level(recon)) is not None else None),
        }
    return out


def _codebook(context: Context) -> Computed:
    curves = context.of("codebook_usage")
    if not curves or not np.isfinite(curves[0].values).any():
        return {}
    curve = curves[0]
    best, last, size = (
        float(curve.values[np.isfinite(curve.values)].max()),
        last_level(curve.values),
        context.number(*_SIZES),
    )
    counted = best > 1 or "perplexity" in curve.metric.lower()  # else it is a share of the codes
    return {
        "codebook_metric": curve.metric,
        "codebook_best": best,
        "codebook_last": (last, seen(curve)),
        "codebook_last_ratio": ratio(last, best),
        "codebook_codes": last if counted else None,
        "codebook_share": ratio(last, size) if counted else last,
    }


def _adversarial(context: Context) -> Computed:
    discriminator, generator = context.of("discriminator_loss"), context.of("generator_loss")
    out: Computed = {}
    if discriminator:
        c = discriminator[0]
        last = last_level(c.values)
        out["discriminator_loss_last"] = (last, seen(c))
        finite = c.values[np.isfinite(c.values)]
        out["discriminator_loss_min"] = float(finite.min()) if finite.size else None
        out["discriminator_loss_share"] = ratio(last, first_level(c.values))
    if generator:
        c = generator[0]
        last = last_level(c.values)
        out["generator_loss_last"] = (last, seen(c))
        out["generator_loss_ratio"] = ratio(last, first_level(c.values))
    return out
