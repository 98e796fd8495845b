"""The diagnostic scripts that would decide an unsure diagnosis."""

from typing import Any

from loganalyst import pipeline
from loganalyst.diagnosis.decidingscripts import deciding, known
from loganalyst.model import Cause, Symptom
from loganalyst.scripts import templates


def cause(id_: str, band: Any, verdict: Any = "likely") -> Cause:
    return Cause(id_, id_, id_, "error", 0.5, band, verdict, "", "", (), ())


def names(causes: tuple[Cause, ...], others: tuple[str, ...] = (), symptoms: tuple[str, ...] = ()) -> list[str]:
    return [s.name for s in deciding(causes, others, [Symptom(id_, id_, None, None, "") for id_ in symptoms])]


def test_every_script_is_known_and_every_name_exists() -> None:
    """The entries cover the scripts, and name rules and symptoms of the catalogue."""
    catalogue = pipeline.catalogue()

    assert set(known()) == set(templates())
    assert {id_ for e in known().values() for id_ in e.causes} - set(catalogue.rules) == set()
    assert {id_ for e in known().values() for id_ in e.symptoms} - set(catalogue.symptoms) == set()


def test_an_unknown_cause_gets_the_scripts_of_its_symptoms_and_rivals() -> None:
    """The one that fits most of them first."""
    assert names((), ("wrong-loss",), ("plateau", "stuck-loss")) == ["one_batch_overfit", "loss_components"]


def test_a_stated_cause_weighs_more_than_a_symptom() -> None:
    """A cause that is not certain gets the script that shows it."""
    assert names((cause("codebook-collapse", "medium"),), (), ("plateau",)) == [
        "codebook_statistics",
        "one_batch_overfit",
    ]


def test_certainty_and_health_need_no_script() -> None:
    """Nor does a fault that no script measures."""
    assert names((cause("codebook-collapse", "high"),), (), ("plateau",)) == []
    assert names(()) == []
    assert names((cause("node-failed", "medium"),)) == []


def test_an_agent_has_no_batch_to_memorise() -> None:
    """The symptom is the same, but the script tests supervised training."""
    seen = [Symptom("nothing-improved", "nothing-improved", None, None, "")]

    assert [s.name for s in deciding((), (), seen, "training")] == ["one_batch_overfit"]
    assert deciding((), (), seen, "reinforcement") == ()
