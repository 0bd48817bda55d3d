"""The GPU path as far as it goes without a GPU: every program reaches PTX for both architectures, from every layer.

`ptxas` takes what comes out, without spills, where there is one. `--random-examples N` runs more than the random
programs of CI, new ones each time.
"""

import functools
import json
from pathlib import Path

import pytest

import tinyc
from parameters import in_turn, pairwise
from programs.example_bindings import BIND, CONV, EXAMPLES
from programs.strategies import programs
from tinyc import text
from tinyc.dialects.nvvm.to_ptx import ptx_text
from tinyc.pipeline import parse
from tinyc.runtime import assembler

ARCHITECTURES = ("sm_80", "sm_90a")
#: By layer, the passes that go on from there to PTX.
TO_PTX = {
    "tiny": "tiny-to-region{{target={arch}}},region-plan{{arch={arch}}},region-to-gpu,gpu-to-nvvm,nvvm-to-ptx",
    "region": "region-to-gpu{{arch={arch}}},gpu-to-nvvm,nvvm-to-ptx",
    "plan": "region-to-gpu,gpu-to-nvvm,nvvm-to-ptx",
    "gpu": "gpu-to-nvvm,nvvm-to-ptx",
    "exec": "gpu-to-nvvm,nvvm-to-ptx",
    "nvvm": "nvvm-to-ptx",
}


#: What must be bound; the other symbols stay, and are parameters of the kernels.
NEEDED = {"conv2d": CONV, "cumulative_sum": {"K": 7}}


@functools.cache
def compiled(name, arch, bound=False):
    """Return an example, compiled once: its sizes bound, or as few as may be."""
    bind = BIND[name] if bound else NEEDED.get(name)
    return tinyc.compile(EXAMPLES / f"{name}.json", target="cuda", arch=arch, bind=bind)


def spills(ptx, arch):
    """Return the bytes that the kernels spill, and that they keep on the stack."""
    kernels = assembler.assemble(ptx, arch).kernels
    return sum(each.spill_store_bytes + each.spill_load_bytes + each.stack_bytes for each in kernels)


@in_turn("name", "arch", BIND, ARCHITECTURES)
def test_every_layer_of_an_example_goes_on_to_the_same_ptx(name, arch):
    model = compiled(name, arch, bound=arch == "sm_80")  # symbols down one walk, numbers down the other
    assert_every_layer_goes_on_to_the_same_ptx(model, arch)


def assert_every_layer_goes_on_to_the_same_ptx(model, arch):
    ptx = ptx_text(model.lowering.module("ptx"))
    assert model.text("ptx").startswith(ptx)
    for layer, passes in TO_PTX.items():
        pipeline = parse(passes.format(arch=arch))
        module = text.parse(model.text(layer))
        pipeline.run(module)
        assert pipeline.steps[-1].output(module) == ptx, layer


def test_every_layer_of_random_programs_goes_on_to_the_same_ptx(random_examples):
    @random_examples(programs(), 10)
    def check(program):
        model = tinyc.compile(json.dumps(program.document), target="cuda", arch="sm_90a", bind=program.bind)
        assert_every_layer_goes_on_to_the_same_ptx(model, "sm_90a")

    check()


@pytest.mark.usefixtures("ptxas")
@pairwise(name=BIND, bound=[False, True], arch=ARCHITECTURES)
def test_an_example_assembles_without_spills(name, bound, arch):
    assert spills(compiled(name, arch, bound).text("ptx"), arch) == 0


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize("element", ["i8", "bool"])
@pytest.mark.parametrize("rows", [2, 20, 500])
def test_sums_down_odd_columns_of_bytes_assemble_without_spills(rows, element):
    x = {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": element, "shape": [2, rows, "M"]}}
    total = {"id": "y", "uop": "REDUCE", "src": ["x"], "arg": {"op": "SUM", "axes": [1], "dtype": "i32"}}
    for arch in ARCHITECTURES:
        assert spills(tinyc.compile({"uops": [x, total]}, target="cuda", arch=arch).text("ptx"), arch) == 0


@pytest.mark.usefixtures("ptxas")
def test_random_programs_assemble_without_spills(random_examples):
    @random_examples(programs(), 10)
    def check(program):
        for arch in ARCHITECTURES:
            model = tinyc.compile(json.dumps(program.document), target="cuda", arch=arch, bind=program.bind)
            assert spills(model.text("ptx"), arch) == 0, json.dumps(program.document)

    check()


def test_the_same_program_gives_the_same_bytes():
    models = [compiled.__wrapped__("attention", "sm_90a") for _ in "12"]
    for layer in ("plan", "gpu", "nvvm", "ptx", "cu"):
        first, second = (model.text(layer) for model in models)
        assert first == second


def test_every_dumped_file_is_in_the_order_of_the_walk(tmp_path):
    tinyc.compile(EXAMPLES / "gemm_bias_relu.json", target="cuda", arch="sm_80", dump=tmp_path)
    names = [path.name.partition("_") for path in sorted(Path(tmp_path).iterdir())]
    layers = ["tiny", "indexbook", "poly_view", "region", "plan", "gpu", "exec", "nvvm", "ptx", "cu"]
    assert [Path(name).stem for _, _, name in names] == layers
    assert [int(number) for number, _, _ in names] == sorted({int(number) for number, _, _ in names})
