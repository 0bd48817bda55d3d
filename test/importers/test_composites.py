"""Uops that stand for several ops: their numbers against numpy, in every spelling, and what they refuse."""

import re

import numpy as np
import pytest

import tinyc
from importers.documents import error_of, errors_of, load, node, output, program, steps, tensor
from parameters import pairwise
from tinyc.importers.how_to_say import HOW_TO_SAY
from tinyc.importers.spellings import UOPS, WORDS_OF_000
from tinyc.vocabulary.element_type import BY_JSON_NAME

TARGETS = ("reference", "cpu")


def numpy_type(dtype):
    return BY_JSON_NAME[dtype].dtype


def computed(target, *nodes, bind=None, **inputs):
    """Return the one output of a program."""
    model = tinyc.compile(program(*nodes), target=target, bind=bind)
    (result,) = model.run(**inputs).values()
    return result


def softmax(x, axis):
    terms = np.exp(x - x.max(axis=axis, keepdims=True))
    return terms / terms.sum(axis=axis, keepdims=True)


# --- numbers ----------------------------------------------------------------------------------------------------------


FUNCTIONS = {"EXP": np.exp, "LOG": np.log, "SIGMOID": lambda x: 1 / (1 + np.exp(-x))}


@pairwise(uop=FUNCTIONS, dtype=["fp16", "fp32", "fp64"], target=TARGETS)
def test_functions_of_floats(uop, dtype, target):
    x = np.linspace(0.125, 9, 15).astype(numpy_type(dtype)).reshape(5, 3)
    result = computed(target, tensor("x", "M", 3, dtype=dtype), node("y", uop, "x"), x=x)
    tolerance = {"fp16": 1e-3, "fp32": 4e-6, "fp64": 1e-13}[dtype]
    assert result.dtype == x.dtype
    np.testing.assert_allclose(result.astype(float), FUNCTIONS[uop](x.astype(float)), rtol=tolerance, atol=tolerance)


@pairwise(
    dtype=["fp16", "fp32"],
    along=[({}, -1), ({"axis": 1}, 1), ({"axis": -3}, 0)],
    bind=[None, {"M": 5, "N": 7}],
    target=TARGETS,
)
def test_softmax(dtype, along, bind, target):
    arg, axis = along
    # with 1000 in a row, exp overflows unless the maximum is taken off before
    x = np.random.default_rng(0).normal(0, 4, (5, 2, 7)).astype(numpy_type(dtype))
    x[0, 0, 0] = 1000
    result = computed(target, tensor("x", "M", 2, "N", dtype=dtype), node("y", "SOFTMAX", "x", **arg), bind=bind, x=x)
    assert result.dtype == x.dtype
    tolerance = {"fp16": 1e-3, "fp32": 2e-6}[dtype]
    np.testing.assert_allclose(result.astype(float), softmax(x.astype(float), axis), rtol=tolerance, atol=tolerance)


@pairwise(
    kind=[("fp16", {}), ("fp32", {}), ("fp16", {"dtype": "fp16"}), ("i8", {"acc_dtype": "fp32"})],
    axes=[["N"], [0, -1], [1], ["M", 1, 2]],
    bind=[None, {"M": 5, "N": 7}],
    target=TARGETS,
)
def test_mean(kind, axes, bind, target):
    dtype, arg = kind
    x = np.random.default_rng(0).integers(-99, 99, (5, 3, 7)).astype(numpy_type(dtype))
    mean = node("y", "MEAN", "x", axes=axes, **arg)
    result = computed(target, tensor("x", "M", 3, "N", dtype=dtype), mean, bind=bind, x=x)
    numbers = tuple({"M": 0, "N": 2}.get(axis, axis) for axis in axes)
    half = arg.get("dtype") == "fp16"
    assert result.dtype == (np.float16 if half else np.float32)
    np.testing.assert_allclose(result.astype(float), x.astype(float).mean(axis=numbers), rtol=1e-3 if half else 1e-6)


@pytest.mark.parametrize("target", TARGETS)
def test_a_mean_in_half_precision_does_not_overflow_and_one_of_nothing_is_nan(target):
    x = np.full((3, 400), 1000, np.float16)
    nodes = [tensor("x", "M", "N", dtype="fp16"), node("y", "MEAN", "x", axes=[1], dtype="fp16")]
    assert computed(target, *nodes, x=x).tolist() == [1000] * 3
    assert np.isnan(computed(target, *nodes, x=x[:, :0])).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32", "fp64"])
