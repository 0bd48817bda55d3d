"""The specification's own plans run on the simulator, at the sizes of 002's program and at sizes with wide copies.

What they make of the kernel is looked at in `dialects/region/specification_plans.mlir`.
"""

import numpy as np

import tinyc
from installed import ROOT
from parameters import in_turn

GEMM = ROOT / "examples" / "gemm_bias_relu.json"
PLANS = ROOT / "test" / "dialects" / "region" / "Inputs"


@in_turn(
    "built",
    "sizes",
    [
        "section_1_7.plan sm_80",
        "section_1_7.plan sm_90a",
        "section_7_1.json sm_80",
        "section_12_5.json sm_80",
        "section_12_5.json sm_90a",
        "next_step_of_002.json sm_80",
        "next_step_of_002.json sm_90a",
    ],
    [(150, 130, 70), (150, 136, 72)],
)
def test_a_plan_of_the_specification_on_the_simulator(built, sizes):
    (plan, arch), (m, n, k) = built.split(), sizes
    model = tinyc.compile(GEMM, target="sim", arch=arch, plan=PLANS / plan, bind={"M": m, "N": n, "K": k})
    random = np.random.default_rng(0)
    x, w, bias = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (n,)))
    expected = np.maximum(x.astype(np.float32) @ w.astype(np.float32) + bias.astype(np.float32), 0)
    np.testing.assert_allclose(model(x, w, bias).astype(np.float32), expected, rtol=1e-3, atol=1e-3)
