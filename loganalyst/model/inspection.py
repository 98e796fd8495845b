"""The contents of checkpoints."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loganalyst.model.shortrepr import Short


@dataclass(frozen=True, repr=False)
class TensorStats(Short):
    """Statistics of one stored tensor.

    `min` to `norm` (L2) cover its finite values (None without any). `tiny` counts |x| below 1e-8, including zeros (for
    Adam's second moment: below eps squared). `dead_rows` hold only zeros: outputs that never change. `spectral_norm`
    (largest singular value) and `effective_rank` (first axis against all others) are computed on request, for a matrix
    of finite values that are not all 0.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    count: int
    nan: int
    inf: int
    zeros: int
    tiny: int
    min: float | None
    max: float | None
    mean: float | None
    std: float | None
    norm: float | None
    dead_rows: int = 0
    spectral_norm: float | None = None
    effective_rank: float | None = None

    @property
    def nonfinite(self) -> int:
        """NaN and infinite values."""
        return self.nan + self.inf

    @property
    def embedding(self) -> bool:
        """Whether it is an embedding table, by its module's name and its two axes."""
        words = (self.name.rpartition(".")[0] or self.name).lower().replace("_", ".").split(".")
        return len(self.shape) == 2 and any(w.startswith("emb") or w in ("wte", "wpe") for w in words)


@dataclass(frozen=True)
class ModuleShare:
    """The parameters of one module, their share of the model, and their L2 norm (None if a parameter has none)."""

    name: str
    parameters: int
    share: float
    norm: float | None


@dataclass(frozen=True, repr=False)
class OptimizerScan(Short):
    """The state of one optimiser.

    `blown_up` are second moments whose largest value is far above those of the other tensors. `eps_share` is the share
    of second moments v with sqrt(v) below eps: there eps, not the gradient, sets the step. Zeros are left out, because
    such a parameter never had a gradient.
    """

    step: int | None
    eps: float
    lr: tuple[float, ...]
    moments: tuple[TensorStats, ...]
    blown_up: tuple[str, ...]
    eps_share: float | None


@dataclass(frozen=True, repr=False)
class CheckpointScan(Short):
    """One checkpoint: its tensors, model, optimisers and training state.

    Tied tensors (groups in `tied`) count once among the parameters. `rng` names the random generators with a saved
    state. `unread` are the parts that only code could read.
    """

    path: Path
    format: str
    bytes: int
    tensors: tuple[TensorStats, ...]
    modules: tuple[ModuleShare, ...]
    parameters: int
    embedding_share: float | None
    tied: tuple[tuple[str, ...], ...]
    optimizers: tuple[OptimizerScan, ...]
    loss_scale: float | None
    lr: tuple[float, ...]
    epoch: float | None
    step: int | None
    rng: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


TensorVerdict = Literal["changed", "frozen", "runaway", "reset", "added", "removed", "reshaped", "not_finite"]


@dataclass(frozen=True)
class TensorChange:
    """A tensor in two checkpoints: L2 norm of the difference relative to the old norm, and the cosine of both."""

    name: str
    verdict: TensorVerdict
    relative: float | None = None
    cosine: float | None = None


@dataclass(frozen=True, repr=False)
class CheckpointChange(Short):
    """The change from one given checkpoint to the next. `median` is that of the tensors that changed."""

    old: Path
    new: Path
    tensors: tuple[TensorChange, ...]
    median: float | None


InspectionKind = Literal[
    "nonfinite", "nonfinite_optimizer", "blown_up", "scale_collapsed", "dead_rows", "zeros", "runaway",
    "reset", "eps_dominated", "embedding_share", "frozen", "missing", "not_read", "unreadable",
    "low_rank",
]  # fmt: skip


@dataclass(frozen=True, repr=False)
class InspectionFinding(Short):
    """A fault, or something worth knowing, with the names of the tensors that show it."""

    kind: InspectionKind
    severity: Literal["unusable", "warning", "note"]
    path: Path
    text: str
    tensors: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Inspection(Short):
    """Checkpoints inspected without the code that wrote them. The worst finding comes first.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import loganalyst as la, torch
    >>> from safetensors.torch import save_file
    >>> file = Path(tempfile.mkdtemp(), "model.safetensors")
    >>> save_file({"layer.weight": torch.ones(2, 2)}, file)
    >>> found = la.inspect(file)
    >>> found.unusable, found.checkpoints[0].parameters
    (False, 4)
    """

    checkpoints: tuple[CheckpointScan, ...]
    changes: tuple[CheckpointChange, ...]
    findings: tuple[InspectionFinding, ...]

    @property
    def unusable(self) -> bool:
        """Whether a tensor of a model or an optimiser is not finite.

        >>> import tempfile
        >>> from pathlib import Path
        >>> import loganalyst as la, torch
        >>> from safetensors.torch import save_file
        >>> file = Path(tempfile.mkdtemp(), "model.safetensors")
        >>> save_file({"layer.weight": torch.ones(2, 2)}, file)
        >>> found = la.inspect(file)
        >>> found.unusable
        False
        """
        return any(f.severity == "unusable" for f in self.findings)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The JSON of the contract (schema loganalyst/inspection/1).

        >>> import json, tempfile
        >>> from pathlib import Path
        >>> import loganalyst as la, torch
        >>> from safetensors.torch import save_file
        >>> file = Path(tempfile.mkdtemp(), "model.safetensors")
        >>> save_file({"layer.weight": torch.ones(2, 2)}, file)
        >>> json.loads(la.inspect(file).to_json())["schema"]
        'loganalyst/inspection/1'
        """
        from loganalyst.report.inspection import screen

        return screen.render_json(self, indent=indent)

    def plot(self, path: str | Path) -> None:
        """Write a figure of the tensors, one per row, to a .png, .svg or .pdf outside of the checkpoints.

        >>> import tempfile
        >>> from pathlib import Path
        >>> import loganalyst as la, torch
        >>> from safetensors.torch import save_file
        >>> folder = Path(tempfile.mkdtemp())
        >>> (folder / "run").mkdir()
        >>> save_file({"layer.weight": torch.ones(2, 2)}, folder / "run/model.safetensors")
        >>> la.inspect(folder / "run/model.safetensors").plot(folder / "tensors.png")
        """
        from loganalyst.report.inspection import plot as inspectionplot

        inspectionplot.save(self, Path(path))