def test_the_absolute_value_of_a_float_is_exact(dtype, target):
    element = numpy_type(dtype)
    numbers = [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, -np.nan, 6e-8, -6e-8, 5e-40, -5e-40, 65000, -65000]
    x = np.array(numbers, dtype=np.float64).astype(element)
    result = computed(target, tensor("x", "N", dtype=dtype), node("y", "ABS", "x"), x=x)
    np.testing.assert_array_equal(result.astype(float), np.abs(x.astype(float)))
    assert not np.signbit(result.astype(float)[~np.isnan(x.astype(float))]).any()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8", "u64"])
def test_the_absolute_value_of_an_integer_wraps_as_numpys(dtype, target):
    info = np.iinfo(numpy_type(dtype))
    x = np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], info.dtype)
    result = computed(target, tensor("x", "N", dtype=dtype), node("y", "ABS", "x"), x=x)
    np.testing.assert_array_equal(result, np.abs(x))


MATRICES = [((5, 4), (4, 3)), ((2, 5, 4), (2, 4, 3)), ((2, 1, 1, 4), (2, 1, 4, 1))]


@pairwise(shapes=MATRICES, symbolic=[True, False], target=TARGETS)
def test_matmul(shapes, symbolic, target):
    a, b = shapes
    names = ["B", "C"][: len(a) - 2]
    left, right = ([*names, "M", "K"], [*names, "K", "N"]) if symbolic else (a, b)
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=a).astype(np.float32), rng.normal(size=b).astype(np.float32)
    result = computed(target, tensor("x", *left), tensor("w", *right), node("y", "MATMUL", "x", "w"), x=x, w=w)
    np.testing.assert_allclose(result, x @ w, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("target", TARGETS)
def test_matmul_expands_stacks_of_one(target):
    x, w = np.arange(24.0).reshape(2, 3, 4), np.arange(8.0).reshape(1, 4, 2)
    nodes = [tensor("x", "B", 3, 4, dtype="fp64"), tensor("w", 1, 4, 2, dtype="fp64"), node("y", "MATMUL", "x", "w")]
    np.testing.assert_array_equal(computed(target, *nodes, x=x, w=w), x @ w)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("types", "arg", "result"),
    [
        (("fp16", "fp16"), {}, "fp32"),
        (("bf16", "bf16"), {}, "fp32"),
        (("fp16", "fp32"), {}, "fp32"),
        (("fp64", "fp64"), {}, "fp64"),
        (("fp16", "fp16"), {"dtype": "fp16"}, "fp16"),
        (("fp32", "fp32"), {"acc_dtype": "fp64"}, "fp64"),
        (("i8", "i8"), {}, "i32"),
        (("u8", "u8"), {}, "u32"),
        (("i64", "i64"), {}, "i64"),
        (("i8", "i8"), {"dtype": "i64"}, "i64"),
    ],
)
def test_matmul_adds_up_in_a_type_that_does_not_overflow(types, arg, result, target):
    # 300 products of 100 and 100 are beyond what fp16, i8 and u8 hold; with fp16 asked for, they are 3 products of 1
    size, value = (3, 1) if result == "fp16" else (300, 100)
    x = np.full((2, size), value).astype(numpy_type(types[0]))
    w = np.full((size, 2), value).astype(numpy_type(types[1]))
    nodes = [tensor("x", 2, size, dtype=types[0]), tensor("w", size, 2, dtype=types[1])]
    given = computed(target, *nodes, node("y", "MATMUL", "x", "w", **arg), x=x, w=w)
    assert given.dtype == numpy_type(result)
    assert given.astype(float).tolist() == [[float(size * value**2)] * 2] * 2


def test_a_fp16_product_adds_up_in_fp32_also_where_the_result_is_fp16():
    x, w = np.ones((1, 4096), np.float16), np.ones((4096, 1), np.float16)
    nodes = [tensor("x", 1, 4096, dtype="fp16"), tensor("w", 4096, 1, dtype="fp16")]
    for target in TARGETS:
        assert computed(target, *nodes, node("y", "MATMUL", "x", "w", dtype="fp16"), x=x, w=w).item() == 4096


# --- what becomes of them ---------------------------------------------------------------------------------------------


