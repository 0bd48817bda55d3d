"""Where a handler fails, the node is to blame if ONNX refuses it, too, and tinyc if not."""

import pytest

from importers.onnx.models import errors_of, model_of
from tinyc.diagnostics import InternalError
from tinyc.importers.onnx import importer
from tinyc.importers.onnx.model import import_model


@pytest.mark.parametrize(
    "error", [KeyError("n"), AttributeError("n"), TypeError("n"), IndexError("n"), ValueError("n")]
)
def test_a_handler_that_fails_at_a_node_that_onnx_allows_is_a_defect(monkeypatch, error):
    def handler(node):
        raise error

    monkeypatch.setitem(importer.HANDLERS_BY_TYPE, "Neg", handler)
    with pytest.raises(InternalError) as caught:
        import_model(model_of("h = Neg(x) y = own.twice(h) z = Unknown(x)"))
    assert f"the importer of Neg failed: {type(error).__name__}" in caught.value.message
    assert "test_importer.py" in caught.value.message
    assert caught.value.where.node == "h"
    assert caught.value.__cause__ is error


def test_a_handler_that_fails_inside_a_function_is_a_defect(monkeypatch):
    monkeypatch.setitem(importer.HANDLERS_BY_TYPE, "Neg", lambda node: {}["key"])
    function = '<domain: "own", opset_import: ["" : 21]> twice (v) => (w) { w = Neg(v) }'
    with pytest.raises(InternalError, match="KeyError: 'key'"):
        import_model(model_of("y = own.twice(x)", functions=function))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("y = Unsqueeze(x, three)", "Axis 1 is referred to more than once"),
        ("y = Gather(s, three)", "data tensor must have rank >= 1"),
        ("y = DepthToSpace<blocksize = 2>(s)", "Input tensor must be 4-dimensional"),
    ],
)
def test_a_node_that_onnx_refuses_is_refused_with_its_reason(body, reason):
    model = model_of(
        body, "float[2, 3] x, float[1, 1, 4, 4] i, float s", "float y", more="<int64[3] three = {1, 1, 1}>"
    )
    ((code, _, message),) = errors_of(model)
    assert code == "InvalidOnnx"
    assert reason in message


def test_a_node_at_which_onnx_itself_fails_is_to_blame(monkeypatch):
    monkeypatch.setitem(importer.HANDLERS_BY_TYPE, "STFT", lambda node: {}["key"])
    model = model_of("y = STFT(s, none, , one)", "float[2, 8, 1] s", more="<int64[0] none = {}, int64 one = {1}>")
    ((code, _, message),) = errors_of(model)
    assert (code, message.startswith("STFT is not as ONNX has it: vector")) == ("InvalidOnnx", True)


def test_what_onnx_does_not_check_is_told_by_name():
    more = (
        "<int64[2] two = {0, 1}, int64[1] one = {1}, int64[0] none = {}, float[0] f = {}, float[2] t = {0, 1}, "
        "bool[2] both = {1, 0}>"
    )
    inputs = "float[2, 3] x, float[2, 8, 1, 1] i, float[2, 8, 1] s, int64[2] j"
    for body, told in (
        ("y = CumSum(x, two)", "CumSum: input 1 has 2 elements; it must have 1"),
        ("y = DFT(i, , two)", "DFT: input 2 has 2 elements; it must have 1"),
        ("y = DFT(i, two)", "DFT: input 1 has 2 elements; it must have 1"),
        ("y = STFT(s, none, , one)", "STFT: input 1 has 0 elements; it must have 1"),
        ("y = Range(two, one, one)", "Range: input 0 has 2 elements; it must have 1"),
        ("y = MelWeightMatrix(one, one, one, f, f)", "MelWeightMatrix: input 3 has 0 elements; it must have 1"),
        ("y = OneHot(j, none, t)", "OneHot: input 1 has 0 elements; it must have 1"),
        ("a, y = TopK(x, two)", "TopK: input 1 has 2 elements; it must have 1"),
        (
            "y = If(both)<then_branch = p () => (b) { b = Neg(x) }, else_branch = q () => (b) { b = Neg(x) }>",
            "If: input 0 has 2 elements; it must have 1",
        ),
        ("y = Pad(x, two)", "Pad: pads has 2 elements for 2 axes; it has two for each"),
        ("y = Slice(x, two, one)", "Slice: starts, ends, axes and steps have [2, 1, 2, 2] elements"),
        (
            "six = Flatten<axis = 0>(x) y, b, c, d, e = Split<axis = 1, num_outputs = 5>(six)",
            "5 parts of 2 are more than the extent 6",
        ),
        ("y, z = Split<num_outputs = 2147483647>(x)", "num_outputs = 2147483647, and the node has 2 outputs"),
    ):
        ((code, _, message),) = errors_of(model_of(body, inputs, more=more))
        assert (code, told in message) == ("ShapeContradiction", True), message


@pytest.mark.parametrize(
    ("body", "inputs", "told"),
    [
        ("y = Add(a, b)", "float[3] a, double[3] b", "the operands are fp32 and fp64; cast one of them"),
        (
            "y = MatMul(a, b)",
            "float[2, 3, 4] a, float[5, 6] b",
            "axis 2 of fp32 [2, 3, 4] and axis 0 of fp32 [5, 6] must be equal; they are 4 and 5",
        ),
        (
            "y = Gemm<transA = 1>(a, b)",
            "float[4, 3] a, float[5, 6] b",
            "axis 0 of fp32 [4, 3] and axis 0 of fp32 [5, 6] must be equal; they are 4 and 5",
        ),
        (
            "y = Conv<group = 2>(a, b)",
            "float[1, 4, 5, 5] a, float[6, 3, 3, 3] b",
            "the channels of the image fp32 [1, 4, 5, 5] and those of the weights fp32 [6, 3, 3, 3] in 2 groups must "
            "be equal; they are 4 and 6",
        ),
        (
            "y = Conv(a, b)",
            "float[1, 4, 2, 5] a, float[6, 4, 3, 3] b",
            "the window of 3 elements is larger than axis 2 of extent 2; pad it first",
        ),
        ("y = MaxPool<kernel_shape = [9]>(a)", "float[1, 4, 5] a", "the window of 9 elements is larger than axis 2 of"),
    ],
)
def test_what_contradicts_is_told_in_words_of_no_other_format(body, inputs, told):
    ((_, node, message),) = errors_of(model_of(body, inputs, "float y"))
    assert (node, told in message) == ("y", True), message
