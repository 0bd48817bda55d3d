"""The typing rules themselves, without MLIR: what the lit tests of the ops (test/dialects/tiny) cannot say shortly."""

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tinyc.diagnostics import TinycError
from tinyc.expr import axes, extents, index_map
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elementwise import BINARY, UNARY
from tinyc.vocabulary.infer import ELEMENTWISE, LEAVES, MOVEMENT, NON_SCOP, RULES, Assumption, infer
from tinyc.vocabulary.types import TensorType

H, W = extents.symbol("H"), extents.symbol("W")


def tensor(*shape, element="f32"):
    return TensorType(element, shape)


def result(op, /, *operands, **arguments):
    """Return the one result type, which rests on no assumption."""
    inferred = infer(op, operands, arguments)
    assert inferred.assumptions == ()
    (only,) = inferred.types
    return only


def refusal(op, /, *operands, **arguments):
    with pytest.raises(TinycError) as caught:
        infer(op, operands, arguments)
    return caught.value.name


@pytest.mark.parametrize("element", [each for each in ElementType if each.is_float])
def test_a_constant_beyond_the_numbers_of_its_type_is_refused(element):
    wider = np.float32 if element.is_small_float else np.float64
    for sign in (-1, 1):
        beyond = sign * element.overflow
        assert refusal("const", value=beyond, element=element, shape=()) == "DtypeMismatch"
        below = sign * np.finfo(float).max if element is ElementType.F64 else np.nextafter(wider(beyond), wider(0))
        for value in (float(below), sign * float("inf")):
            assert result("const", value=value, element=element, shape=()) == tensor(element=element)
        with np.errstate(over="ignore"):
            assert np.isfinite(wider(below).astype(element.dtype))
            assert element is ElementType.F64 or np.isinf(wider(beyond).astype(element.dtype))


def test_the_vocabulary_is_what_has_rules():
    assert set(RULES) == {*ELEMENTWISE, *MOVEMENT, "reduce", *LEAVES, *NON_SCOP}


@pytest.mark.parametrize("op", UNARY)
@pytest.mark.parametrize("element", list(ElementType))
def test_unary_keeps_the_type_or_refuses_the_element_type(op, element):
    takes = {
        "neg": r"f|bf|i\d\d?$",
        "relu": r"f|bf|u?i[^1]|u?i1\d",
        "not": r"u?i",
    }.get(op, r"f|bf")
    operand = tensor(4, 3, element=element)
    if re.match(takes, element) and not (op == "neg" and element == "i1"):
        assert result(op, operand) == operand
    else:
        assert refusal(op, operand) == "DtypeMismatch"


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("element", list(ElementType))
def test_binary_keeps_the_type_or_compares_or_refuses(op, element):
    is_float, is_bool = "f" in element, element == "i1"
    takes = {
        **dict.fromkeys(("add", "sub", "mul"), not is_bool),
        "fdiv": is_float,
        **dict.fromkeys(("idiv", "mod"), not is_float and not is_bool),
        **dict.fromkeys(("and", "or", "xor"), not is_float),
    }.get(op, True)
    operand = tensor(4, 3, element=element)
    if takes:
        expected = tensor(4, 3, element="i1") if op.startswith("cmp_") else operand
        assert result(op, operand, operand) == expected
    else:
        assert refusal(op, operand, operand) == "DtypeMismatch"


def test_where_takes_the_type_of_its_values():
    assert result("where", tensor(H, element="i1"), tensor(H), tensor(H)) == tensor(H)


shapes = st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple)


@given(shapes, st.data())
def test_permute_as_numpy(shape, data):
    perm = tuple(data.draw(st.permutations(range(len(shape)))))
    assert result("permute", tensor(*shape), perm=perm).shape == np.empty(shape).transpose(perm).shape


@given(shapes, st.data())
def test_pad_as_numpy(shape, data):
    amounts = st.lists(st.integers(0, 3), min_size=len(shape), max_size=len(shape)).map(tuple)
    lo, hi = data.draw(amounts), data.draw(amounts)
    expected = np.pad(np.empty(shape), list(zip(lo, hi, strict=True))).shape
    assert result("pad", tensor(*shape), lo=lo, hi=hi, value=0.0).shape == expected


@given(shapes, st.data())
def test_shrink_as_numpy(shape, data):
    lo = tuple(data.draw(st.integers(0, n)) for n in shape)
    hi = tuple(data.draw(st.integers(low, n)) for low, n in zip(lo, shape, strict=True))
    step = tuple(data.draw(st.integers(1, 3)) for _ in shape)
    expected = np.empty(shape)[tuple(slice(*each) for each in zip(lo, hi, step, strict=True))].shape
    assert result("shrink", tensor(*shape), lo=lo, hi=hi, step=step).shape == expected


