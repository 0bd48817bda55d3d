"""Compiles kernels in upstream dialects to PTX: `python test/ptxsim/data/recipes/build.py file.mlir …`.

In: modules with one `gpu.module` of `scf`, `arith`, `math`, `nvvm` and `llvm` ops. Out: `<file>.ptx` in this folder.
Only upstream passes take part: `--nvvm-to-ptx` turns such a module down, because these kernels use ops and parameters
that tinyc does not emit.
"""

import sys
from pathlib import Path

from tinyc import mlir
from tinyc.dialects.nvvm.to_ptx import ptx_text
from tinyc.mlir import ir, passmanager

FOLDER = Path(__file__).parent
#: The order of the conversions to LLVM; `math` before all others, which know none of its ops.
PIPELINE = (
    "builtin.module(convert-scf-to-cf,convert-math-to-llvm,convert-nvvm-to-llvm,convert-arith-to-llvm,"
    "convert-cf-to-llvm,canonicalize,cse,reconcile-unrealized-casts,gpu-module-to-binary{format=isa})"
)


def compile_source(source: Path) -> str:
    """Return the PTX of a module."""
    with mlir.fresh_context(), ir.Location.unknown():
        module = ir.Module.parse(source.read_text(encoding="utf-8"))
        passmanager.PassManager.parse(PIPELINE).run(module.operation)
        return ptx_text(module)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        (FOLDER / f"{path.stem}.ptx").write_text(compile_source(path), encoding="utf-8")
        print(path.stem)
