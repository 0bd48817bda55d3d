"""Every field of a plan that scheme `mma` takes, by what it changes in the statements of the kernel.

Each field has a kernel that is written with it, and one without it or with another value. Values that the hardware or
the template does not have are refused in `test_plan.py`.
"""

import json
import re
from collections import Counter
from typing import Any

import pytest

from installed import ROOT
from tinyc.driver.lowering import Lowering
from tinyc.driver.sources import read_program
from tinyc.schemes.mma.plan import MMA_FIELDS

GEMM = ROOT / "examples" / "gemm_bias_relu.json"
WARPS: dict[str, Any] = {"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 3}
GROUPS: dict[str, Any] = {
    "tile": [128, 128, 64], "warp_tile": "64x128", "stages": 3, "schedule": "cooperative", "cluster": [1, 1],
}  # fmt: skip
PLAIN = {"raster": {"along": "n", "group": 1}}
SWIZZLED = '#tgpu.swizzle<"{}", {} : i64>'


def statements(arch: str, plan: dict[str, Any], sizes: tuple[int, int, int] = (256, 512, 128)) -> str:
    """The GPU layer of the kernel for a plan."""
    program = read_program(GEMM, dict(zip("MNK", sizes, strict=True)))
    text = Lowering(program, "sim", {"arch": arch, "plan": json.dumps({"scheme": "mma", **plan})}).text("gpu")
    return re.sub(r"tgpu\.plan = \{.*?\}\} \{", "", text)  # what the plan says is no proof


#: Field → the architecture, the plan without it, its values, and for each what only that value's kernel has.
SHOWN: dict[str, tuple[str, dict[str, Any], list[tuple[Any, str]]]] = {
    "tile": (
        "sm_80",
        {"warp_tile": "32x32", "stages": 3, **PLAIN},
        [([64, 64, 32], "grid = [8, 4, 1]"), ([128, 64, 32], "grid = [8, 2, 1]")],
    ),
    "split": (
        "sm_80",
        {"warp_tile": "32x32", "stages": 3, **PLAIN},
        [({"m": 64, "n": 64, "k": 32}, "grid = [8, 4, 1]"), ({"m": 64, "n": 128, "k": 32}, "grid = [4, 4, 1]")],
    ),
    "stages": (
        "sm_80",
        {"tile": [64, 64, 32], "warp_tile": "32x32"},
        [(3, "dynamic_shared_bytes = 24576"), (5, "dynamic_shared_bytes = 40960")],
    ),
    "warp_tile": (
        "sm_80",
        {"tile": [64, 64, 32], "stages": 3},
        [("32x32", 'fragments<"mma", 32 : i64, 32 : i64>'), ("64x32", 'fragments<"mma", 64 : i64, 32 : i64>')],
    ),
    "fuse": ("sm_80", {**WARPS, **PLAIN}, [([["m.o", "n.o", "t"]], "grid = [32, 1, 1]"), (None, "grid = [8, 4, 1]")]),
    "bind": (
        "sm_80",
        WARPS,
        [
            ({"m.o": "block.y", "n.o": "block.x"}, "%m = arith.muli %block_id_y"),
            ({"m.o": "block.x", "n.o": "block.y"}, "%m = arith.muli %block_id_x"),
        ],
    ),
    "order": (
        "sm_80",
        WARPS,
        [
            (["m.o", "n.o", "k.o", "k.i", "m.i", "n.i"], "%m = arith.muli %block_id_y"),
            (["n.o", "m.o", "k.o", "k.i", "m.i", "n.i"], "%m = arith.muli %block_id_x"),
        ],
    ),
    "raster": (
        "sm_80",
        WARPS,
        [({"along": "n", "group": 2}, "grid = [32, 1, 1]"), ({"along": "n", "group": 1}, "grid = [8, 4, 1]")],
    ),
    "vectorize": (
        "sm_80",
        WARPS,
        [({"axis": "n.i.i", "width": 8}, "width = 8 : i64"), ({"axis": "n.i.i", "width": 4}, "width = 4 : i64")],
    ),
    "predicate_tail": (
        "sm_80",
        WARPS,
        [(["m", "n", "k"], 'guarded = ["rows", "columns"]'), ([], "guarded = []")],
    ),
    "layout_hints": (
        "sm_80",
        WARPS,
        [({"A_swizzle": True}, SWIZZLED.format("row", 64)), ({"A_swizzle": False}, "!tgpu.smem<tensor<64x32xf16>")],
    ),
    "async": ("sm_80", WARPS, [({"enable": True}, "tgpu.cp_async"), ({"enable": False}, "tgpu.load_tile")]),
    "schedule": (
        "sm_90a",
        {"tile": [64, 64, 64], "warp_tile": "64x64", "stages": 3, "cluster": [1, 1]},
        [
            ("simple", "known_block_size = array<i32: 128, 1, 1>"),
            ("cooperative", "known_block_size = array<i32: 256, 1, 1>"),
            ("pingpong", "known_block_size = array<i32: 384, 1, 1>"),
        ],
    ),
    "cluster": (
        "sm_90a",
        {name: value for name, value in GROUPS.items() if name != "cluster"},
        [([2, 1], "multicast = 2"), ([1, 1], "!tgpu.tensor_map"), ([1, 2], "multicast = 2")],
    ),
    "registers": (
        "sm_90a",
        GROUPS,
        [([40, 232], "registers = 232"), ([32, 200], "registers = 200")],
    ),
    "wait_depth": ("sm_90a", GROUPS, [(1, "pending = 1"), (0, "pending = 0")]),
}
#: Fields that name what is so: each of these says the same as the plan without it.
AGREEING: dict[str, tuple[str, dict[str, Any], Any]] = {
    "pipeline": ("sm_80", WARPS, "k.i"),
    "unroll": ("sm_80", WARPS, {"k.i": 2}),
    "cache": ("sm_80", WARPS, [{"tensor": each, "where": "smem", "at": "k.i", "pingpong": True} for each in "AB"]),
    "epilogue": ("sm_90a", GROUPS, ["bias", "relu"]),
    "local_edges": ("sm_90a", GROUPS, [{"from": "sum_k", "to": "relu", "buffer": "reg"}]),
    "algo_choice": ("sm_90a", GROUPS, {"matmul": "implicit_gemm"}),
    "precision": ("sm_90a", GROUPS, "ieee"),
    "arch": ("sm_90a", GROUPS, "sm90"),
}


@pytest.mark.parametrize("field", SHOWN)
def test_a_value_shows_in_the_statements(field):
    arch, rest, values = SHOWN[field]
    texts = [statements(arch, rest if value is None else {**rest, field: value}) for value, _ in values]
    for text, (value, pattern) in zip(texts, values, strict=True):
        assert pattern in text, value
    assert len(set(texts)) == len(texts), "each value has a kernel of its own"


@pytest.mark.parametrize("field", AGREEING)
def test_what_the_template_does_anyway_may_be_said(field):
    arch, rest, value = AGREEING[field]
    assert statements(arch, {**rest, field: value}) == statements(arch, rest)


def test_no_field_is_left_out():
    assert set(MMA_FIELDS) - {*SHOWN, *AGREEING} == {"split_k"}  # in test_slices


def test_the_steps_of_a_tile_are_unrolled_and_the_ring_runs_ahead_along_k():
    text = statements("sm_80", {**WARPS, "unroll": {"k.i": 2}, "pipeline": "k.i"})
    counts = Counter(re.findall(r"tgpu\.(\w+)", text))
    assert counts["mma_sync"] == 2 * 2  # of 16 each in a tile of 32, whose last columns of B are loaded apart
    assert counts["cp_async"] == 2 * 3  # both operands: two stages before the loop, one in it


def test_an_edge_in_registers_goes_from_the_accumulators_to_the_epilogue():
    text = statements("sm_90a", {**GROUPS, "local_edges": [{"from": "sum_k", "to": "relu", "buffer": "reg"}]})
    slab = text[text.index('"tgpu.epilogue_slab"') :]
    assert re.findall(r'"tiny\.(add|relu)"', slab) == ["add", "relu"] * slab.count('"tgpu.epilogue_slab"')
