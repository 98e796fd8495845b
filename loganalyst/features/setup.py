"""Features of the config: optimiser, batches, model and data."""

import re

from loganalyst.features.context import OF_HELD_OUT, Computed, Context, ratio
from loganalyst.features.printedparameters import printed_parameters
from loganalyst.model import Feature
from loganalyst.patterntraits import having

FEATURES = (
    Feature("config_batch", "float", "samples", "samples per update: the global batch size, otherwise batch size times gradient accumulation", "config"),
    Feature("lr_for_batch", "float", "rate", "usual learning rate of SGD for this batch size: 0.1 for 256 samples", "config"),
    Feature("config_beta2", "float", "", "decay rate of Adam's second moment", "config"),
    Feature("config_epsilon", "float", "", "epsilon that Adam adds to the root of its second moment", "config"),
    Feature("config_weight_decay", "float", "", "weight decay", "config"),
    Feature("config_dropout", "float", "share", "share of units dropped in training", "config"),
    Feature("config_warmup", "float", "", "warm-up in steps, or below 1 as a share of the run (0 = none)", "config"),
    Feature("config_epochs", "float", "epochs", "planned passes over the data", "config"),
    Feature("config_shuffle", "bool", "", "the training data is shuffled, by the config or a line of the log", "config"),
    Feature("config_same_data", "bool", "", "training data and held-out data have the same path", "config"),
    Feature("config_data", "text", "", "path or name of the training data", "config"),
    Feature("config_lora_rank", "float", "", "rank of the LoRA adapters", "config"),
    Feature("config_lora_alpha", "float", "", "scale of the LoRA adapters, before division by the rank", "config"),
    Feature("config_lora_scale", "float", "ratio", "LoRA scale divided by rank: the factor on the output of an adapter", "config"),
    Feature("config_accumulation", "float", "batches", "batches whose gradients are added for one update", "config"),
    Feature("config_dpo_beta", "float", "", "weight of the reference policy in preference learning", "config"),
    Feature("config_smoothing", "float", "share", "label smoothing", "config"),
    Feature("config_parameters", "float", "parameters", "parameters of the model: from the config, otherwise as the log prints them", "config"),
    Feature("config_width", "float", "units", "units of the hidden layers, or the size of the embedding", "config"),
    Feature("config_trainable_share", "float", "share", "share of the parameters that is trained (NULL with adapters, which are few on purpose)", "config"),
    Feature("embedding_parameter_share", "float", "share", "share of the parameters in the token embedding: vocabulary times width; of all parameters as stated, or of this and 12 times the width squared for each layer of a transformer", "config"),
)  # fmt: skip

EPOCH_KEYS = ("num_train_epochs", "max_epochs", "num_epochs", "n_epochs", "epochs")
_ACCUMULATION = ("gradient_accumulation_steps", "accumulate_grad_batches", "grad_accum_steps", "grad_accum")
_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")  # of a transformer
LAYER_MATRICES = 12  # of a width squared: 4 of attention, 8 of a feed-forward layer of four times the width
_WIDTH = ("hidden_size", "d_model", "n_embd", "embed_dim", "embedding_dim", "emb_dim")
_NUMBERS = {
    "config_beta2": ("adam_beta2", "beta2", "b2", "betas.1"),
    "config_epsilon": ("adam_epsilon", "adam_eps", "adamw_eps", "optimizer.eps", "optim.eps", "opt_eps"),
    "config_weight_decay": ("weight_decay", "wd", "l2"),
    "config_dropout": ("dropout", "dropout_rate", "drop_rate", "p_dropout", "hidden_dropout_prob"),
    "config_warmup": ("warmup_steps", "num_warmup_steps", "warmup_iters", "warmup_ratio", "warmup", "warmup_epochs"),
    "config_epochs": EPOCH_KEYS,
    "config_lora_rank": ("lora_r", "lora_rank", "lora.r", "lora.rank", "adapter_rank"),
    "config_lora_alpha": ("lora_alpha", "lora.alpha", "peft.alpha", "adapter_alpha"),
    "config_accumulation": _ACCUMULATION,
    "config_dpo_beta": ("dpo_beta", "dpo.beta", "preference_beta", "beta_dpo"),
    "config_smoothing": ("label_smoothing", "label_smoothing_factor", "smoothing"),
    "config_width": (
        *_WIDTH,
        "hidden_dim",
        "hidden_units",
        "hidden_features",
        "hidden_channels",
        "hidden",
        "n_hidden",
        "model_dim",
        "dim_model",
        "width",
    ),
    "config_parameters": ("num_parameters", "n_parameters", "num_params", "n_params", "total_params", "parameters"),
}
_SIZES = ("config_width", "config_parameters", "config_lora_rank")  # -1 or 0 stand for a default
_TRAINABLE = ("trainable_parameters", "num_trainable_parameters", "trainable_params", "num_trainable_params", "n_trainable_params")  # fmt: skip
_GLOBAL_BATCH = ("global_batch_size", "total_batch_size", "train_batch_size_total", "effective_batch_size")
_BATCH = ("per_device_train_batch_size", "train_batch_size", "batch_size", "batch", "bs")
_VOCABULARY = ("padded_vocab_size", "vocab_size", "n_vocab")
_TRAIN = ("train_file", "train_data", "train_path", "train_dataset", "data.train", "train_dir", "train_set", "dataset")
_HELD_OUT = ("validation_file", "val_file", "val_data", "val_path", "val_dataset", "data.val", "val_dir", "eval_file", "eval_data", "eval_dataset", "test_file", "val_set")  # fmt: skip
RATE_OF_256 = 0.1  # usual SGD learning rate for 256 samples (Goyal et al. 2017, arXiv:1706.02677)
_SHUFFLE = ("shuffle", "shuffle_train", "train_shuffle", "shuffle_data", "shuffle_dataset", "shuffle_training_data", "dataset_shuffle")  # fmt: skip
_NO_SHUFFLE = ("no_shuffle", "disable_shuffle", "disable_shuffling", "sequential_sampling")
# the order in which a batch of answers or transitions is gone through: `actor.shuffle` of verl, `replay_buffer.shuffle`
_OF_A_BATCH = re.compile(r"(?:^|_)(?:actor|critic|ppo|policy|rollout|buffer)(?:$|_)")
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")


