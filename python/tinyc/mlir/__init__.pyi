"""What `tinyc.mlir` offers: the bindings' modules, with the types of the stubs beside this file."""

from types import ModuleType

from tinyc.mlir import arith as arith
from tinyc.mlir import builtin as builtin
from tinyc.mlir import emitc as emitc
from tinyc.mlir import ext as ext
from tinyc.mlir import func as func
from tinyc.mlir import gpu as gpu
from tinyc.mlir import ir as ir
from tinyc.mlir import llvm as llvm
from tinyc.mlir import math as math
from tinyc.mlir import memref as memref
from tinyc.mlir import nvvm as nvvm
from tinyc.mlir import passmanager as passmanager
from tinyc.mlir import scf as scf
from tinyc.mlir import vector as vector

#: The dotted name of the bindings' root package.
PROVIDER: str
irdl: ModuleType

def claim_namespace(dialect: str) -> None: ...
def fresh_context() -> ir.Context: ...
