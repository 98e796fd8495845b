"""Features of embeddings: the gradient of the token or patch embedding, and the spread of representations."""

import re

import numpy as np

from loganalyst.features.context import Computed, Context, first_level, last_level, median, ratio, witness_at
from loganalyst.features.tensors import layers
from loganalyst.model import Feature
from loganalyst.thresholds import feature_limit

SPREAD = "representation_spread"
FEATURES = (
    Feature("embedding_grad_metric", "text", "", "gradient of the embedding layer that rose most", "layer_grad_norm"),
    Feature("embedding_grad_rise_ratio", "float", "ratio", "its largest value divided by its median", "layer_grad_norm"),
    Feature("embedding_grad_rise_step", "int", "step", "step of its largest value", "layer_grad_norm"),
    Feature("embedding_grad_over_others", "float", "ratio", "embedding_grad_rise_ratio divided by the largest such ratio of any other layer", "layer_grad_norm"),
    Feature("representation_spread_metric", "text", "", "spread of representations that fell most", SPREAD),
    Feature("representation_spread_last", "float", "", "last level of this spread", SPREAD),
    Feature("representation_spread_share", "float", "share", "last level of this spread divided by its first level", SPREAD),
    Feature("representation_spread_low_step", "int", "step", "step from which this spread stays below a tenth of its first level", SPREAD),
)  # fmt: skip
# "transformer.wte.weight", "patch_embed.proj", "tok_embeddings"
EMBEDDING = re.compile(r"embed|wte|wpe|patch_?proj|tok(en)?s?_emb", re.I)
MIN_LAYER_POINTS = 8  # values of a layer for a usual level


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    return _gradient(context) | _spread(context)


def _gradient(context: Context) -> Computed:
    found = [layer for layer in layers(context, "gradient") if np.isfinite(layer.size).sum() >= MIN_LAYER_POINTS]
    if not any(EMBEDDING.search(layer.metric) for layer in found):
        return {}
    rises = [(_rise(layer.size), layer) for layer in found]
    own = [pair for pair in rises if EMBEDDING.search(pair[1].metric)]
    rise, layer = max(own, key=lambda pair: pair[0])
    others = [other for other, some in rises if not EMBEDDING.search(some.metric)]
    witness = layer.witness_at(int(np.nanargmax(np.where(np.isfinite(layer.size), layer.size, np.nan))))
    return {
        "embedding_grad_metric": layer.metric,
        "embedding_grad_rise_ratio": (rise, witness),
        "embedding_grad_rise_step": (witness.step, witness),
        "embedding_grad_over_others": ratio(rise, max(others, default=None)),
    }


def _rise(size: "np.typing.NDArray[np.float64]") -> float:
    x = size[np.isfinite(size)]
    usual = median(x)
    return float(x.max()) / usual if usual > 0 else 0.0


def _spread(context: Context) -> Computed:
    shares = [(ratio(last_level(c.values), first_level(c.values)), c) for c in context.with_role(SPREAD)]
    known = [(share, c) for share, c in shares if share is not None]
    if not known:
        return {}
    share, curve = min(known, key=lambda pair: pair[0])
    above = np.flatnonzero(curve.values >= feature_limit("embedding_spread_low") * (first_level(curve.values) or 0.0))
    at = int(above[-1]) + 1 if above.size else 0
    out: Computed = {
        "representation_spread_metric": curve.metric,
        "representation_spread_last": (last_level(curve.values), witness_at(curve)),
        "representation_spread_share": share,
    }
    if at < len(curve.values):
        witness = witness_at(curve, at)
        out["representation_spread_low_step"] = (witness.step, witness)
    return out
