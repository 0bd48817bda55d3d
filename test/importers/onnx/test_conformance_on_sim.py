"""A sample of ONNX's node tests, one of each family, for an architecture each: PTX that runs on sim without a finding.

`tools/onnx-conformance --compile-for sm_80,sm_90a --sim 4` does that with them all.
"""

import pytest

from node_tests import ARCHITECTURES, elements, is_sampled, node_tests, prepared_for, run_and_compare
from parameters import in_turn

#: The file of `onnx.backend.test.case.node` → the test of it.
SAMPLE = {
    "argmax": "test_argmax_keepdims_example",
    "averagepool": "test_averagepool_2d_ceil",
    "batch_normalization": "test_batchnorm_example",
    "conv": "test_basic_conv_with_padding",
    "bitshift": "test_bitshift_left_uint8",
    "castlike": "test_castlike_FLOAT16_to_DOUBLE",
    "concat": "test_concat_2d_axis_1",
    "cumsum": "test_cumsum_2d_axis_1",
    "dequantizelinear": "test_dequantizelinear",
    "pad": "test_edge_pad",
    "gatherelements": "test_gather_elements_1",
    "gemm": "test_gemm_default_no_bias",
    "matmulinteger": "test_matmulinteger",
    "mod": "test_mod_mixed_sign_int64",
    "onehot": "test_onehot_with_axis",
    "reduce_log_sum_exp": "test_reduce_log_sum_exp_negative_axes_keepdims_example",
    "rmsnormalization": "test_rms_normalization_2d_axis1",
    "scatterelements": "test_scatter_elements_with_reduction_min",
    "slice": "test_slice_neg_steps",
    "softmax": "test_softmax_axis_1",
    "topk": "test_top_k",
    "where": "test_where_example",
}


@pytest.fixture(scope="module")
def cases():
    return {each.name: each for each in node_tests(files=SAMPLE)}


@in_turn("name", "arch", SAMPLE.values(), ARCHITECTURES)
def test_a_node_test_gives_its_numbers_on_sim(name, arch, cases):
    run_and_compare(cases[name], prepared_for(cases[name], arch))


def test_a_sample_is_by_name(cases):
    sampled = {name for name, case in cases.items() if is_sampled(case, 4)}
    assert 0 < len(sampled) < len(cases)
    assert {name for name, case in cases.items() if is_sampled(case, 8)} < sampled
    assert not any(is_sampled(case, 0) for case in cases.values())


def test_the_size_of_a_node_test_is_that_of_its_inputs_and_outputs(cases):
    assert elements(cases["test_where_example"]) == 4 * 4
    assert elements(cases["test_gemm_default_no_bias"]) == 2 * 10 + 10 * 3 + 2 * 3
