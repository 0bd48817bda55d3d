"""The layers of the walk, in order: the one table of dialects.

In: the packages beside this file. Out: `layers()`, what each is called, which dialect class it is and how a whole
module is checked for it; `load_all()`, which registers the dialects in the current context; `verify()`.

The table imports the dialects when it is first asked for, so that a pure module of a layer (its types, its inference)
can be imported where the MLIR bindings are not installed.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Layer:
    """One layer: `verify(module)` reports what breaks its contract as located errors; returns whether nothing does."""

    name: str
    dialect: Any
    verify: Callable[[Any], bool]


@functools.cache
def layers() -> tuple[Layer, ...]:
    """Return the layers in walk order."""
    from tinyc.dialects.exec import ops as exec_
    from tinyc.dialects.exec import verify as exec_verify
    from tinyc.dialects.gpu import ops as gpu
    from tinyc.dialects.gpu import verify as gpu_verify
    from tinyc.dialects.index_book import ops as index_book
    from tinyc.dialects.index_book import verify as index_book_verify
    from tinyc.dialects.poly import ops as poly
    from tinyc.dialects.poly import verify as poly_verify
    from tinyc.dialects.region import ops as region
    from tinyc.dialects.region import verify as region_verify
    from tinyc.dialects.tiny import ops as tiny
    from tinyc.dialects.tiny import verify as tiny_verify

    return (
        Layer("tiny", tiny.Tiny, tiny_verify.verify),
        Layer("index_book", index_book.IndexBook, index_book_verify.verify),
        Layer("poly", poly.Poly, poly_verify.verify),
        Layer("region", region.RegionDialect, region_verify.verify),
        Layer("tgpu", gpu.Tgpu, gpu_verify.verify),
        Layer("exec", exec_.Exec, exec_verify.verify),
    )


def load_all() -> None:
    """Register every dialect in the current context, which must not have them yet."""
    from tinyc.mlir import claim_namespace

    for layer in layers():
        claim_namespace(layer.dialect.DIALECT_NAMESPACE)
        # Python-defined dialects are loaded context by context; the classes are registered anew with the last one.
        layer.dialect.load(reload=True)


def irdl_of(name: str) -> Any:
    """Return the `ir.Module` with the IRDL that reads the text of a layer: of all dialects that stand in it."""
    from tinyc.mlir import ir

    inside = {"tiny", "region", name} if name == "tgpu" else {"tiny", name}  # a statement's body is a region's
    needed = [layer.dialect for layer in layers() if layer.name in inside]
    module = ir.Module.create(loc=ir.Location.unknown())
    for dialect in needed:
        for definition in dialect._mlir_module.body.operations:
            definition.operation.clone(ir.InsertionPoint(module.body))
    return module


def present(module: Any) -> set[str]:
    """Return the namespaces of all ops in `module`, and of what its GPU kernels say of themselves."""
    from tinyc.mlir import nested

    names: set[str] = set()
    for op in nested(module):
        names.add(op.name)
        if op.name == "gpu.func":
            names.update(name for name in op.attributes if "." in name)
    return {name.partition(".")[0] for name in names}


def verify(module: Any) -> bool:
    """Check `module` against the contracts of the layers that it has ops of, as `Layer.verify`.

    The first layer whose contract is broken is the last to be checked: a later one may rest on it.
    """
    namespaces = present(module)
    return all(layer.verify(module) for layer in layers() if layer.name in namespaces)
