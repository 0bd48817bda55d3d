"""The machine code of scheme `mma`'s kernels: SASS instructions of the main loop per MMA beside others'. Prints tables.

    .venv/bin/python bench/mma_sass.py --kernels ../kernels --record       # writes bench/results/mma_sass.txt

DIR has the checkouts that `bench/clock.py` takes, and in triton/ what clock_kernels/matmul_in_triton.py writes. ptxas,
nvdisasm and nvcc are needed, no GPU. Other tables have the plans that the cost model ranks first for some shapes, and
the first one of each element type, layout and epilogue: a kernel of theirs that spills, has a stack, of which ptxas
warns, or that lacks what its architecture multiplies and copies by, is MISSED, and then the exit status is 1.
"""

import argparse
import itertools
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path

import tinyc
from clock_kernels import FAST_CU, TENSOR_GEMM
from clock_kernels.triton_matmul import triton_products
from figures import Figures, machine, show
from gemm_cases import EPILOGUES, KINDS, LAYOUTS, Product
from ptxsim.clock.sass.toolchain import find_sass_tools
from tinyc.text.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent / "test"))

from mma_kernels.plans import SHAPES, Sizes, model_of, named, plan_of, ranked
from mma_kernels.sass import KernelSass, sass_of

RESULTS = Path(__file__).parent / "results" / "mma_sass.txt"
PACKAGES = ("numpy",)
ARCHS = ("sm_80", "sm_90a")
COLUMNS = ("kernel", "registers", "spilt bytes", "stack", "warnings", "instructions", "MMAs", "per MMA")
NOTE = (
    "of the innermost loop that multiplies, each instruction counted once; an HGMMA is one of a warpgroup, an HMMA one "
    "of a warp. C of tinyc's kernels is max(A · B + bias, 0)"
)
#: By tile: tinyc's plan, published kernels by their names. fast.cu's best, and xudoong's; tutorial 03 at the same tile.
BESIDE = (
    (
        "sm_90a",
        (128, 256, 64),
        {"warp_tile": "64x256", "stages": 4, "schedule": "cooperative", "cluster": [2, 1]},
        ("matmul 12",),
    ),
    ("sm_90a", (128, 128, 32), {"warp_tile": "64x128", "stages": 4, "schedule": "cooperative", "cluster": [1, 1]}, ()),
    (
        "sm_80",
        (256, 128, 32),
        {"warp_tile": "64x64", "stages": 4},
        ("k10-mma_stage_dbreg-stage32x4", "k11-mma_swizzle-stage32x4", "k12-mma_swizzle_opt"),
    ),
    ("sm_80", (256, 128, 64), {"warp_tile": "64x64", "stages": 3}, ("k11-mma_swizzle-stage64x3",)),
    ("sm_80", (128, 256, 64), {"warp_tile": "64x64", "stages": 3}, ()),
    ("sm_80", (128, 128, 32), {"warp_tile": "64x64", "stages": 4}, ()),
)
#: Of the plans of each shape, so many of the first.
FIRST = 4
#: What a kernel multiplies by, and on sm_80 reads fragments and copies by: one of each set.
INSTRUCTIONS = {
    "sm_80": ({"HMMA", "IMMA"}, {"LDSM"}, {"LDGSTS"}),
    "sm_90a": ({"HGMMA", "IGMMA"},),
}
#: The sizes at which there is one of each element type, layout and epilogue.
OF_ALL_KINDS = (2048, 2048, 1024)


def row_of(name: str, sass: KernelSass) -> tuple[object, ...]:
    """The row of a kernel."""
    use = sass.resources
    spilt = use.spill_store_bytes + use.spill_load_bytes
    told = ", ".join(sorted({each.code or each.text for each in sass.warnings}))
    facts = (use.registers, spilt, use.stack_bytes, told)
    return name, *facts, len(sass.main_loop), sass.products_of_loop, f"{sass.per_product:.2f}"


def others_at(arch: str, tile: Sizes, published: tuple[str, ...], kernels: Path) -> Iterator[tuple[str, KernelSass]]:
    """Yield the kernels of others at a tile."""
    for kernel in (*FAST_CU, *TENSOR_GEMM):
        if kernel.name in published:
            yield f"{kernel.repository.name}, {kernel.name}", sass_of(kernel.ptx(kernels), arch, kernel.entry)
    for product in triton_products(kernels, arch):
        if product.tile == tile:
            yield product.name, sass_of(product.ptx, arch)


