"""The features of runs made of arrays, as the tests of features make them."""

from tests.features.conftest import features_of

__all__ = ["features_of"]
