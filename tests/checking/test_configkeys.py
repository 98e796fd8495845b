"""Settings are found by the ends of their keys, with the key as written and the file."""

import pytest

from loganalyst.checking.configkeys import ConfigKeys
from loganalyst.sources.files.flatten import config_table


def keys(**settings) -> ConfigKeys:
    return ConfigKeys(config_table([(key.replace("__", "."), value) for key, value in settings.items()], "config.yaml"))


def test_the_first_key_with_a_value_counts():
    """`none` is no value."""
    value, place = keys(Optimizer__LR=0.1, lr="none").find(["learning_rate", "lr"], "number")

    assert (value, place.key, place.file) == (0.1, "Optimizer.LR", "config.yaml")


def test_the_least_deep_place_counts():
    assert keys(lr=0.1, critic__lr=0.2).number("lr") == 0.1


def test_equally_deep_places_with_different_values_are_not_known():
    """They belong to different parts of a program."""
    assert keys(actor__lr=0.1, critic__lr=0.2).number("lr") is None
    assert keys(actor__lr=0.1, critic__lr=0.1).number("lr") == 0.1
    assert keys(actor__lr=0.1, critic__lr=0.2).number("actor.lr") == 0.1


@pytest.mark.parametrize(("text", "answer"), [("true", True), ("False", False), ("1", True), ("auto", None)])
def test_a_switch_is_yes_or_no(text, answer):
    assert keys(bf16=text).switch("bf16") is answer


def test_a_list_has_entries_by_position_or_by_commas():
    positions = keys(target_modules__0="q_proj", target_modules__1="V_proj")

    assert positions.items("target_modules") == ("q_proj", "v_proj")
    assert keys(target_modules="['q_proj', 'v_proj']").items("target_modules") == ("q_proj", "v_proj")
    assert keys(lr=1).items("target_modules") == ()


def test_a_key_may_have_dashes_and_slashes():
    assert keys(**{"train/learning-rate": 0.5}).number("learning_rate") == 0.5
    assert keys(lr=1).text("lr") == "1"


def test_a_key_of_one_part_may_need_a_neighbour():
    """The epsilon of a norm stands elsewhere than the rate; a whole key needs no neighbour."""
    found = keys(model__norm__eps=1e-5, train__lr=0.1, train__eps=1e-8)

    assert found.find(["eps"], "number", ["lr"])[0] == 1e-8
    assert keys(model__norm__eps=1e-5, train__lr=0.1).find(["eps"], "number", ["lr"]) is None
    assert keys(optim__eps=1e-8).find(["optim.eps"], "number", ["lr"])[0] == 1e-8