@given(shapes, st.data())
def test_reduce_as_numpy(shape, data):
    axes = tuple(data.draw(st.sets(st.sampled_from(range(len(shape))))))
    expected = np.zeros(shape).sum(axis=axes).shape
    assert result("reduce", tensor(*shape), op="sum", axes=axes, element=ElementType.F64).shape == expected


@given(st.integers(1, 30), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_pool_of_a_symbolic_axis_means_the_pool_of_every_size(size, kernel, stride, dilation):
    window = dilation * (kernel - 1) + 1
    assume(window <= size)
    arguments = {"kernel": (kernel,), "stride": (stride,), "dilation": (dilation,)}
    symbolic, static = infer("pool", [tensor(H)], arguments), infer("pool", [tensor(size)], arguments)
    evaluated = tuple(extents.evaluate(n, {"H": size}) for n in symbolic.types[0].shape)
    windows = np.lib.stride_tricks.sliding_window_view(np.empty(size), window)[::stride, ::dilation]
    assert evaluated == static.types[0].shape == windows.shape


def test_pool_assumes_that_its_window_fits():
    inferred = infer("pool", [tensor(H, W)], {"kernel": (3, 1), "stride": (1, 1), "dilation": (2, 1)})
    assert inferred.types == (tensor(H - 4, W, 3, 1),)
    assert inferred.assumptions == (Assumption(5, "le", H), Assumption(1, "le", W))


def test_reshape_assumes_what_it_cannot_know():
    inferred = infer("reshape", [tensor(H)], {"shape": (W, 3)})
    assert inferred.assumptions == (Assumption(H, "eq", W * 3),)
    assert str(inferred.assumptions[0]) == "H == 3*W"


def test_reshape_of_equal_products_assumes_nothing():
    assert result("reshape", tensor(H, W * 3), shape=(3, W * H)) == tensor(3, W * H)


def test_shrink_by_symbols_is_known_where_the_difference_is():
    assert result("shrink", tensor(H + 2), lo=(1,), hi=(H + 1,), step=(1,)) == tensor(H)
    assert refusal("shrink", tensor(H), lo=(0,), hi=(H + 1,), step=(1,)) == "IndexOutOfBounds"


def test_gather_puts_symbols_in_place():
    assert result("gather", tensor(5, W), tensor(H, element="i32"), axis=0) == tensor(H, W)


def test_topk_gives_values_and_indices():
    inferred = infer("topk", [tensor(4, H)], {"k": 2, "axis": 1, "largest": True})
    assert inferred.types == (tensor(4, 2), tensor(4, 2, element="i64"))
    assert inferred.assumptions == (Assumption(2, "le", H),)


def view(source, shape, *texts):
    indices = tuple(index_map.parse_row(text, len(shape)) for text in texts)
    return infer("view", [source], {"shape": shape, "map": indices})


def test_view_over_symbols_assumes_its_bounds():
    inferred = view(tensor(H), (W, 3), "i0 * 2 + i1")
    assert inferred.assumptions == (Assumption(W * 2 + 1, "le", H),)


def test_view_over_symbols_that_fits_for_all_sizes_assumes_nothing():
    assert view(tensor(H + 2), (H, 3), "i0 + i1").assumptions == ()


def test_view_bound_with_mod_is_exact():
    assert view(tensor(11), (9,), "i0 + i0 mod 4").types == (tensor(9),)
    with pytest.raises(TinycError, match="reaches from 0 to 10, outside operand axis 0 of extent 10"):
        view(tensor(10), (9,), "i0 + i0 mod 4")


def test_view_with_an_axis_that_the_result_lacks():
    with pytest.raises(TinycError, match=r"'i1' has an axis beyond \[4\]"):
        infer("view", [tensor(4)], {"shape": (4,), "map": (axes.term(axes.Axis(1)),)})


def test_an_extent_that_grows_out_of_bounds_is_the_users_error():
    total = sum((extents.symbol(f"s{k}") for k in range(200)), start=0)
    assert refusal("reshape", tensor(total, total), shape=(H,)) == "InvalidExtent"


def test_a_result_too_large_to_address_is_refused():
    arguments = {"shape": (2**40, 2**40), "broadcast_dimensions": (0, 1)}
    assert refusal("expand", tensor(1, 1), **arguments) == "InvalidExtent"
