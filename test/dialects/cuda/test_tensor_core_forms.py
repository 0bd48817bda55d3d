"""Forms of products on tensor cores as CUDA text: what nvcc makes of it gives the same bits as the kernel itself.

Types, layouts, batches, and what loads the tiles. Both run on the simulator, with all of its checks. And every
instruction that a kernel may have is a C++ function.
"""

import json

import ml_dtypes
import numpy as np
import pytest

import tinyc
from cuda_on_host import assemble_functions, run_ptx_of
from tinyc.dialects.cuda.printer.instructions import function_of, instruction_functions
from tinyc.dialects.gpu.instructions import instruction, instruction_names
from tinyc.dialects.region.plan import RegionPlan
from tinyc.dialects.region.to_gpu.lowering import RegionToGpu
from tinyc.dialects.tiny.to_region import TinyToRegion
from tinyc.importers import tiny_json
from tinyc.passes.runner import run_passes

JOINT = "bhmnk"
SIZES = {"b": 2, "h": 2, "m": 136, "n": 72, "k": 96}
NUMPY = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "fp32": np.float32}
OF_WARPS = {"tile": [64, 64, 32], "warp_tile": "32x32"}
SIMPLE, COOPERATIVE = (
    {"tile": [128, 64, 64], "warp_tile": "64x64", "stages": 2, "schedule": each} for each in ("simple", "cooperative")
)
TF32 = {"precision": "tf32"}
#: Axes of the operands, their type and that of the output, sizes, and plans for sm_80 and sm_90a.
FORMS = {
    "bf16": ("mk,kn", "bf16", "bf16", {}, OF_WARPS, COOPERATIVE),
    "transposed": ("km,nk", "fp16", "fp16", {}, OF_WARPS, COOPERATIVE),
    "batch": ("bmk,bkn", "fp16", "fp16", {}, OF_WARPS, COOPERATIVE),
    "shared_batch": ("bhmk,hnk", "fp16", "fp32", {}, OF_WARPS, SIMPLE),
    "i8": ("mk,nk", "i8", "i32", {}, {}, {}),
    "i8_across": ("mk,kn", "i8", "i32", {"m": 64, "n": 64, "k": 64}, {}, {}),
    "tf32": ("mk,nk", "fp32", "fp32", {"k": 40}, TF32, TF32),
    "tf32_across": ("mk,kn", "fp32", "fp32", {"k": 40}, TF32, TF32),
    "pitch_of_8_bytes": ("mk,kn", "fp16", "fp16", {"k": 76}, OF_WARPS, SIMPLE),
    "pitch_of_2_bytes": ("mk,kn", "fp16", "fp16", {"m": 64, "n": 71, "k": 33}, OF_WARPS, SIMPLE),
    "residual": ("mk,kn,mn", "fp16", "fp16", {}, OF_WARPS, COOPERATIVE),
    "taking_turns": (
        "mk,kn",
        "fp16",
        "fp16",
        {"n": 264},
        OF_WARPS,
        {**COOPERATIVE, "schedule": "pingpong", "warp_tile": "128x64"},
    ),
}
#: Those of every run; the others are long.
SHORT = {("transposed", "sm_90a"), ("residual", "sm_90a"), ("i8_across", "sm_80"), ("pitch_of_2_bytes", "sm_90a")}


def document(axes, element, output, sizes):
    """A sum over k of the products of two operands, whose axes are written as in numpy's einsum; a third is added."""
    joint = [axis for axis in JOINT if axis in axes]
    uops, values = [], {}
    operands = dict(zip("XWR", axes.split(","), strict=False))
    for name, own in operands.items():
        values[name] = {"dtype": element, "shape": [sizes[axis] for axis in own]}
        if name == "R":
            continue
        dims = [own.index(axis) for axis in sorted(own, key=JOINT.index)]
        shape = [sizes[axis] if axis in own else 1 for axis in joint]
        uops.append({"uop": "PERMUTE", "src": [name], "arg": {"dims": dims}, "out": f"{name}0"})
        uops.append({"uop": "RESHAPE", "src": [f"{name}0"], "arg": {"result_shape": shape}, "out": f"{name}1"})
    total = {"op": "SUM", "axes": [-1], "acc_dtype": "i32" if element == "i8" else "fp32"}
    uops.append({"uop": "MUL", "src": ["X1", "W1"], "out": "P"})
    uops.append({"uop": "REDUCE", "src": ["P"], "arg": total, "out": "S"})
    if "R" in operands:
        uops.append({"uop": "CAST", "src": ["R"], "arg": {"to": "fp32"}, "out": "R0"})
        uops.append({"uop": "ADD", "src": ["S", "R0"], "out": "T"})
    uops.append({"uop": "CAST", "src": [uops[-1]["out"]], "arg": {"to": output}, "out": "Y"})
    return json.dumps({"uops": uops, "values": values})


@pytest.mark.parametrize(
    ("form", "arch"),
    [
        pytest.param(form, arch, marks=() if (form, arch) in SHORT else pytest.mark.long)
        for form in FORMS
        for arch in ("sm_80", "sm_90a")
    ],
)
def test_what_nvcc_makes_of_a_form_has_the_same_bits(form, arch, tmp_path):
    axes, element, output, changed, *plans = FORMS[form]
    text = document(axes, element, output, {**SIZES, **changed})
    plan = {"scheme": "mma", **plans[arch == "sm_90a"]}
    module = tiny_json.import_program(text, bind={})
    run_passes(module, [TinyToRegion(), RegionPlan(arch=arch, plan=json.dumps(plan)), RegionToGpu(arch=arch)])
    random = np.random.default_rng(7)
    shapes = {name: value["shape"] for name, value in json.loads(text)["values"].items()}
    drawn = {name: random.integers(-8, 8, shape) for name, shape in shapes.items()}
    inputs = {name: (each if element == "i8" else each / 8).astype(NUMPY[element]) for name, each in drawn.items()}
    (tmp_path / "product.json").write_text(text, encoding="utf-8")
    expected = tinyc.compile(tmp_path / "product.json", target="sim", arch=arch, plan=plan)(*inputs.values())
    found = run_ptx_of(module, arch, inputs, tmp_path)["Y"]
    assert found.tobytes() == np.asarray(expected).tobytes()
    x, w, *residual = (each.astype(np.float32) for each in inputs.values())
    result = "".join(axis for axis in JOINT if axis in axes and axis != "k")
    wanted = sum(residual, np.einsum(f"{axes.removesuffix(',mn')}->{result}", x, w))
    np.testing.assert_allclose(found.astype(np.float32), wanted, rtol=1e-2, atol=1e-2)


def test_every_instruction_is_a_function():
    for name in instruction_names():
        entry = instruction(name)
        assert entry is not None
        assert f" {name.replace('.', '_')}(" in function_of(entry)


def test_nvcc_compiles_the_functions_of_instructions(tmp_path):
    """One of each kind, in which numbers may differ: the smallest."""
    names = reversed(list(instruction_names()))
    kinds = {"".join(each for each in name if not each.isdigit()): name for name in names}
    assemble_functions(instruction_functions(kinds.values()), tmp_path, "90a")