def compute(context: Context) -> Computed:
    """All of FEATURES; what the config does not name is not known."""
    numbers = {name: context.number(*keys) for name, keys in _NUMBERS.items()}
    numbers |= {name: size if size is None or size > 0 else None for name, size in numbers.items() if name in _SIZES}
    if numbers["config_dpo_beta"] is None and context.with_role("preference_margin"):
        numbers["config_dpo_beta"] = context.number(
            "beta"
        )  # TRL's DPOConfig; elsewhere `beta` may be Adam's or a VAE's
    if numbers["config_lora_rank"] is None:
        numbers["config_lora_rank"] = _peft_rank(context)
    rank, alpha, size = (numbers[f"config_{name}"] for name in ("lora_rank", "lora_alpha", "parameters"))
    trained = context.number(*_TRAINABLE)
    if size is None and trained is None and (printed := printed_parameters(context.run)) is not None:
        trained, size = printed
    return (
        Computed(numbers)
        | {
            "config_parameters": size,
            "config_lora_scale": ratio(alpha, rank),
            "config_batch": configured_batch(context),
            "lr_for_batch": _usual_rate(configured_batch(context)),
            "config_trainable_share": _share(trained, size) if rank is None else None,
        }
        | _data(context)
        | _embedding(context, size)
    )


def _peft_rank(context: Context) -> float | None:
    """The rank `r` that stands at the same place as `lora_alpha`, as in PEFT's LoraConfig and adapter_config.json."""
    config = context.run.config.select("key", "number").drop_nulls()
    numbers = {key.lower(): number for key, number in config.iter_rows()}
    places = (key.removesuffix("lora_alpha") for key in numbers if key.split(".")[-1] == "lora_alpha")
    return next((numbers[f"{place}r"] for place in places if f"{place}r" in numbers), None)


def configured_batch(context: Context) -> float | None:
    """The samples per update that the config names; None if it names none."""
    whole, part = context.number(*_GLOBAL_BATCH), context.number(*_BATCH)
    return whole if whole is not None or part is None else part * (context.number(*_ACCUMULATION) or 1.0)


def _usual_rate(batch: float | None) -> float | None:
    """The learning rate for a batch by the linear scaling rule (Goyal et al. 2017, arXiv:1706.02677)."""
    return None if batch is None else RATE_OF_256 * batch / 256


def _data(context: Context) -> Computed:
    train, held_out = context.text(*_TRAIN), context.text(*_HELD_OUT)
    return {
        "config_shuffle": _shuffled(context),
        "config_same_data": None if train is None or held_out is None else train.strip() == held_out.strip(),
        "config_data": train,
    }


def _shuffled(context: Context) -> bool | None:
    """Whether the training data is shuffled. Settings of held-out data and of the batches of an update do not count."""
    known = {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}
    for key, value in context.run.config.select("key", "value").drop_nulls().iter_rows():
        *parents, name = key.lower().replace("-", "_").split(".")
        if name not in (*_SHUFFLE, *_NO_SHUFFLE) or any(map(_OF_A_BATCH.search, parents)):
            continue
        if any(map(OF_HELD_OUT.search, (*parents, name))):
            continue
        found = known.get(value.strip().lower())
        if found is not None:
            return found != (name in _NO_SHUFFLE)
    unshuffled = context.run.lines["pattern"].is_in(having("not_shuffled")).any()
    return False if unshuffled else None


def _embedding(context: Context, size: float | None) -> Computed:
    """The share of one token embedding, of the stated parameters or of those that the sizes give."""
    words, width, layers = context.number(*_VOCABULARY), context.number(*_WIDTH), context.number(*_LAYERS)
    if words is None or width is None:
        return {"embedding_parameter_share": None}
    if size is None and layers is not None:
        size = words * width + LAYER_MATRICES * layers * width**2
    return {"embedding_parameter_share": _share(words * width, size)}


def _share(part: float | None, size: float | None) -> float | None:
    """A share of the parameters; None above 1, where the numbers do not belong together."""
    share = ratio(part, size)
    return share if share is not None and share <= 1 else None
