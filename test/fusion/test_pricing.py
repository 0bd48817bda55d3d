"""What a kernel of a group would cost: products by the model of the scheme that takes them, the rest by rates."""

import pytest

from tinyc.analysis.graphs import main_function
from tinyc.fusion.graph import fusion_graph
from tinyc.fusion.group import group_of_nodes
from tinyc.fusion.pricing import Pricing
from tinyc.importers import tiny_json
from tinyc.target import target_of

N = 4096
FLOPS = 2 * N**3


def program(dtype, prologue=None):
    """`x * w` of N × N, `x` first through an element-wise op or none."""
    uops = [
        {"id": name, "uop": "INPUT", "arg": {"tensor_id": name, "dtype": dtype, "shape": [N, N]}} for name in ("x", "w")
    ]
    if prologue:
        uops.append({"id": "p", "uop": prologue, "src": ["x"]})
    uops += [
        {
            "id": "a",
            "uop": "EXPAND",
            "src": ["p" if prologue else "x"],
            "arg": {"result_shape": [N, N, N], "broadcast_dimensions": [0, 2]},
        },
        {"id": "b", "uop": "EXPAND", "src": ["w"], "arg": {"result_shape": [N, N, N], "broadcast_dimensions": [2, 1]}},
        {"id": "m", "uop": "MUL", "src": ["a", "b"]},
        {"id": "y", "uop": "REDUCE", "src": ["m"], "arg": {"op": "SUM", "axes": [2], "dtype": "fp32"}},
    ]
    return {"uops": uops}


def priced(document, arch):
    """One kernel of the whole program, with its price."""
    module, target = tiny_json.import_program(document), target_of(arch)
    with module.context:
        graph = fusion_graph(main_function(module))
        outputs = frozenset(name for name, node in graph.nodes.items() if node.is_output)
        return Pricing(target).of(group_of_nodes(graph, list(graph.nodes), outputs))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_product_on_tensor_cores_takes_what_its_scheme_predicts(arch):
    found, rates = priced(program("fp16"), arch), target_of(arch).rates
    assert found.scheme == "mma"
    assert found.cost.flops == FLOPS
    assert found.cost.compute_seconds == found.resources.product_seconds
    assert FLOPS / rates.product_flops_per_second < found.cost.seconds < 0.2 * FLOPS / rates.flops_per_second


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_product_without_a_model_takes_the_rate_of_f32(arch):
    found, rates = priced(program("fp32"), arch), target_of(arch).rates
    assert found.scheme == "naive_2x2_per_thread"
    assert found.cost.compute_seconds == pytest.approx(FLOPS / (rates.flops_per_second * found.cost.fill))


def test_what_is_read_as_it_is_and_what_it_is_computed_from_have_places():
    plain, computed = (priced(program("fp16", prologue), "sm_90a").candidate.product for prologue in (None, "RELU"))
    assert [each.access.contiguous for each in (plain.lhs, plain.rhs)] == ["columns", "columns"]
    assert plain.lhs.source is None
    assert computed.lhs.access == "its elements are computed"
    assert computed.lhs.source == plain.lhs.access