def test_the_steps_are_named_after_the_node():
    module = load(tensor("x", 4, "N"), node("y", "SOFTMAX", "x"))
    assert steps(module) == [
        ("y.reduce", "reduce"),
        ("y.expand", "expand"),
        ("y.sub", "sub"),
        ("y.const", "const"),
        ("y.mul", "mul"),
        ("y.exp2", "exp2"),
        ("y.reduce.2", "reduce"),
        ("y.expand.2", "expand"),
        ("y", "fdiv"),
    ]


def test_a_matmul_is_a_contraction_with_its_epilogue():
    nodes = [tensor("x", "M", "K", dtype="fp16"), tensor("w", "K", "N", dtype="fp16")]
    relu = [node("p", "MATMUL", "x", "w"), node("r", "RELU", "p"), node("y", "CAST", "r", to="fp16")]
    text = tinyc.compile(program(*nodes, *relu), target="cpu").text("region")
    assert 'sym_name = "matmul_relu_cast"' in text
    assert text.count('"region.kernel"') == 1


def test_extents_of_a_matmul_tell_symbols():
    expand = node("e", "EXPAND", "c", result_shape=["L", 3])
    module = load(tensor("x", 2, "K"), node("c", "CONST", value=1, dtype="fp32"), expand, node("y", "MATMUL", "x", "e"))
    assert output(module) == "fp32 [2, 3]"
    assert steps(module)[1] == ("e", "expand")


@pytest.mark.parametrize("bind", [{"K": 4, "L": 4}, {"B": 3, "C": 3, "K": 4, "L": 4}, {"L": 4, "K": 4, "C": 1}])
def test_a_bound_program_is_the_one_with_the_numbers_written_in_it(bind):
    def text(left, right, bind=None):
        mean = node("m", "MEAN", "p", axes=[0, 2])
        nodes = [tensor("x", *left), tensor("w", *right), node("p", "MATMUL", "x", "w"), mean, node("y", "ABS", "m")]
        return str(load(*nodes, bind=bind))

    left, right = ["C" if "B" not in bind else "B", 5, "K"], ["C", "L", "N"]
    written = [[bind.get(extent, extent) for extent in shape] for shape in (left, right)]
    assert text(left, right, bind) == text(*written)


ALL = [
    ("EXP", {}),
    ("LOG", {}),
    ("SIGMOID", {}),
    ("ABS", {}),
    ("SOFTMAX", {"axis": 0}),
    ("MEAN", {"axes": [0]}),
    ("MATMUL", {}),
]


@pytest.mark.parametrize(("uop", "arg"), ALL)
def test_every_spelling_says_the_same(uop, arg):
    sources = ["x", "x"] if uop == "MATMUL" else ["x"]
    kind = {"MATMUL": "Binary", "MEAN": "Reduce"}.get(uop, "Unary")
    rest = {"axes": arg["axes"]} if uop == "MEAN" else {"attrs": arg}
    of_000 = {"op": kind, "name": "f", "fn": uop.lower(), "inputs": sources, "outputs": ["y"], **rest}
    declared = {"x": {"dtype": "fp32", "shape": [4, 4]}}
    expected = steps(load(tensor("x", 4, 4), node("y", uop, *sources, **arg)))
    assert steps(load({"uop": uop, "src": sources, "out": "y", "arg": arg}, values=declared)) == expected
    assert steps(load(ops=[of_000], values=declared)) == expected


def test_a_mean_of_000_has_the_type_that_values_declares():
    mean = {"op": "Reduce", "name": "f", "fn": "mean", "inputs": ["x"], "outputs": ["y"], "axes": [0]}
    module = load(ops=[mean], values={"x": {"dtype": "fp16", "shape": [4, 4]}, "y": {"dtype": "fp64"}})
    assert output(module) == "fp64 [4]"


