"""Kernels keep the names of the values that they come from; what only scaffolds them has none."""

import re

import pytest

import tinyc
from programs.example_bindings import EXAMPLES
from tinyc.dialects.nvvm import verify as nvvm
from tinyc.dialects.registry import context
from tinyc.mlir.messages import capture_errors


@pytest.fixture(scope="module")
def layers():
    on_gpu = tinyc.compile(EXAMPLES / "gemm_bias_relu.json", target="sim").lowering
    on_cpu = tinyc.compile(EXAMPLES / "gemm_bias_relu.json", target="cpu").lowering
    return {name: on_gpu.text(name) for name in ("region", "gpu", "nvvm")} | {"loops": on_cpu.text("loops")}


def test_a_kernel_s_buffers_and_extents_are_called_as_the_tensors_and_symbols_are(layers):
    heads = {
        "region": r"\^bb0\((.*)\):",
        "gpu": r"gpu\.func @\w+\((.*?)\) kernel",
        "loops": r"func\.func @matmul_add_relu_cast\((.*)\) \{",
    }
    buffers, extents = ["X", "W", "bias", "Y"], ["M", "K", "N"]
    own = {"region": [], "gpu": extents, "loops": ["workspace", "workspace_0", *extents, "low", "high"]}
    for layer, head in heads.items():
        found = re.findall(r"%(\w+):", re.search(head, layers[layer])[1])
        assert found == buffers + own[layer], layer


def test_an_element_is_called_after_its_value(layers):
    assert re.search(r"%Yr = arith\.maximumf %Yb, %\w+ : f32", layers["loops"])
    assert re.search(r"%Yr(_\d+)? = .*\(%Yb(_\d+)?, %\w+\)", layers["nvvm"])


def test_what_a_scheme_makes_is_called_by_its_role(layers):
    assert '%A = "tgpu.alloc_smem"' in layers["gpu"]
    assert re.search(r'%acc_\d+ = "tgpu.mma_sync"\(', layers["gpu"])


def test_scaffolding_has_no_name_of_the_program(layers):
    for layer in ("gpu", "nvvm", "loops"):
        assert not re.search(r"%(X|W|bias|Y)\w* = (arith|llvm\.mlir)\.constant", layers[layer]), layer


def test_a_message_about_scaffolding_names_the_node_of_its_kernel():
    text = """
    module {
      gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
        llvm.func @f() attributes {gpu.kernel, nvvm.kernel} {
          %0 = llvm.intr.stacksave : !llvm.ptr loc("a.mlir":3:4)
          llvm.return
        } loc("Y"("a.mlir":1:2))
      }
    }"""
    with capture_errors(context()) as errors:
        assert not nvvm.verify(tinyc.text.parse(text))
    (error,) = errors
    assert (error.where.node, error.where.file, error.where.line) == ("Y", "a.mlir", 3)
