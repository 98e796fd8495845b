"""loganalyst: root causes of failed trainings, from the logs they left behind. See docs/how-it-works.md.

The names below are the public API. They load on first use, so that `import loganalyst` and
`loganalyst --help` stay fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loganalyst import signals
    from loganalyst.auditing.batch import Audit, audit
    from loganalyst.auditing.confirm import confirm
    from loganalyst.auditing.verify import verify
    from loganalyst.checkpoint import inspect
    from loganalyst.comparing.comparisonresult import Comparison
    from loganalyst.comparing.wholecomparison import compare
    from loganalyst.evaluate.ownreference import add_reference
    from loganalyst.model import ChangePoint, Diagnosis, Inspection, Replay, Run, Verification
    from loganalyst.pipeline import check, diagnose, explain, read_run
    from loganalyst.replaying.replayrun import replay
    from loganalyst.replaying.spec import ReplaySpec
    from loganalyst.store import Store

DISTRIBUTION = "loganalyst-ml"  # the package's name for pip: on PyPI, `loganalyst` belongs to someone else

__version__: str
__all__ = [
    "Audit",
    "ChangePoint",
    "Comparison",
    "Diagnosis",
    "Inspection",
    "Replay",
    "ReplaySpec",
    "Run",
    "Store",
    "Verification",
    "add_reference",
    "audit",
    "check",
    "compare",
    "confirm",
    "diagnose",
    "explain",
    "inspect",
    "read_run",
    "replay",
    "signals",
    "verify",
]

_MODULES = {
    "Audit": "auditing.batch",
    "ChangePoint": "model",
    "Comparison": "comparing.comparisonresult",
    "Diagnosis": "model",
    "Inspection": "model",
    "Replay": "model",
    "ReplaySpec": "replaying.spec",
    "Run": "model",
    "Store": "store",
    "Verification": "model",
    "add_reference": "evaluate.ownreference",
    "audit": "auditing.batch",
    "check": "pipeline",
    "compare": "comparing.wholecomparison",
    "confirm": "auditing.confirm",
    "diagnose": "pipeline",
    "explain": "pipeline",
    "inspect": "checkpoint",
    "read_run": "pipeline",
    "replay": "replaying.replayrun",
    "verify": "auditing.verify",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        globals()[name] = _version()
        return globals()[name]
    if name == "signals":
        return import_module("loganalyst.signals")
    if name in _MODULES:
        return getattr(import_module(f"loganalyst.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'loganalyst' has no attribute {name!r}; it has {', '.join(__all__)}")


def _version() -> str:
    """The installed version; `0.0.0+unknown` for a checkout that is not installed. Takes 30 ms, so it is not a
    constant.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0.0.0+unknown"


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
