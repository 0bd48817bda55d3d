"""What the kernels of a module's GPU code are called, at every layer from gpu to PTX."""

import pytest

from tinyc.dialects.gpu.launch import launchables
from tinyc.dialects.registry import context
from tinyc.driver.lowering import Lowering
from tinyc.driver.sources import read_module

PROGRAM = """
func.func @main(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %0 = "tiny.reduce"(%x) {axes = array<i64: 1>, op = "sum"} : (tensor<4x3xf32>) -> tensor<4xf32>
  %1 = "tiny.permute"(%y) {perm = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<4xf32>, tensor<3x4xf32>
}
"""


@pytest.mark.parametrize("layer", ["gpu", "exec", "nvvm", "ptx"])
def test_the_names_are_the_same_at_every_layer(layer):
    module = Lowering(read_module(PROGRAM), "cuda").module(layer)
    with context():
        assert set(launchables(module)) == {"reduce_sum", "copy"}


def test_a_module_for_the_cpu_has_none():
    module = Lowering(read_module(PROGRAM)).module("loops")
    with context():
        assert set(launchables(module)) == set()