def beside_others(kernels: Path) -> tuple[list[Table], Figures]:
    """The instructions per MMA by tile."""
    figures, tables = Figures("instructions of the main loop per MMA against the least of the others' at the tile"), []
    for arch, tile, fields, published in BESIDE:
        shown = "x".join(map(str, tile))
        plan = {"scheme": "mma", "tile": list(tile), **fields}
        own = sass_of(model_of(arch, plan, (4096, 4096, 4096)).text("ptx"), arch)
        others = list(others_at(arch, tile, published, kernels))
        rows = [row_of("tinyc", own), *(row_of(*each) for each in others)]
        tables.append(Table(f"tiles of {shown} on {arch}", COLUMNS, tuple(rows)))
        if others:
            ratio = own.per_product / min(sass.per_product for _, sass in others)
            figures.row(f"{shown} on {arch}", ratio, "", most=1)
    return tables, figures


def chosen_plans() -> tuple[Table, Figures]:
    """Each plan that is among the first of a shape."""
    kernels: dict[str, KernelSass] = {}
    for arch in ARCHS:
        for sizes in SHAPES:
            for each in ranked(arch, sizes)[:FIRST]:
                name = f"{arch}: {named(each.tiling)}, k {sizes[2]}"
                if name not in kernels:
                    kernels[name] = sass_of(model_of(arch, plan_of(each.tiling), sizes).text("ptx"), arch)
    return judged(f"the first {FIRST} plans of {len(SHAPES)} shapes", kernels, NOTE)


def kernels_of_all_kinds() -> tuple[Table, Figures]:
    """The plan that is chosen, of each element type, layout and epilogue."""
    kernels: dict[str, KernelSass] = {}
    for arch, element, layout, epilogue in itertools.product(ARCHS, KINDS, LAYOUTS, EPILOGUES):
        product = Product(*OF_ALL_KINDS, element, layout, epilogue)
        model = tinyc.compile(product.program, target="sim", arch=arch, plan=product.plan(None))
        kernels[f"{arch}: {product}"] = sass_of(model.text("ptx"), arch)
    return judged("the first plan of all element types, layouts and epilogues", kernels)


def judged(title: str, kernels: Mapping[str, KernelSass], note: str = "") -> tuple[Table, Figures]:
    """Kernels by what they are of, whose names begin with the architecture."""
    figures, rows = Figures(title), [row_of(*each) for each in kernels.items()]
    spilt = sum(sass.is_spilt or bool(sass.warnings) for sass in kernels.values())
    figures.row("kernels", len(rows), "")
    figures.row("with spills, a stack, or warnings of ptxas", spilt, "", most=0)
    for arch, wanted in INSTRUCTIONS.items():
        of_arch = [sass for name, sass in kernels.items() if name.startswith(f"{arch}:")]
        for what in wanted:
            has = sum(bool(what & sass.opcodes) for sass in of_arch)
            figures.row(f"on {arch}, without {' or '.join(sorted(what))}", len(of_arch) - has, "", most=0)
    return Table(title, COLUMNS, tuple(rows), note), figures


def main() -> int:
    """Print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Count instructions per MMA.")
    parser.add_argument("--kernels", type=Path, help="the folder of the checkouts; without it tinyc's plans alone")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name} as well")
    options = parser.parse_args()
    tools = find_sass_tools()
    heading = machine(PACKAGES, f"ptxas {tools.ptxas_version}", f"nvdisasm {tools.nvdisasm_version}")
    beside, compared = beside_others(options.kernels) if options.kernels else ([], None)
    (plans, of_plans), (kinds, of_kinds) = chosen_plans(), kernels_of_all_kinds()
    figures = [each for each in (compared, of_plans, of_kinds) if each is not None]
    tables = [*(each.table for each in figures), *beside, plans, kinds]
    show(heading, *tables)
    if options.record:
        with RESULTS.open("w", encoding="utf-8") as file, redirect_stdout(file):
            show(heading, *tables)
    return int(any(each.missed for each in figures))


if __name__ == "__main__":
    sys.exit(main())
