"""Features of the convergence of the training loss: the law of its fall, its limit, and the gain from more steps."""

from loganalyst.features.context import Computed, Context, ratio, witness_at
from loganalyst.model import Feature

ROLE = "train_loss"

FEATURES = (
    Feature("train_loss_fit", "text", "", "law that fits the fall of the training loss better: power law or exponential", ROLE),
    Feature("train_loss_fit_explained", "float", "share", "share of the variance after the first tenth of the run that the law explains", ROLE),
    Feature("train_loss_fit_rate", "float", "", "exponent of the power law, or rate of the exponential per run", ROLE),
    Feature("train_loss_fit_rate_error", "float", "", "standard error of train_loss_fit_rate", ROLE),
    Feature("train_loss_limit", "float", "loss", "value that the law tends to; only if its error is smaller than the fall so far", ROLE),
    Feature("train_loss_limit_error", "float", "loss", "standard error of train_loss_limit", ROLE),
    Feature("train_loss_gain", "float", "loss", "expected further fall if training continued for as many steps again", ROLE),
    Feature("train_loss_gain_relative", "float", "share", "train_loss_gain divided by the last level", ROLE),
    Feature("train_loss_gain_z", "float", "standard errors", "train_loss_gain divided by its standard error", ROLE),
)  # fmt: skip

LAW_NAMES = {"power": "power law", "exponential": "exponential"}


def compute(context: Context) -> Computed:
    """All of FEATURES, if the training loss falls over at least 12 points."""
    curves = context.with_role(ROLE)
    if not curves or (fit := context.convergence(curves[0])) is None:
        return {}
    shape = context.shape(curves[0])
    last, fallen = shape.last, (shape.maximum or 0.0) - (shape.minimum or 0.0)
    return {
        "train_loss_fit": (LAW_NAMES[fit.kind], witness_at(curves[0])),
        "train_loss_fit_explained": fit.explained,
        "train_loss_fit_rate": fit.rate,
        "train_loss_fit_rate_error": fit.rate_error,
        "train_loss_limit": fit.limit if fit.limit_error < fallen else None,
        "train_loss_limit_error": fit.limit_error,
        "train_loss_gain": fit.gain,
        "train_loss_gain_relative": ratio(fit.gain, None if last is None else abs(last)),
        "train_loss_gain_z": ratio(fit.gain, fit.gain_error),
    }
