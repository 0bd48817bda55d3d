"""Products of i8 by scheme `mma` on the simulator: exact, whatever lies transposed.

The program widens its factors before it multiplies them; tiles have them as they were.
"""

import numpy as np
import pytest

import tinyc
from gemm_cases import Product

CASES = [
    Product(64, 128, 64, "i8", "nn"),
    Product(64, 64, 96, "i8", "nt", "residual"),
    Product(50, 40, 70, "i8", "tn", "bias_relu"),
]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("product", CASES, ids=str)
def test_sums_are_exact_in_every_layout(product, arch):
    model = tinyc.compile(product.program, "sim", arch=arch, plan={"scheme": "mma"})
    random, types = np.random.default_rng(0), {each.name: each.type.element.dtype for each in model.signature.inputs}
    given = {name: random.integers(-128, 128, shape).astype(types[name]) for name, shape in product.shapes.items()}
    a, b = (given[name].T if lies == "t" else given[name] for name, lies in zip("ab", product.layout, strict=True))
    expected = a.astype(np.int32) @ b.astype(np.int32) + given.get("bias", 0) + given.get("residual", 0)
    (found,) = model.run(**given).values()
    np.testing.assert_array_equal(found, np.maximum(expected, 0) if product.epilogue == "bias_relu" else expected)
