"""The JSON Schema of `inspect --format json`."""

from loganalyst.model import InspectionFinding, InspectionKind, TensorVerdict
from loganalyst.report.diagnosis.schema import INTEGER, NUMBER, SHARE, TEXT, Json, listed, object_, one_of, or_null
from loganalyst.report.inspection.screen import SCHEMA_ID

__all__ = ["schema"]


def schema() -> Json:
    """The schema of the one object that `inspect` prints."""
    finding = object_(
        kind=one_of(InspectionKind),
        severity=one_of(InspectionFinding.__annotations__["severity"]),
        path=TEXT,
        text=TEXT,
        tensors=listed(TEXT, "Those that show it."),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "What checkpoints hold",
        "description": 'Non-finite numbers are the text "NaN", "Infinity" or "-Infinity"; null means not known.',
        **object_(
            schema={"const": SCHEMA_ID},
            unusable={"type": "boolean", "description": "A tensor of a model or an optimiser is not finite."},
            checkpoints=listed(_checkpoint(), "In the order they were named."),
            changes=listed(_change(), "Each checkpoint against the one before."),
            findings=listed(finding, "The worst first."),
        ),
    }


def _checkpoint() -> Json:
    module = object_(name=TEXT, parameters=INTEGER, share=SHARE, norm=or_null(NUMBER))
    return object_(
        path=TEXT,
        format=TEXT,
        bytes=INTEGER,
        tensors=listed(_tensor(), "In the order of the file."),
        modules=listed(module),
        parameters={**INTEGER, "description": "Tied tensors count once."},
        embedding_share=or_null(SHARE),
        tied=listed(listed(TEXT), "Names that share their storage."),
        optimizers=listed(_optimizer()),
        loss_scale=or_null(NUMBER),
        lr=listed(NUMBER, "The last rates, one a parameter group."),
        epoch=or_null(NUMBER),
        step=or_null(INTEGER),
        rng=listed(TEXT, "Random generators whose state is saved."),
        unread=listed(TEXT, "Parts that are not read, for they need code, and which."),
    )


def _tensor() -> Json:
    return object_(
        name=TEXT,
        shape=listed(INTEGER),
        dtype=TEXT,
        count=INTEGER,
        nan=INTEGER,
        inf=INTEGER,
        zeros=INTEGER,
        tiny={**INTEGER, "description": "|x| below 1e-8, zeros among them; of exp_avg_sq below eps squared."},
        min={**or_null(NUMBER), "description": "This and the next four are of the finite values."},
        max=or_null(NUMBER),
        mean=or_null(NUMBER),
        std=or_null(NUMBER),
        norm={**or_null(NUMBER), "description": "L2."},
        dead_rows={**INTEGER, "description": "Rows (of the first axis) that are all zeros."},
        spectral_norm={**or_null(NUMBER), "description": "With --spectra, of matrices: the largest singular value."},
        effective_rank={**or_null(NUMBER), "description": "exp of the entropy of the singular values (Roy, Vetterli)."},
    )


def _optimizer() -> Json:
    return object_(
        step=or_null(INTEGER),
        eps=NUMBER,
        lr=listed(NUMBER),
        moments=listed(_tensor(), "Named by their parameter, or its number."),
        blown_up=listed(TEXT, "Second moments far above those of the other tensors."),
        eps_share={**or_null(SHARE), "description": "Of second moments above 0: those with sqrt(v) below eps."},
    )


def _change() -> Json:
    tensor = object_(name=TEXT, verdict=one_of(TensorVerdict), relative=or_null(NUMBER), cosine=or_null(NUMBER))
    return object_(old=TEXT, new=TEXT, tensors=listed(tensor), median=or_null(NUMBER))
