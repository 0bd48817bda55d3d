"""Inputs: exactly the declared type and rank; any strides; sizes that do not contradict each other."""

from dataclasses import replace

import numpy as np
import pytest

from tinyc.diagnostics import TinycError, collect_remarks
from tinyc.expr.extents import parse_extent
from tinyc.runtime import sizes
from tinyc.runtime.arrays import DTYPE_NAMES, InputCheck, dense_inputs
from tinyc.runtime.program import Assumption, Buffer, Program
from tinyc.vocabulary.element_type import ElementType

#: Element type → the numpy type of its arrays; a bool is a byte.
DTYPES = {element: element.dtype for element in ElementType}


def program(shapes: dict[str, tuple], element: str = "f32", assumptions=(), symbols=("M", "K"), output=()) -> Program:
    """Return a program without kernels; extents are ints or text."""
    buffers = [
        Buffer(f"input_{position}", "input", "host", 0, 0, element, tuple(map(_dim, shape)))
        for position, shape in enumerate(shapes.values())
    ]
    shape = tuple(map(_dim, output))
    size = 4
    for extent in shape:
        size = size * extent
    buffers.append(Buffer("output_0", "output", "host", 0, size, "f32", shape))
    stated = tuple(Assumption(_dim(left), predicate, _dim(right)) for left, predicate, right in assumptions)
    return Program("main", symbols, tuple(shapes), ("y",), stated, tuple(buffers), (), 0)


def _dim(value: int | str):
    return parse_extent(value) if isinstance(value, str) else value


