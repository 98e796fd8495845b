"""Features of training in fp8: its format, and the steps that its scales remember."""

from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature

FEATURES = (
    Feature("config_fp8", "text", "", "format or recipe of fp8 in the config, lower case (NULL: fp8 is off, or not named)", "config"),
    Feature("config_fp8_history", "float", "steps", "steps whose largest values set the scales of fp8, if they are delayed", "config"),
)  # fmt: skip
_FORMATS = ("fp8", "fp8_format", "fp8_recipe", "float8_recipe_name", "enable_fp8", "use_fp8")
_HISTORIES = ("fp8_amax_history_len", "amax_history_len")
_OFF = ("none", "null", "false", "no", "off", "0", "")


def compute(context: Context) -> Computed:
    """All of FEATURES.

    Source: NVIDIA Transformer Engine, `DelayedScaling`; Megatron-LM's arguments `--fp8-format` and
    `--fp8-amax-history-len`.
    """
    named = ((context.text(key) or "").strip().lower() for key in _FORMATS)
    fp8 = next((value[:40] for value in named if value not in _OFF), None)
    precision = (context.text("precision", "dtype", "mixed_precision") or "").lower()
    fp8 = fp8 or ("fp8" if "fp8" in precision or "float8" in precision else None)
    return {"config_fp8": fp8, "config_fp8_history": context.number(*_HISTORIES) if fp8 else None}
