"""Facts that are worked out from several settings: sizes, effective batch, tokens, warm-up, precision."""

import math
import re
from collections.abc import Mapping

import msgspec

from loganalyst.checking.modelsize import Sizes, named
from loganalyst.model import Feature, FeatureValue
from loganalyst.thresholds import feature_limit

# name, type, unit, meaning; and the facts that it is worked out from, of which the first known one is named
_D = "derived"
DERIVED = (
    Feature("kind", "text", "", "kind of training; `unknown` where it is not sure", _D),
    Feature("language_model", "bool", "", "a language model, by kind, family or vocabulary (no: nothing shows it)", _D),
    Feature("adapters", "bool", "", "LoRA adapters are trained (no: no setting names them)", _D),
    Feature("pretrained", "bool", "", "training starts from a pretrained model (no: no setting names one)", _D),
    Feature("loss_normalised", "bool", "", "the preference loss is normalised by length (no: no setting says so)", _D),
    Feature("preference_sort", "text", "", "sort of preference loss (sigmoid: no setting names another)", _D),
    Feature("packing_open", "bool", "", "packing without a setting that stops attention at borders", _D),
    Feature("fp8_delayed", "bool", "", "scales of fp8 come from earlier steps (no: no setting says so)", _D),
    Feature("beta1_used", "float", "", "beta1 of Adam", _D),
    Feature("beta2_used", "float", "", "beta2 of Adam", _D),
    Feature("precision_kind", "text", "", "numeric precision: fp32, tf32, bf16, fp16 or fp8", _D),
    Feature("model_size", "float", "parameters", "parameters of the model", _D),
    Feature("size_known", "bool", "", "the parameters of the model are known", _D),
    Feature("embedding_share", "float", "share", "share of the parameters in token embedding and output layer", _D),
    Feature("batch_total", "float", "samples", "effective batch size", _D),
    Feature("tokens_per_update", "float", "tokens", "number of tokens in one update", _D),
    Feature("tokens_planned", "float", "tokens", "tokens that the run trains on", _D),
    Feature("tokens_per_parameter", "float", "tokens", "number of training tokens for each parameter", _D),
    Feature("data_passes", "float", "passes", "number of passes over the training data", _D),
    Feature("warmup_share", "float", "share", "warm-up as a share of the run", _D),
    Feature("schedule_share", "float", "ratio", "length of the schedule divided by the length of the run", _D),
    Feature("adapter_scale", "float", "ratio", "factor on the output of an adapter: alpha divided by the rank", _D),
    Feature("adapter_target_count", "int", "modules", "kinds of modules that have an adapter", _D),
    Feature("head_width_left", "float", "", "remainder of the width divided by the heads", _D),
    Feature("kv_heads_left", "float", "", "remainder of the heads divided by the key-value heads", _D),
    Feature("length_ratio", "float", "ratio", "length of the sequences divided by the positions of the model", _D),
    Feature("seed_recorded", "bool", "", "a seed is recorded", _D),
    Feature("data_version_recorded", "bool", "", "a version of the data is recorded", _D),
)  # fmt: skip
WORKED_OUT_FROM: Mapping[str, tuple[str, ...]] = {
    "adapters": ("adapter_rank", "adapter_type"),
    "pretrained": ("base_model",),
    "packing_open": ("packed",),
    "fp8_delayed": ("fp8_history",),
    "beta1_used": ("beta1", "betas"),
    "beta2_used": ("beta2", "betas"),
    "precision_kind": ("fp16_on", "bf16_on", "precision_name"),
    "model_size": ("size_stated",),
    "batch_total": ("batch_global", "batch_per_device", "batch_plain"),
    "tokens_per_update": ("batch_plain", "sequence_length"),
    "tokens_per_parameter": ("size_stated", "sequence_length", "tokens_stated"),
    "data_passes": ("epochs_planned", "dataset_tokens"),
    "warmup_share": ("warmup_ratio", "warmup_steps", "warmup_epochs"),
    "schedule_share": ("schedule_total",),
    "adapter_scale": ("adapter_alpha",),
    "adapter_target_count": ("adapter_targets",),
    "head_width_left": ("heads",),
    "kv_heads_left": ("kv_heads",),
    "length_ratio": ("sequence_length",),
}
_LANGUAGE_KINDS = ("pretraining", "fine-tuning", "preference", "verifiable-rewards")
_OWN_DATA = ("reinforcement", "verifiable-rewards")  # kinds whose epochs are passes over samples of their own
_UNKNOWN = "unknown"
_NUMBER = re.compile(r"[0-9]{1,30}(?:\.[0-9]{0,30})?(?:e-?[0-9]{1,3})?")  # each number of `(0.9, 0.95)`
_TOKENS_FROM = 32_768  # a global batch of so many is counted in tokens, as in nanoGPT's `total_batch_size`
_MAX_EPOCHS = 1e6  # more stand for "until max_steps"
_FARTHEST = 20.0  # a schedule that is longer or shorter by this factor counts in another unit