def f32(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def refusal(call, *arguments) -> TinycError:
    with pytest.raises(TinycError) as caught:
        call(*arguments)
    return caught.value


@pytest.mark.parametrize("element", DTYPES)
def test_each_element_type_takes_its_own_numpy_type_only(element):
    one = program({"x": (2,)}, element)
    good = np.zeros(2, DTYPES[element])
    assert dense_inputs(one, {"x": good})[0] is good
    for other in DTYPES.values():
        if other != DTYPES[element]:
            error = refusal(dense_inputs, one, {"x": np.zeros(2, other)})
            assert error.name == "InputMismatch"
            declared = f"{DTYPE_NAMES[element]}, numpy's {DTYPES[element]}"
            assert f"'x' is of type {other}; the program declares {declared}:" in str(error)


def test_element_types_are_called_as_in_tiny_json():
    assert DTYPE_NAMES == {
        **{"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "i1": "bool"},
        **{"i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64"},
        **{"ui8": "u8", "ui16": "u16", "ui32": "u32", "ui64": "u64"},
    }


def test_another_byte_order_is_another_type():
    assert "is of type >f4" in str(refusal(dense_inputs, program({"x": (2,)}), {"x": np.zeros(2, ">f4")}))


def test_all_errors_of_a_call_are_reported_together():
    error = refusal(dense_inputs, program({"x": ("M",), "w": ("M", "K")}), {"x": f32(2, 2), "v": f32(1)})
    assert [each.message for each in error.errors] == [
        "the program has no input 'v'; there are x, w",
        "input 'x' has shape [2, 2]; the program declares an array of fp32 [M]",
        "input 'w' is missing; give an array of fp32 [M, K]",
    ]


def test_a_list_is_no_array():
    error = refusal(dense_inputs, program({"x": (2,)}), {"x": [1.0, 2.0]})
    assert "input 'x' is a list; give a numpy array, or an array with __dlpack__" in str(error)


def test_a_masked_array_is_not_taken_without_its_mask():
    masked = np.ma.masked_array(np.ones(2, np.float32), mask=[False, True])
    error = refusal(dense_inputs, program({"x": (2,)}), {"x": masked})
    assert "input 'x' is a masked array; a tensor has no mask: give its .filled(…)" in str(error)


def test_a_strided_array_is_copied_with_a_remark_and_a_dense_one_is_not():
    one = program({"x": ("M", "K")})
    dense = np.arange(12, dtype=np.float32).reshape(3, 4)
    views = (dense[::2], dense[:, ::-1], dense.T, np.broadcast_to(dense[0], (5, 4)), dense.copy("F"))
    for view in views:
        with collect_remarks() as remarks:
            (copied,) = dense_inputs(one, {"x": view})
        assert [remark.code for remark in remarks] == ["strided-copy"]
        assert copied.flags.c_contiguous
        np.testing.assert_array_equal(copied, view)
    with collect_remarks() as remarks:
        assert dense_inputs(one, {"x": dense})[0] is dense
    assert remarks == []


def test_a_misaligned_array_is_copied():
    raw = np.zeros(17, np.uint8)[1:].view(np.float32)
    assert dense_inputs(program({"x": (4,)}), {"x": raw})[0].flags.aligned


def test_a_read_only_array_is_an_input():
    array = f32(2)
    array.flags.writeable = False
    assert dense_inputs(program({"x": (2,)}), {"x": array})[0] is array


def test_a_copy_that_does_not_fit_into_memory_is_refused():
    huge = np.broadcast_to(f32(1), (2**50,))
    assert refusal(dense_inputs, program({"x": ("M",)}), {"x": huge}).name == "OutOfMemory"


class Exported:
    """An array of another library: nothing but DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_anything_with_dlpack_is_an_input_without_a_copy():
    array = np.arange(3, dtype=np.float32)
    (taken,) = dense_inputs(program({"x": (3,)}), {"x": Exported(array)})
    assert np.shares_memory(taken, array)


def test_an_array_that_numpy_cannot_import_is_refused():
    strange = Exported(np.zeros(2, "datetime64[s]"))
    assert "numpy cannot read input 'x', a Exported" in str(refusal(dense_inputs, program({"x": (2,)}), {"x": strange}))


def test_symbols_come_from_the_shapes():
    assert sizes.solve_symbols(program({"x": ("M", "2*K + 1"), "w": ("K", 3)}), [(4, 11), (5, 3)]) == {"M": 4, "K": 5}


@pytest.mark.parametrize(
    ("shapes", "actual", "expected"),
    [([(4, 5), (6, 3)], "axis 0 of input 'w' has 6", "5"), ([(4, 5), (5, 2)], "axis 1 of input 'w' has 2", "3")],
)
def test_contradicting_shapes_are_refused_with_both_values(shapes, actual, expected):
    error = refusal(sizes.solve_symbols, program({"x": ("M", "K"), "w": ("K", 3)}), shapes)
    assert error.name == "InputMismatch"
    assert actual in str(error)
    assert expected in str(error).partition(actual)[2]


def test_a_symbol_that_no_input_tells_has_to_be_bound():
    error = refusal(sizes.solve_symbols, program({"x": ("M",)}), [(4,)])
    assert error.name == "UnboundSymbol"
    assert "the inputs do not tell 'K'; bind it" in str(error)


@pytest.mark.parametrize("predicate", ["eq", "le"])
def test_an_assumption_that_does_not_hold_is_named_with_its_values(predicate):
    relying = program({"x": ("M", "K")}, assumptions=[("2*M", predicate, "K")])
    sizes.check_sizes(relying, {"M": 2, "K": 4})
    error = refusal(sizes.check_sizes, relying, {"M": 3, "K": 4})
    assert error.name == "AssumptionViolated"
    assert f"2*M {'==' if predicate == 'eq' else '<='} K, and that is 6 and 4 with M = 3, K = 4" in str(error)


def test_an_extent_that_would_be_negative_is_refused():
    error = refusal(sizes.check_sizes, program({"x": ("M", "K")}, output=("M - K",)), {"M": 2, "K": 4})
    assert error.name == "AssumptionViolated"
    assert "axis 0 of output_0 would have -K + M = -2 elements" in str(error) or "M - K = -2" in str(error)


def test_a_division_by_zero_is_refused():
    error = refusal(sizes.check_sizes, program({"x": ("M", "K")}, output=("M floordiv K",)), {"M": 2, "K": 0})
    assert error.name == "AssumptionViolated"


@pytest.mark.parametrize("rows", [2**42, 2**62])
def test_more_memory_than_there_is_is_refused_before_anything_is_allocated(rows):
    error = refusal(sizes.check_sizes, program({"x": ("M", "K")}, output=("M", "K")), {"M": rows, "K": rows})
    assert error.name == "OutOfMemory"


def test_what_needs_too_much_memory_is_told_by_name_with_what_helps(monkeypatch):
    monkeypatch.setattr(sizes, "memory_bytes", lambda: 1000)
    copied = replace(program({"x": ("M",)}, output=("M",)), arena_bytes=256, pool_bytes=512)
    sizes.check_sizes(copied, {"M": 50})
    assert str(refusal(sizes.check_sizes, copied, {"M": 60}).message) == (
        "a run needs 1008 bytes with M = 60 (the outputs 240, the arena 256, the ConstPool 512), and this machine has "
        "1000 bytes of memory; use smaller inputs"
    )
    error = refusal(sizes.check_sizes, replace(copied, pool_bytes=1024), {"M": 0})
    assert "its weights and constants alone are too large, so use a machine with more memory" in error.message


def test_a_tensor_of_rank_0_takes_an_array_or_a_number_of_numpys():
    one = program({"x": ()})
    array = np.array(3, np.float32)
    assert dense_inputs(one, {"x": array})[0] is array
    (number,) = dense_inputs(one, {"x": np.float32(3)})
    assert (number.shape, number.item()) == ((), 3)
    assert "input 'x' is a float; give a numpy array" in str(refusal(dense_inputs, one, {"x": 3.0}))
    assert "is of type float64" in str(refusal(dense_inputs, one, {"x": np.float64(3)}))
    assert "has shape [1]; the program declares an array of fp32 []" in str(refusal(dense_inputs, one, {"x": f32(1)}))


def test_strides_of_another_library_are_copied_as_numpys_are():
    wide = np.arange(12, dtype=np.float32).reshape(3, 4)
    for view in (wide.T, wide[:, ::2], wide[::-1]):
        with collect_remarks() as remarks:
            (copied,) = dense_inputs(program({"x": ("M", "K")}), {"x": Exported(view)})
        assert [remark.code for remark in remarks] == ["strided-copy"]
        np.testing.assert_array_equal(copied, view)


def test_the_check_that_is_made_ready_finds_what_the_whole_one_finds():
    one = program({"x": ("M",), "w": ("M", "K")})
    check = InputCheck(one)
    good = {"x": f32(2), "w": f32(2, 3)}
    assert all(found is given for found, given in zip(check.dense(good), good.values(), strict=True))
    strided = {"x": f32(4)[::2], "w": np.asfortranarray(f32(2, 3))}
    assert [each.strides for each in check.dense(strided)] == [(4,), (12, 4)]
    masked, bad = np.ma.masked_array(f32(2)), ({}, {"x": f32(2)}, {**good, "v": f32(1)}, {"x": f32(2), "v": f32(2, 3)})
    wrong = ([1.0], f32(2, 2), np.zeros(2), f32(2).astype(">f4"), masked, None, 5)
    for inputs in (*bad, *({**good, "x": each} for each in wrong)):
        assert str(refusal(check.dense, inputs)) == str(refusal(dense_inputs, one, inputs))
