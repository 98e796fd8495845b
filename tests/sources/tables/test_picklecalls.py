"""What NumPy's numbers in a pickle call."""

import numpy as np
import pytest

from loganalyst.sources.flightrecorder.plainpickle import RefusedError
from loganalyst.sources.tables.picklecalls import MAX_BYTES, Calls, ClassError, Dtype, Symbol, symbol


@pytest.mark.parametrize(
    ("module", "name"),
    [("posix", "system"), ("builtins", "getattr"), ("numpy", "frombuffer"), ("numpy.core.multiarray.x", "scalar")],
)
def test_other_names_are_refused(module, name):
    with pytest.raises(ClassError, match=f"it holds `{module}.{name}`, which could run code"):
        symbol(module, name)


def test_a_name_is_shown_without_control_characters():
    with pytest.raises(ClassError) as error:
        symbol("x\x1b[31m", "`" + "y" * 900)

    assert error.value.name.startswith("x?[31m.?yyy")
    assert len(error.value.name) == 200


def test_a_scalar_has_the_order_of_its_bytes():
    calls = Calls()
    dtype = calls.call(Symbol("dtype"), ["i2", False, True])
    calls.build(dtype, [3, ">", None, None, None, -1, -1, 0])

    assert calls.call(Symbol("scalar"), [dtype, np.array(258, ">i2").tobytes()]) == 258


@pytest.mark.parametrize("shape", [[2, 2], [10**18, 0], [1] * 40])
def test_arrays_of_other_shapes_are_left_out(shape):
    calls = Calls()

    assert calls.call(Symbol("frombuffer"), [b"\0" * 32, Dtype("f8"), shape, "C"]) == []
    assert len(calls.lost) == 1


@pytest.mark.parametrize("code", ["O", "U8", "M8", "f16", "V4", 3])
def test_types_that_are_no_numbers_are_refused(code):
    with pytest.raises(RefusedError, match="is no number"):
        Calls().call(Symbol("dtype"), [code, False, True])


@pytest.mark.parametrize(
    ("called", "given"),
    [
        ("scalar", [Dtype("f8"), b"short"]),
        ("scalar", [b"", b""]),
        ("scalar", []),
        ("frombuffer", [b"", Dtype("f8"), [-1], "C"]),
        ("frombuffer", [b"", Dtype("f8"), [True], "C"]),
        ("frombuffer", [b"", Dtype("f8"), [10**30], "C"]),
        ("encode", ["\u20ac", "latin1"]),
        ("encode", ["x", "idna"]),
        ("dtype", []),
    ],
)
def test_damaged_calls_are_faults(called, given):
    with pytest.raises((TypeError, IndexError)):
        Calls().call(Symbol(called), given)


@pytest.mark.parametrize(("called", "given"), [(Symbol("ndarray"), []), ("print", []), (Symbol("scalar"), "x")])
def test_only_known_names_are_called(called, given):
    with pytest.raises(RefusedError, match="calls something else"):
        Calls().call(called, given)


def test_a_list_with_values_is_no_array():
    with pytest.raises(RefusedError, match="sets the state"):
        Calls().build([0.5], [1, [1], Dtype("f8"), False, b"\0" * 8])


def test_what_calls_make_is_bounded():
    """A repeated call takes five bytes of the file."""
    calls, text = Calls(), "x" * (MAX_BYTES // 4)

    for _ in range(4):
        calls.call(Symbol("encode"), [text, "latin1"])
    with pytest.raises(RefusedError, match="make more than 32 MiB"):
        calls.call(Symbol("encode"), ["x", "latin1"])
