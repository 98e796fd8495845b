import re

import pytest

from loganalyst.sources.text.metrics.epochbatchpairs import pair_of


@pytest.mark.parametrize("text", ["[2/40][75/900] cost 1.5", "[ 2/40] [ 75/900]", "Fit [2 / 40][75 / 900]"])
def test_the_numbers_of_a_pair(text: str) -> None:
    assert re.search(pair_of("[0-9]{1,9}"), text).groups() == ("2", "40", "75", "900")


@pytest.mark.parametrize("text", ["[2/40] cost [75/900]", "[2][75/900]", "[2/40](75/900)"])
def test_two_numbers_apart_are_no_pair(text: str) -> None:
    assert re.search(pair_of("[0-9]{1,9}"), text) is None
