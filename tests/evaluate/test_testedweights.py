"""Fitted weights that keep the tests of rules."""

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.evaluate.testedweights import failing, kept

RULE = "warmup-missing"
ITEM = "thrown-in-the-first-steps"


def test_weights_go_back_only_as_far_as_the_tests_of_their_rule_need(judged: Catalogue) -> None:
    """A rule without weight fails its tests; the judged weights pass them."""
    alone = judged.only({RULE})
    item = next(i for i in alone.rules[RULE].evidence if i.id == ITEM)
    same = {RULE: {ITEM: (item.if_true, item.if_false)}}
    none = {RULE: {ITEM: (0.0, item.if_false)}}

    assert failing(alone, none) == {RULE}
    assert kept(alone, same) == same
    assert kept(alone, none) == {}
