"""Every value of an imported model has a name of its own, as near to the model's as can be."""

from importers.onnx.models import model_of
from tinyc.analysis.graphs import body_block, main_function
from tinyc.dialects.frontend.to_tiny import FrontendToTiny
from tinyc.importers.onnx.model import import_model
from tinyc.mlir.locations import value_name
from tinyc.passes.runner import run_passes

W = "<float[3, 2] w = {1, 2, 3, 4, 5, 6}>"
B = "<float[3] b = {1, 2, 3}>"
X = "float[2, 4] x"
SCALE = "<float[3] w = {1, 2, 3}>"


def names_of(module):
    ops = body_block(main_function(module)).operations
    return [value_name(each) for op in ops for each in op.results]


def named_model(body, *names, **options):
    model = model_of(body, **options)
    for node, name in zip(model.graph.node, names, strict=True):
        node.name = name
    return model


def test_a_folded_constant_is_called_as_the_node_that_computes_it():
    model = named_model("t = Transpose(w) y = Mul(x, t)", "tr", "scale", inputs="float[2, 3] x", more=W)
    assert names_of(import_model(model)) == ["tr", "scale"]


def test_an_initialiser_keeps_its_name_and_what_a_node_is_made_of_is_called_after_it():
    model = named_model("a = Relu(x) y = Add(a, b)", "relu", "add", more=B)
    assert names_of(import_model(model)) == ["relu", "b", "add"]
    assert names_of(import_model(model_of("y = HardSwish(x)")))[-1] == "y"
    trilu = model_of("n = Shape(x) o = Expand(one, n) y = Trilu(o)", more="<float one = {1}>")
    assert names_of(import_model(trilu)) == ["o", "y"]


def test_the_outputs_of_a_node_are_numbered():
    model = named_model("y, z = Split<num_outputs = 2, axis = 1>(x) v = Add(y, z)", "split", "add", inputs=X)
    model.graph.output[0].name = "v"
    assert names_of(import_model(model)) == ["split", "split#1", "add"]


def test_nodes_of_the_same_name_are_told_apart():
    model = named_model("a = Neg(x) b = Exp(a) y = Abs(b)", "n", "n", "n_1")
    assert names_of(import_model(model)) == ["n", "n_1", "n_1_1"]


def test_no_two_values_of_the_tiny_layer_have_one_name():
    model = named_model("a, m, i = LayerNormalization<axis = 1>(x, w) y = Softmax(a)", "norm", "soft", more=SCALE)
    module = import_model(model)
    frontend = names_of(module)
    assert frontend == ["w", "norm", "norm#1", "norm#2", "soft"]
    run_passes(module, (FrontendToTiny(),))
    names = names_of(module)
    assert len(names) == len(set(names))
    assert {*frontend} <= {*names}
    assert {"soft.reduce", "soft.reduce_1"} <= {*names}
