"""The layers of the walk, in order: the one table of dialects, and the one context that has them loaded.

In: the packages beside this file. Out: `layers()`, what each is called, which dialect class it is, how a whole module
is checked for it and which kernels it offers to the host; `context()`, the context of this process with the dialects
loaded; `verify_layers_of()`.

The table imports the dialects when it is first asked for, so that a pure module of a layer (its types, its inference)
can be imported where the MLIR bindings are not installed. No layer imports the table.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tinyc.dialects import launch
from tinyc.dialects.gpu.instructions import is_instruction
from tinyc.dialects.nvvm.assembly import attach_assembly
from tinyc.mlir import claim_namespace, ext, fresh_context, gpu, ir
from tinyc.mlir.bodies import END


@dataclass(frozen=True)
class Layer:
    """One layer: `verify(module)` reports what breaks its contract as located errors; whether nothing does.

    `inside` are the layers whose ops and types stand in its text beside its own. `launchables` are the kernels that it
    offers to the host.
    """

    name: str
    dialect: type[ext.Dialect]
    verify: Callable[[ir.Module], bool]
    inside: tuple[str, ...] = ("tiny",)
    launchables: launch.Offer | None = None


@functools.cache
def layers() -> tuple[Layer, ...]:
    """The layers in walk order."""
    from tinyc.dialects.exec import ops as exec_
    from tinyc.dialects.exec import verify as exec_verify
    from tinyc.dialects.frontend import ops as frontend
    from tinyc.dialects.frontend import verify as frontend_verify
    from tinyc.dialects.gpu import launch as gpu_launch
    from tinyc.dialects.gpu import statements as gpu
    from tinyc.dialects.gpu import verify as gpu_verify
    from tinyc.dialects.index_book import ops as index_book
    from tinyc.dialects.index_book import verify as index_book_verify
    from tinyc.dialects.poly import ops as poly
    from tinyc.dialects.poly import verify as poly_verify
    from tinyc.dialects.region import kernel as region_kernel
    from tinyc.dialects.region import ops as region
    from tinyc.dialects.region import verify as region_verify
    from tinyc.dialects.tiny import ops as tiny
    from tinyc.dialects.tiny import verify as tiny_verify

    return (
        Layer("frontend", frontend.Frontend, frontend_verify.verify),
        Layer("tiny", tiny.Tiny, tiny_verify.verify),
        Layer("index_book", index_book.IndexBookDialect, index_book_verify.verify),
        Layer("poly", poly.Poly, poly_verify.verify),
        Layer("region", region.RegionDialect, region_verify.verify, launchables=region_kernel.kernels_of),
        # The body of a statement is a region's.
        Layer("tgpu", gpu.Tgpu, gpu_verify.verify, ("tiny", "region"), launchables=gpu_launch.launchables),
        Layer("exec", exec_.Exec, exec_verify.verify),
    )


_context: ir.Context | None = None


def context() -> ir.Context:
    """The context of this process, with tinyc's dialects loaded.

    There is one, because Python-defined dialects register their classes process-wide and because types that were
    parsed once stay valid for as long as the process lives.
    """
    global _context
    if _context is None:
        _context = fresh_context()
        with _context:
            load_all()
    return _context


def load_all() -> None:
    """Register every dialect in the current context, which must not have them yet."""
    claim_namespace(END.partition(".")[0])  # which the bindings have no module for
    for layer in layers():
        claim_namespace(layer.dialect.DIALECT_NAMESPACE)
        # Python-defined dialects are loaded context by context; the classes are registered anew with the last one.
        layer.dialect.load(reload=True)
        if layer.launchables is not None:
            launch.attach_offer(layer.name, layer.launchables)
    attach_assembly("tgpu", is_instruction)


def irdl_of(name: str) -> ir.Module:
    """The IRDL that reads the text of a layer: of all dialects that stand in it."""
    inside = {each for layer in layers() if layer.name == name for each in (name, *layer.inside)}
    module = ir.Module.create(loc=ir.Location.unknown())
    for layer in layers():
        if layer.name in inside:
            for definition in layer.dialect._mlir_module.body.operations:
                definition.operation.clone(ir.InsertionPoint(module.body))
    return module


def present(module: ir.Module) -> set[str]:
    """The namespaces of all ops in `module`, and of what its GPU kernels say of themselves."""
    names: set[str] = set()
    gpu_kernel = gpu.GPUFuncOp.OPERATION_NAME

    def visit(each: Any) -> ir.WalkResult:
        name = each.operation.name
        names.add(name)
        if name == gpu_kernel:
            names.update(name for name in each.attributes if "." in name)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return {name.partition(".")[0] for name in names}


def verify_layers_of(module: ir.Module, namespaces: set[str]) -> bool:
    """Check `module`, which has ops of `namespaces`, against the contracts of these layers, as `Layer.verify`.

    The first layer whose contract is broken is the last to be checked: a later one may rest on it.
    """
    return all(layer.verify(module) for layer in layers() if layer.name in namespaces)
