"""What was trained and how, in a few rows: model, loss, optimiser, schedule, data; as far as the logs tell."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from loganalyst.model import Diagnosis, FeatureValue
from loganalyst.report.common.wording import clean, count, number, percent
from loganalyst.report.diagnosis.overview import Row

__all__ = ["setup"]

MODEL = ("model_name_or_path", "model_name", "architecture", "arch", "model_type", "model", "net", "network")
# settings that weigh a term of the loss; `\w*` twice takes cubic time, so longer names than LONGEST are not asked
WEIGHT = re.compile(
    r"(?:^|_)(?:loss|kl|kld|recon\w*|commit\w*|entropy|ent|vf|value|aux|perceptual|adv\w*|gan|reg\w*)_?"
    r"(?:weight|coef\w*|lambda|scale)$|^lambda_\w+$|^w_\w+$"
)
TERMS, LONGEST = 8, 80
KINDS = {"warmup_constant": "constant after a warm-up", "one_cycle": "one cycle", "inverse_sqrt": "inverse square root"}

Values = Mapping[str, FeatureValue]


def setup(d: Diagnosis) -> Iterator[Row]:
    """The rows that have something to say."""
    known, config = d.features.values, _settings(d.run.config)
    rows = {
        "Model": _model(known, config),
        "Loss": _loss(d, config),
        "Optimiser": _optimiser(known),
        "Schedule": _schedule(known),
        "Data": _data(known),
    }
    for label, told in rows.items():
        if parts := [clean(part, 200) for part in told if part]:
            yield Row(label, ", ".join(parts))


def _settings(config: pl.DataFrame) -> dict[str, str]:
    """The value of each setting by the last part of its key; of several the first."""
    rows = config.select("key", "value").reverse().iter_rows()
    return {key.rpartition(".")[2].lower(): value for key, value in rows if value}


def _model(known: Values, config: Mapping[str, str]) -> Iterator[str]:
    yield next((config[key][:LONGEST] for key in MODEL if key in config), "")
    yield _told(known, "config_parameters", _parameters)
    yield _told(known, "embedding_parameter_share", lambda v: f"{percent(v)} of it embeddings")
    yield _told(known, "config_lora_rank", lambda v: f"adapters of rank {number(v)}")
    yield _told(known, "config_dropout", lambda v: f"dropout {number(v)}")
    yield _told(known, "config_precision", str)


def _loss(d: Diagnosis, config: Mapping[str, str]) -> Iterator[str]:
    yield _told(d.features.values, "train_loss_metric", str)
    terms = [c for c in d.curves if c.role.name == "loss_component" or c.weight != 1.0]
    shown = [clean(c.metric, LONGEST) + (f" × {number(c.weight)}" if c.weight != 1.0 else "") for c in terms[:TERMS]]
    more = f" and {len(terms) - TERMS} more" if len(terms) > TERMS else ""
    yield f"{count(len(terms), 'term')}: {', '.join(shown)}{more}" if terms else ""
    weights = [
        f"{key} = {value[:LONGEST]}" for key, value in config.items() if len(key) <= LONGEST and WEIGHT.search(key)
    ]
    yield from sorted(weights)[:TERMS]


def _optimiser(known: Values) -> Iterator[str]:
    yield _told(known, "optimizer", str)
    yield _told(known, "lr_peak", lambda v: f"peak rate {number(v)}")
    yield _told(known, "config_beta2", lambda v: f"beta2 {v:g}")
    yield _told(known, "config_epsilon", lambda v: f"epsilon {number(v)}")
    yield _told(known, "config_weight_decay", lambda v: f"weight decay {number(v)}")
    yield _told(known, "config_clip", lambda v: f"clipped at {number(v)}" if v else "no clipping")


def _schedule(known: Values) -> Iterator[str]:
    yield _told(known, "lr_kind", lambda v: KINDS.get(v, v))
    warm = known.get("lr_warmup_share")
    yield _told(known, "lr_warmup_share", lambda v: f"warm-up over {percent(v)} of the run" if v else "no warm-up")
    yield _told(known, "config_warmup", lambda v: f"warm-up {number(v)}") if warm is None else ""
    yield _told(known, "lr_last_share", lambda v: f"ended at {percent(v)} of its peak")
    yield _told(known, "run_planned_steps", lambda v: f"{number(v)} steps planned")
    yield _told(known, "config_epochs", lambda v: f"{number(v)} epochs planned")


def _data(known: Values) -> Iterator[str]:
    yield _told(known, "config_data", lambda v: v[:LONGEST])
    yield _told(known, "config_batch", lambda v: f"{number(v)} samples an update")
    yield _told(known, "config_shuffle", lambda v: "shuffled" if v else "not shuffled")


def _told(known: Values, name: str, say: Any) -> str:
    value = known.get(name)
    return "" if value is None else str(say(value))


def _parameters(n: float) -> str:
    for size, unit in ((1e9, "billion "), (1e6, "million ")):
        if n >= size:
            return f"{n / size:.3g} {unit}parameters"
    return f"{n:,.0f} parameters"
