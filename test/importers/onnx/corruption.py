"""Models that are damaged: bytes flipped or cut off, fields that do not belong together."""

import onnx
from hypothesis import strategies as st
from onnx import helper

from importers.onnx.models import model_of

_MLP = model_of(
    "h = MatMul(x, w) a = Add(h, b) r = Relu(a) s = Softmax<axis = 1>(r) y = ReduceSum<keepdims = 0>(s, axes)",
    inputs="float[N, 3] x",
    outputs="float[N] y",
    more="<float[3, 2] w = {1, 2, 3, 4, 5, 6}, float[2] b = {0.5, 0.25}, int64[1] axes = {1}>",
)
_SHAPES = model_of(
    "s = Shape(x) n = Gather<axis = 0>(s, zero) m = Concat<axis = 0>(n, minus) r = Reshape(x, m) "
    "t = Transpose<perm = [1, 0]>(r) y = Cast<to = 1>(t)",
    inputs="float[N, 3, 4] x",
    outputs="float[12, N] y",
    more="<int64[1] zero = {0}, int64[1] minus = {-1}>",
)
_BRANCHES = model_of(
    "y = If(c)<then_branch = a () => (float[2, 3] p) { p = Sigmoid(x) }, "
    "else_branch = b () => (float[2, 3] q) { q = own.twice<alpha = 2.0>(x) }>",
    more="<bool c = {0}>",
    functions='<domain: "own", opset_import: ["" : 21]> twice <alpha> (v) => (w) '
    "{ k = Constant<value_float: float = @alpha>() w = Mul(v, k) }",
)
_ACTIVATIONS = model_of(
    "e = Mish(x) f = Gelu(e) h = Mul(f, w) y = Where(c, h, x)",
    more="<float[3] w = {1, 1, 1}, bool[3] c = {1, 0, 1}>",
)
MODELS = (_MLP, _SHAPES, _BRANCHES, _ACTIVATIONS)
_OPS = ("Reshape", "Gather", "Concat", "If", "Loop", "Conv", "Softmax", "ReduceSum", "Range", "Expand", "Slice", "Pad")
_NUMBERS = (-(2**63), -(2**31), -1, 0, 1, 2, 5, 2**31, 2**40, 2**62, 2**63 - 1)


@st.composite
def damaged_bytes(draw):
    """A model's bytes with some flipped, removed, repeated, or the end cut off."""
    raw = bytearray(draw(st.sampled_from(MODELS)).SerializeToString())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(raw) - 1, 0)))
        match draw(st.integers(0, 4)):
            case 0 | 1:
                raw[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case 2:
                del raw[at : at + draw(st.integers(1, 9))]
            case 3:
                raw[at:at] = raw[at : at + draw(st.integers(1, 20))]
            case 4:
                del raw[at:]
    return bytes(raw)


@st.composite
def damaged_models(draw):
    """A model with fields that do not belong together, as a `ModelProto`."""
    model = onnx.ModelProto()
    model.CopyFrom(draw(st.sampled_from(MODELS)))
    for _ in range(draw(st.integers(1, 3))):
        draw(st.sampled_from((_change_node, _change_attribute, _change_tensor, _change_value, _change_model)))(
            draw, model
        )
    return model


def _names(model):
    graph = model.graph
    named = [each.name for each in (*graph.input, *graph.initializer, *graph.output)]
    return ["", "nothing", *named, *(name for node in graph.node for name in node.output)]


def _change_node(draw, model):
    """Another op type, an input or output more, less, or of another name (cycles, too), nodes in another order."""
    nodes = model.graph.node
    node = draw(st.sampled_from(list(nodes)))
    names = st.sampled_from(_names(model))
    match draw(st.integers(0, 6)):
        case 0:
            node.op_type = draw(st.sampled_from(_OPS + tuple(each.op_type for each in nodes)))
        case 1:
            node.input.append(draw(names))
        case 2 if node.input:
            node.input[draw(st.integers(0, len(node.input) - 1))] = draw(names)
        case 3:
            del node.input[draw(st.integers(0, len(node.input))) :]
        case 4:
            node.output[0] = draw(names)
        case 5:
            node.output.append(draw(names))
        case _:
            order = draw(st.permutations(list(nodes)))
            copies = [onnx.NodeProto.FromString(each.SerializeToString()) for each in order]
            del nodes[:]
            nodes.extend(copies)


def _change_attribute(draw, model):
    """An attribute of another value or type, or one more."""
    node = draw(st.sampled_from(list(model.graph.node)))
    numbers = st.sampled_from(_NUMBERS)
    values = st.one_of(numbers, st.lists(numbers, min_size=1, max_size=4), st.floats(width=32), st.text(max_size=3))
    known = [each.name for each in node.attribute]
    name = draw(st.sampled_from([*known, *known, "axis", "axes", "to", "perm", "keepdims", "value"]))
    kept = [each for each in node.attribute if each.name != name or draw(st.integers(0, 9)) == 0]
    copies = [onnx.AttributeProto.FromString(each.SerializeToString()) for each in kept]
    del node.attribute[:]
    node.attribute.extend(copies)
    if draw(st.booleans()):
        node.attribute.append(helper.make_attribute(name, draw(values)))


def _change_tensor(draw, model):
    """An initialiser of another type or shape, of other bytes, or in a file that is not there."""
    if not model.graph.initializer:
        return
    tensor = draw(st.sampled_from(list(model.graph.initializer)))
    match draw(st.integers(0, 4)):
        case 0:
            tensor.data_type = draw(st.integers(0, 30))
        case 1:
            tensor.dims.append(draw(st.sampled_from(_NUMBERS)))
        case 2 if tensor.dims:
            tensor.dims[0] = draw(st.sampled_from(_NUMBERS))
        case 3:
            tensor.raw_data = draw(st.binary(max_size=24))
        case _:
            tensor.data_location = onnx.TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value=draw(st.sampled_from(("", "w", "../w", "/dev/zero"))))


def _change_value(draw, model):
    """An input, an output or a value in between that is declared of another shape or type."""
    value = draw(st.sampled_from([*model.graph.input, *model.graph.output, model.graph.value_info.add(name="h")]))
    tensor = value.type.tensor_type
    match draw(st.integers(0, 5)):
        case 0:
            tensor.elem_type = draw(st.integers(0, 30))
        case 1:
            tensor.shape.dim.add(dim_value=draw(st.sampled_from(_NUMBERS)))
        case 2:
            tensor.shape.dim.add(dim_param=draw(st.sampled_from(("N", "", "a b", "N*0 - 1", "M//0", "é", "2*N"))))
        case 3:
            del tensor.shape.dim[:]
        case 4:
            value.type.Clear()
        case _:
            value.name = draw(st.sampled_from(_names(model)))


def _change_model(draw, model):
    """Another opset, a function that calls itself, an initialiser that is an input, too."""
    match draw(st.integers(0, 3)):
        case 0 if model.opset_import:
            model.opset_import[0].version = draw(st.sampled_from((*_NUMBERS, 11, 13, 18, 28, 29)))
        case 1:
            model.ir_version = draw(st.integers(0, 99))
        case 2:
            del model.opset_import[:]
        case _:
            for function in model.functions:
                function.node[0].op_type, function.node[0].domain = function.name, function.domain
                del function.node[0].attribute[:]