class Known(msgspec.Struct, frozen=True):
    """The facts known so far: features of the run, and settings that were looked up."""

    values: Mapping[str, FeatureValue]

    def number(self, name: str) -> float | None:
        """The number of a fact that is above 0; None where it is not known."""
        value = self.at_least_zero(name)
        return value or None

    def at_least_zero(self, name: str) -> float | None:
        """The number of a fact, 0 included."""
        value = self.values.get(name)
        known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
        return float(value) if known else None  # type: ignore[arg-type]

    def text(self, name: str) -> str | None:
        """The text of a fact."""
        value = self.values.get(name)
        return value if isinstance(value, str) else None


def derive(
    values: Mapping[str, FeatureValue], *, kind: str | None, modules: int, settings: int
) -> dict[str, FeatureValue]:
    """All of DERIVED; None where it is not known. A method that the settings state decides the kind.

    `values` are features and settings that were looked up, `kind` the kind of training where it is sure, `modules` the
    number of modules that are named for adapters, and `settings` that of all settings.
    """
    found = {**values, "kind": values.get("method_stated") or kind or _UNKNOWN, "adapter_target_count": modules or None}
    for part in (_start, _optimiser, _model, _batch, _length, _warmup, _adapter, _shapes):
        found |= part(Known(found))
    if settings >= feature_limit("whole_config"):
        found |= _records(Known(found))
    return {fact.name: found.get(fact.name) for fact in DERIVED}


def _start(known: Known) -> dict[str, FeatureValue]:
    rank, sort = known.at_least_zero("adapter_rank"), known.text("adapter_type")
    kind, vocabulary = known.text("kind"), known.number("vocabulary")
    family = known.text("model_family") is not None or vocabulary is not None
    return {
        "adapters": bool(rank) or sort == "lora",
        "pretrained": known.text("base_model") is not None or known.values.get("pretrained_switch") is True,
        "language_model": kind in _LANGUAGE_KINDS or (family and kind == _UNKNOWN),
        "loss_normalised": known.text("preference_loss") == "normalised",
        "preference_sort": known.text("preference_loss") or "sigmoid",
        "packing_open": known.values.get("packed") is True and known.values.get("packing_bordered") is not True,
        "fp8_delayed": known.number("fp8_history") is not None and known.text("fp8_scaling") != "current",
    }


def _optimiser(known: Known) -> dict[str, FeatureValue]:
    both = [float(part) for part in _NUMBER.findall(known.text("betas") or "")]
    pair = both if len(both) >= 2 else [None, None]
    return {
        "beta1_used": known.at_least_zero("beta1") if known.values.get("beta1") is not None else pair[0],
        "beta2_used": known.at_least_zero("beta2") if known.values.get("beta2") is not None else pair[1],
        "precision_kind": _precision(known),
    }


def _precision(known: Known) -> str | None:
    flags = [name for name in ("bf16", "fp16") if known.values.get(f"{name}_on") is True]
    return known.text("precision_name") if not flags else flags[0] if len(flags) == 1 else None


def _model(known: Known) -> dict[str, FeatureValue]:
    stated = known.number("size_stated") or known.number("config_parameters")
    sizes = _sizes(known)
    size = (
        stated or (sizes.parameters if sizes else None) or named(known.text("base_model") or known.text("model_named"))
    )
    share = (
        sizes.embedding / max(size, sizes.embedding) if sizes and size else known.number("embedding_parameter_share")
    )
    return {"model_size": size, "size_known": size is not None, "embedding_share": share}


def _sizes(known: Known) -> Sizes | None:
    """The sizes of a transformer with one stack of layers; None where one of the three main sizes is not known."""
    words, width, layers = (known.number(name) for name in ("vocabulary", "width", "layers"))
    if words is None or width is None or layers is None or known.values.get("two_stacks") is True:
        return None
    rotary = known.text("positions_kind") in ("rotary", "alibi")
    return Sizes(
        words, width, layers, known.number("inner_width"), known.number("heads"), known.number("kv_heads"),
        known.number("head_width"), gated=known.text("model_family") == "gated",
        tied=known.values.get("embeddings_tied") is not False,
        positions=0.0 if rotary or known.text("model_family") == "gated" else known.number("positions") or 0.0,
        experts=known.number("experts") or 1.0,
    )  # fmt: skip


