"""Settings that describe a setup, in words: the shape of the model, the optimiser, the batch and the data."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["BATCH", "DATA", "OPTIMISER", "SCHEDULE", "SHAPE", "described"]

MAX_VALUE = 60  # characters of a value
OFF = ("", "none", "null", "false", "0", "0.0", "no", "off")


class Words(NamedTuple):
    """A phrase with a place for the value, and the names of the setting: the last part of its key, in lower case.

    `if_off` is said if the setting is given and switched off; empty: nothing is said then.
    """

    phrase: str
    keys: tuple[str, ...]
    if_off: str = ""


SHAPE = (
    Words("{} layers", ("num_hidden_layers", "n_layers", "n_layer", "num_layers", "depth", "encoder_layers")),
    Words("width {}", ("hidden_size", "d_model", "n_embd", "embed_dim", "hidden_dim", "model_dim", "width", "dim")),
    Words("{} heads", ("num_attention_heads", "n_heads", "n_head", "num_heads")),
    Words("{} key-value heads", ("num_key_value_heads", "n_kv_heads")),
    Words("{} experts", ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")),
    Words("latent size {}", ("latent_dim", "z_dim", "latent_size", "latent_channels")),
    Words("codebook of {}", ("codebook_size", "num_embeddings", "n_embed", "num_codes")),
    Words("vocabulary of {}", ("vocab_size", "n_vocab", "padded_vocab_size")),
    Words("sequences of {}", ("max_seq_length", "max_seq_len", "seq_len", "seq_length", "block_size", "max_length")),
    Words("{} classes", ("num_classes", "num_labels", "n_classes", "nc")),
    Words("activation {}", ("hidden_act", "activation", "activation_function")),
)
OPTIMISER = (
    Words("rate of Muon {}", ("muon_lr", "matrix_lr")),
    Words("betas {}", ("betas", "adam_betas")),
    Words("momentum {}", ("momentum",), "no momentum"),
    Words("Nesterov", ("nesterov",)),
    Words("layer-wise decay {}", ("layer_decay", "layerwise_lr_decay", "llrd")),
)
SCHEDULE = (
    Words("scheduler {}", ("lr_scheduler_type", "lr_scheduler", "scheduler", "lr_schedule", "lr_decay_style", "sched")),
    Words("lowest rate {}", ("min_lr", "lr_min", "min_learning_rate", "eta_min")),
)
BATCH = (
    Words("{} a device", ("per_device_train_batch_size", "micro_batch_size", "train_micro_batch_size_per_gpu")),
    Words(
        "{} accumulated",
        ("gradient_accumulation_steps", "accumulate_grad_batches", "grad_accum_steps", "grad_accum", "accum_iter"),
    ),
    Words("{} devices", ("world_size", "num_gpus", "n_gpus", "num_devices", "ngpus")),
)
DATA = (
    Words("{} samples", ("train_samples", "num_train_samples", "num_train_examples", "n_train", "train_size")),
    Words("normalised ({})", ("normalize", "normalise", "normalization", "normalisation"), "not normalised"),
    Words("mean {}", ("image_mean", "norm_mean")),
    Words("deviation {}", ("image_std", "norm_std")),
    Words(
        "augmentation {}",
        ("augmentation", "augment", "augmentations", "auto_augment", "aa", "transforms", "data_aug"),
        "no augmentation",
    ),
    Words("mixup {}", ("mixup", "mixup_alpha")),
    Words("cutmix {}", ("cutmix", "cutmix_alpha")),
    Words("random erasing {}", ("reprob", "random_erasing", "erasing")),
    Words("packed", ("packing", "sample_packing", "pack_sequences")),
)


def described(config: Mapping[str, str], words: tuple[Words, ...]) -> Iterator[str]:
    """The phrases for the settings that are given, in the order of `words`."""
    for phrase, keys, if_off in words:
        value = next((config[key].strip() for key in keys if key in config), None)
        if value is None:
            continue
        if value.lower() in OFF:
            yield if_off
        elif value.lower() in ("true", "yes", "on"):
            yield phrase.replace(" ({})", "").replace(" {}", "")
        else:
            yield phrase.format(value[:MAX_VALUE])
