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


def test_what_onnx_does_not_check_is_told_by_name():
    more = "<int64[2] two = {0, 1}, int64[1] one = {1}>"
    for body, told in (
        ("y = CumSum(x, two)", "CumSum: input 1 has 2 elements; it is one axis"),
        ("y = Pad(x, two)", "Pad: pads has 2 elements for 2 axes; it has two for each"),
        ("y = Slice(x, two, one)", "Slice: starts, ends, axes and steps have [2, 1, 2, 2] elements"),
        (
            "six = Flatten<axis = 0>(x) y, b, c, d, e = Split<axis = 1, num_outputs = 5>(six)",
            "5 parts of 2 are more than the extent 6",
        ),
        ("y, z = Split<num_outputs = 2147483647>(x)", "num_outputs = 2147483647, and the node has 2 outputs"),
    ):
        ((code, _, message),) = errors_of(model_of(body, more=more))
        assert (code, told in message) == ("ShapeContradiction", True), message