def _batch(known: Known) -> dict[str, FeatureValue]:
    whole, part, plain = (known.number(f"batch_{name}") for name in ("global", "per_device", "plain"))
    accumulated, devices = known.number("accumulation"), known.number("devices") or 1.0
    if known.number("batch_mmengine"):  # that of one device; the number of devices stands in no config
        part, plain = (plain, None) if known.number("devices") else (None, None)
    cut = part and plain and plain > part and accumulated is None  # into micro batches
    if cut or known.number("batch_deepspeed"):  # DeepSpeed's `train_batch_size` is that of one update
        whole = whole or plain
    replicas = (known.number("lightning_devices") or 1.0) * (known.number("lightning_nodes") or 1.0)
    one = part * devices if part else plain and plain * replicas
    total = whole or (one and one * (accumulated or 1.0))
    length = known.number("sequence_length")
    in_tokens = whole is not None and whole >= _TOKENS_FROM
    tokens = whole if in_tokens else total * length if total and length else None
    return {"batch_total": None if in_tokens else total, "tokens_per_update": tokens}


def _length(known: Known) -> dict[str, FeatureValue]:
    steps, each = known.number("steps_planned"), known.number("tokens_per_update")
    tokens = known.number("tokens_stated") or (steps * each if steps and each else None)
    size, data = known.number("model_size"), known.number("dataset_tokens")
    epochs = known.number("epochs_planned")
    planned = epochs if epochs and epochs < _MAX_EPOCHS and steps is None else None  # a plan in steps comes first
    passes = known.number("run_epochs") or planned or (tokens / data if tokens and data else None)
    if known.text("kind") in _OWN_DATA:
        passes = None
    return {
        "tokens_planned": tokens,
        "tokens_per_parameter": tokens / size if tokens and size else None,
        "data_passes": passes,
    }


def _warmup(known: Known) -> dict[str, FeatureValue]:
    steps, ratio, epochs = (known.at_least_zero(f"warmup_{name}") for name in ("steps", "ratio", "epochs"))
    plan, passes = known.number("steps_planned"), known.number("epochs_planned")
    shares = [
        ratio,
        steps if steps is not None and steps < 1 else None if not plan or steps is None else steps / plan,
        epochs if epochs == 0 else epochs / passes if epochs and passes else None,
    ]
    given = [share for share in shares if share is not None]
    open_ = sum(x is not None for x in (steps, ratio, epochs)) > len(given)  # one of them is set in an unknown unit
    share = max(given, default=None)
    return {
        "warmup_share": None if open_ and not share else share,
        "schedule_share": _schedule(known.number("schedule_total"), plan, passes),
    }


def _schedule(total: float | None, *plans: float | None) -> float | None:
    """The length of the schedule against the plan in the same unit; None where no plan is in a like unit."""
    ratios = [total / plan for plan in plans if total and plan and 1 / _FARTHEST <= total / plan <= _FARTHEST]
    return min(ratios, key=lambda ratio: abs(math.log(ratio)), default=None)


def _adapter(known: Known) -> dict[str, FeatureValue]:
    rank, alpha = known.number("adapter_rank"), known.at_least_zero("adapter_alpha")
    stable = known.values.get("adapter_rank_stable") is True  # alpha is then divided by the root of the rank
    return {"adapter_scale": None if rank is None or alpha is None or stable else alpha / rank}


def _shapes(known: Known) -> dict[str, FeatureValue]:
    width, heads, shared = (known.number(name) for name in ("width", "heads", "kv_heads"))
    length, positions = known.number("sequence_length"), known.number("positions")
    own = known.number("head_width") is not None  # the heads then need not share the width
    return {
        "head_width_left": None if own else _remainder(width, heads),
        "kv_heads_left": _remainder(heads, shared),
        "length_ratio": length / positions if length and positions else None,
    }


def _remainder(whole: float | None, part: float | None) -> float | None:
    return whole % part if whole and part else None


def _records(known: Known) -> dict[str, FeatureValue]:
    """Whether seed and data version are recorded; not known of a config without a learning rate."""
    if known.number("learning_rate") is None:
        return {}
    return {
        "seed_recorded": known.values.get("seed") is not None,
        "data_version_recorded": known.text("data_version") is not None,
    }


__all__ = ["DERIVED", "WORKED_OUT_FROM", "Known", "derive"]
