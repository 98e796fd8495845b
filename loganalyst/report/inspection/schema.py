"""The JSON Schema of `inspect --format json`."""

from loganalyst.model import CheckpointScan, InspectionFinding, ModuleShare
from loganalyst.model.inspection import CheckpointChange, OptimizerScan, TensorStats
from loganalyst.report.common.schemaparts import BOOLEAN, SHARE, Json, document, listed, object_, object_of, or_null
from loganalyst.report.inspection.screen import SCHEMA_ID

__all__ = ["schema"]


def schema() -> Json:
    """The schema of the one object that `inspect` prints."""
    finding = object_of(InspectionFinding, tensors="The tensors that show it.")
    body = object_(
        schema={"const": SCHEMA_ID},
        unusable={**BOOLEAN, "description": "A tensor of a model or an optimiser is not finite."},
        checkpoints=listed(_checkpoint(), "In the order they were named."),
        changes=listed(object_of(CheckpointChange), "Each checkpoint compared with the one before."),
        findings=listed(finding, "The worst first."),
    )
    return document(SCHEMA_ID, "What checkpoints hold", body)


def _checkpoint() -> Json:
    return object_of(
        CheckpointScan,
        tensors=listed(_tensor(), "In the order of the file."),
        modules=listed(object_of(ModuleShare, share=SHARE)),
        parameters="Tied tensors count once.",
        embedding_share=or_null(SHARE),
        tied="Groups of names that share their storage.",
        optimizers=listed(_optimizer()),
        lr="The last learning rates, one for each parameter group.",
        rng="Random generators whose state is saved.",
        unread="Parts that were not read because reading them would run code.",
    )


def _tensor() -> Json:
    return object_of(
        TensorStats,
        tiny="Values with |x| below 1e-8, zeros included; for exp_avg_sq: below eps squared.",
        min="`min`, `max`, `mean`, `std` and `norm` cover the finite values only.",
        norm="L2.",
        dead_rows="Rows (along the first axis) that are all zeros.",
        spectral_norm="Only with --spectra and for matrices: the largest singular value.",
        effective_rank="exp of the entropy of the singular values (Roy, Vetterli).",
    )


def _optimizer() -> Json:
    return object_of(
        OptimizerScan,
        moments=listed(_tensor(), "Named by their parameter, or by its number."),
        blown_up="Second moments far above those of the other tensors.",
        eps_share=or_null(SHARE, "Share of the non-zero second moments v with sqrt(v) below eps."),
    )
