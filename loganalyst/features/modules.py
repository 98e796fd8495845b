"""Features of the modules of a model: does one of them get no gradient?"""

import re

import numpy as np
import polars as pl

from loganalyst.features.context import Computed, Context
from loganalyst.features.tensors import layers
from loganalyst.model import Feature

NEEDS = "gradients of two modules, such as an encoder and a decoder, by layer"
FEATURES = (
    Feature("module_count", "int", "modules", "modules with logged gradients, of two layers or more or as a whole", NEEDS),
    Feature("module_is_whole", "bool", "", "the gradients compared are those of whole modules, one norm each", NEEDS),
    Feature("module_grad_ratio", "float", "ratio", "largest gradient of a module divided by the smallest, at the end (median layer of each)", NEEDS),
    Feature("module_grad_first_ratio", "float", "ratio", "the same ratio of the same two modules at the start", NEEDS),
    Feature("module_grad_low", "text", "", "module with the smallest gradient", NEEDS),
    Feature("module_grad_highest", "float", "norm", "largest gradient of a module at the end (median layer)", NEEDS),
    Feature("module_without_grad", "text", "", "module whose gradients are 0 at every logged step, while another module has some", NEEDS),
    Feature("module_grad_high", "text", "", "module with the largest gradient", NEEDS),
)  # fmt: skip
# words of a name that do not name a module: "grad_2_norm", "model"
QUANTITY_WORD = re.compile(r"grad(ient)?s?_(2_|l2_)?norms?|module|model")
_NORM = re.compile(r"_(?:grad(?:ient)?s?_)?(?:l?2_)?norm$")  # at the end of `encoder_norm`, `encoder_grad_norm`
_FREEZES = r"(?i)freez|frozen"  # `freeze_encoder`, `frozen_modules`
_ON = ("true", "yes", "on", "1")
# modules that are logged as a whole: "grad_norm/encoder", "grad_norm/text_encoder"; "fc1" and "embedding" are layers
WHOLE_MODULE = re.compile(r"(\w+_)?(encoder|decoder|backbone|trunk|tower|head|actor|critic|policy|projector)")
MIN_LAYERS = 2  # of a module
MIN_MODULES = 2
MIN_POINTS = 5  # logged gradients of a module from which on zeros are no accident


def compute(context: Context) -> Computed:
    """All of FEATURES, if at least two modules were logged."""
    first: dict[str, list[float]] = {}
    last: dict[str, list[float]] = {}
    sizes: dict[str, list[float]] = {}
    whole: set[str] = set()
    for layer in layers(context, "gradient"):
        if layer.size.size and layer.first is not None and layer.last is not None:
            words = [_NORM.sub("", w) for w in layer.tensor.split(".") if not QUANTITY_WORD.fullmatch(w)]
            module = words[0] if words else ""
            if len(words) == 1 and WHOLE_MODULE.fullmatch(module):
                whole.add(module)
            first.setdefault(module, []).append(layer.first)
            last.setdefault(module, []).append(layer.last)
            sizes.setdefault(module, []).extend(layer.size)
    levels = {m: float(np.median(ends)) for m, ends in last.items() if len(ends) >= MIN_LAYERS or m in whole}
    if len(levels) < MIN_MODULES:
        return {}
    low, high = min(levels, key=lambda m: levels[m]), max(levels, key=lambda m: levels[m])
    began = float(np.median(first[low]))
    return {
        "module_count": len(levels),
        "module_is_whole": {low, high} <= whole,
        "module_grad_ratio": levels[high] / levels[low] if levels[low] > 0 else None,
        "module_grad_first_ratio": float(np.median(first[high])) / began if began > 0 else None,
        "module_grad_highest": levels[high],
        "module_without_grad": low
        if len(sizes[low]) >= MIN_POINTS and not any(sizes[low]) and levels[high] > 0 and not _is_frozen(context, low)
        else None,
        "module_grad_low": low,
        "module_grad_high": high,
    }


def _is_frozen(context: Context, module: str) -> bool:
    """Whether a setting freezes the module: `freeze_encoder: true`, `frozen: [encoder]`."""
    freezes = context.run.config.filter(pl.col("key").str.contains(_FREEZES)).drop_nulls("value")
    settings = freezes.select(pl.col("key", "value").str.to_lowercase()).iter_rows()
    return any(module in (key if value in _ON else value) for key, value in settings)
