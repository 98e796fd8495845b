"""loganalyst: root causes of failed trainings, from the logs they left behind. See docs/how-it-works.md.

The names below are the public API. They load on first use: `import loganalyst` and
`loganalyst --help` stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loganalyst import signals
    from loganalyst.auditing.batch import Audit, audit
    from loganalyst.auditing.confirm import confirm
    from loganalyst.auditing.verify import verify
    from loganalyst.checkpoint import inspect
    from loganalyst.comparing.result import Comparison
    from loganalyst.comparing.whole import compare
    from loganalyst.model import ChangePoint, Diagnosis, Inspection, Replay, Run, Verification
    from loganalyst.pipeline import diagnose, explain, read_run
    from loganalyst.replaying.search import replay
    from loganalyst.replaying.spec import ReplaySpec
    from loganalyst.store import Store

__version__ = "0.1.0"
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
    "audit",
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

_HOME = {
    "Audit": "auditing.batch",
    "ChangePoint": "model",
    "Comparison": "comparing.result",
    "Diagnosis": "model",
    "Inspection": "model",
    "Replay": "model",
    "ReplaySpec": "replaying.spec",
    "Run": "model",
    "Store": "store",
    "Verification": "model",
    "audit": "auditing.batch",
    "compare": "comparing.whole",
    "confirm": "auditing.confirm",
    "diagnose": "pipeline",
    "explain": "pipeline",
    "inspect": "checkpoint",
    "read_run": "pipeline",
    "replay": "replaying.search",
    "verify": "auditing.verify",
}


def __getattr__(name: str) -> Any:
    if name == "signals":
        return import_module("loganalyst.signals")
    if name in _HOME:
        return getattr(import_module(f"loganalyst.{_HOME[name]}"), name)
    raise AttributeError(f"module 'loganalyst' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