# --- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "code", "says"),
    [
        (
            [tensor("x", 4, dtype="i32"), node("y", "EXP", "x")],
            "DtypeMismatch",
            "EXP takes floats, and its operand is i32",
        ),
        ([tensor("x", 4, dtype="i32"), node("y", "SOFTMAX", "x")], "DtypeMismatch", "CAST it"),
        ([tensor("x", 4, dtype="bool"), node("y", "ABS", "x")], "DtypeMismatch", "bool"),
        ([tensor("x", 4, dtype="i32"), node("y", "MEAN", "x", axes=[0])], "DtypeMismatch", "give it a 'dtype'"),
        ([tensor("x", 4), node("y", "MEAN", "x")], "MissingArgument", "needs 'axes'"),
        ([tensor("x", 4), node("y", "MEAN", "x", axes=["N"])], "InvalidAxis", "'N'"),
        ([tensor("x", 4), node("y", "MEAN", "x", axes=[1])], "InvalidAxis", "axis 1 is none of the 1 axes"),
        (
            [tensor("x", 4), node("y", "SOFTMAX", "x", axis=1)],
            "InvalidAxis",
            "axis 1 is none of the 1 axes of fp32 [4]; choose one from -1 to 0",
        ),
        (
            [tensor("x"), node("y", "SOFTMAX", "x")],
            "InvalidAxis",
            "none of the 0 axes of fp32 []; reshape it to have some",
        ),
        ([tensor("x", 4), node("y", "SOFTMAX", "x", axes=[0])], "UnknownKey", "did you mean 'axis'"),
        ([tensor("x", 4, 4), node("y", "MATMUL", "x")], "MissingArgument", "2 sources"),
        ([tensor("x", 4, 4), node("y", "MATMUL", "x", 2.0)], "InvalidAttribute", "CONST"),
        ([tensor("x", 4, 4), node("y", "MATMUL", "x", "x", transpose=True)], "UnknownKey", "'transpose'"),
        ([tensor("x", 4, 3), node("y", "MATMUL", "x", "x")], "BroadcastMismatch", "of extent 3, and the second last"),
        ([tensor("x", 4, 1), tensor("w", 3, 4), node("y", "MATMUL", "x", "w")], "BroadcastMismatch", "of extent 1"),
        ([tensor("x", 4), node("y", "MATMUL", "x", "x")], "BroadcastMismatch", "takes matrices"),
        ([tensor("x", 2, 3, 4), tensor("w", 4, 5), node("y", "MATMUL", "x", "w")], "BroadcastMismatch", "equal rank"),
        ([tensor("x", 2, 4, 4), tensor("w", 3, 4, 4), node("y", "MATMUL", "x", "w")], "BroadcastMismatch", "extent 2"),
        ([tensor("x", 4, 4), node("y", "MATMUL", "x", "x", dtype="i32")], "DtypeMismatch", "cast the operand"),
    ],
)
def test_what_cannot_be_meant_is_refused(nodes, code, says):
    error = error_of(*nodes)
    assert (error.name, error.where.node) == (code, "y")
    assert says in error.message


# --- unknown ops ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uop", "says"),
    [
        ("GELU", "write it as x · 0.5 · (1 + ERF of"),
        ("SILU", "write it as MUL of x and SIGMOID of x"),
        ("silu", "SIGMOID"),
        ("LEAKY_RELU", "WHERE of CMP_LT"),
        ("GE", "OR of CMP_LT"),
        ("SUM", "REDUCE with op SUM"),
        ("Transpose", "PERMUTE"),
        ("neg", "did you mean 'NEG'"),
        ("RESHAPPE", "did you mean 'RESHAPE'"),
        ("Sigmoid", "did you mean 'SIGMOID'"),
        ("FROBNICATE", "there are INPUT, CONST"),
    ],
)
def test_an_unknown_uop_says_how_to_say_it(uop, says):
    error = error_of(tensor("x", 4), node("y", uop, "x"))
    assert (error.name, error.where.node) == ("UnknownUop", "y")
    assert says in error.message


def test_an_unknown_function_says_how_to_say_it():
    bad = {"op": "Unary", "name": "f", "fn": "square", "inputs": ["x"], "outputs": ["y"]}
    document = {"ops": [bad], "values": {"x": {"dtype": "fp32", "shape": [4]}}}
    assert errors_of(document) == [("UnknownUop", "y")]
    with pytest.raises(tinyc.TinycError, match="write it as MUL of x and x"):
        tinyc.compile(document)


@pytest.mark.parametrize("name", HOW_TO_SAY)
def test_a_hint_uses_only_uops_that_there_are(name):
    assert name not in UOPS
    words = set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", HOW_TO_SAY[name])) - {"PROD", "SUM"}
    assert sorted(words - set(UOPS)) == []
    called = re.findall(r"op: (\w+), fn: (\w+)", HOW_TO_SAY[name])
    assert [fn for kind, fn in called if fn not in WORDS_OF_000[kind]] == []
