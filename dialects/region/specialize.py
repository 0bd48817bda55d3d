"""Alternatives of kernels: the same region at sizes that are known or bounded, launched where a run has such sizes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tinyc.analysis.graphs import assumptions_of, functions_of, main_function
from tinyc.diagnostics import TinycError
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.bind import SymbolBinder, bound_extent, ops_with_types
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.dialects.region.size_sets import SIZES_FORM, SizeSet, own_sets, size_sets
from tinyc.expr import extents
from tinyc.mlir import ir
from tinyc.mlir.names import DistinctNames, declared_symbols
from tinyc.passes import Pass
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.guards import guards_attribute
from tinyc.vocabulary.types import symbols_of


@dataclass(frozen=True)
class RegionSpecialize(Pass):
    """Give kernels alternatives for sizes that are expected: less is computed about sizes, and more is known of them.

    `sizes` has sets of sizes, "M=1;M<=64,N=128": sizes that the program is expected to run at, and classes of sizes
    that are at most a number, for which plans choose other tiles than for large ones.

    Requires:
        1. The module holds `region.kernel`s with symbolic extents, and a host function that launches them.
    Ensures:
        1. For each set and each kernel with one of its symbols there is another kernel, with the sizes in its types;
           `sizes` on it says at which sizes it computes the same, `guards` what other sizes are at most.
        2. A launch has its kernel's alternatives in `alternatives`, in the order of the sets. Where a run has the sizes
           of one, the first of them is launched in the kernel's place.
    Before {sizes="M=8"}:
        !b = !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>
        !t = tensor<?xf32, #tiny.dims<["M"]>>
        "region.kernel"() ({ ^bb0(%x: !b, %y: !b): %0 = "region.read"(%x) : (!b) -> !t
          "region.yield"(%0, %y) {materialize = "gmem"} : (!t, !b) -> ()
          omp.terminator }) {sym_name = "copy"} : () -> ()
        func.func @main(%x: !t {tiny.name = "x"}) -> (!t {tiny.name = "y"}) {
          %k = "region.launch"() {kernel = @copy} : () -> ((!t) -> !t)
          %0 = call_indirect %k(%x) : (!t) -> !t return %0 : !t }
    After:
        …
        !b = !region.memref<tensor<8xf32>, [1], 128 : i64, true>   !t = tensor<?xf32, #tiny.dims<["M"]>>
        "region.kernel"() ({ ^bb0(%x: !b, %y: !b): %0 = "region.read"(%x) : (!b) -> tensor<8xf32>
          "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<8xf32>, !b) -> ()
          omp.terminator }) {sizes = {M = 8 : i64}, sym_name = "copy_M8"} : () -> ()
        func.func @main(%x: !t {tiny.name = "x"}) -> (!t {tiny.name = "y"}) {
          %k = "region.launch"() {alternatives = [@copy_M8], kernel = @copy} : () -> ((!t) -> !t)
          %0 = call_indirect %k(%x) : (!t) -> !t return %0 : !t }
    Source: specification 000 §8 (ShapeSets); design §4 (guarded alternatives).
    """

    sizes: str = field(default="", metadata={"doc": f"the sizes that are expected: {SIZES_FORM}"})

    name: ClassVar[str] = "region-specialize"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("region",)
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = (region.KernelOp,)

    def run(self, module: ir.Module) -> None:
        """Add the alternatives to `module`."""
        sets = size_sets(self.sizes)
        if not sets:
            return
        _require_sizes(module, sets)
        alternatives = {name: _alternatives(module, kernel, sets) for name, kernel in kernels_of(module).items()}
        for function in functions_of(module):
            for op in (op for block in function.regions[0].blocks for op in block.operations):
                if isinstance(op, region.LaunchOp) and alternatives.get(op.kernel.value):
                    names = [ir.FlatSymbolRefAttr.get(name) for name in alternatives[op.kernel.value]]
                    op.attributes[region.ALTERNATIVES] = ir.ArrayAttr.get(names)


def _require_sizes(module: ir.Module, sets: Sequence[SizeSet]) -> None:
    """Check that the program has the symbols, and may run at the sizes.

    Raises:
        TinycError: `UnboundSymbol`, `AssumptionViolated`, `InvalidExtent`.
    """
    function = main_function(module)
    block = function.regions[0].blocks[0]
    known = symbols_of([tensor_type(argument.type) for argument in block.arguments])
    for sizes in sets:
        unknown = [name for name in sizes.symbols if name not in known]
        if unknown:
            listed = ", ".join(f"'{name}'" for name in known) or "none"
            message = (
                f"'sizes': the inputs have no symbol '{unknown[0]}'; they have {listed}; one that 'bind' fixes is none"
            )
            raise TinycError("UnboundSymbol", message)
        shown = ", ".join(sizes.shown("{} = {}", "{} <= {}"))
        for each in assumptions_of(block):
            lhs, rhs = bound_extent(each.lhs, sizes.known), bound_extent(each.rhs, sizes.known)
            if isinstance(lhs, int) and isinstance(rhs, int) and not each.relates(lhs, rhs):
                message = f"'sizes': the program relies on {each}, and {shown} makes it {lhs} and {rhs}"
                raise TinycError("AssumptionViolated", message, each.where)
            most = extents.at_most(rhs, sizes.limits)
            if isinstance(lhs, int) and isinstance(most, int) and lhs > most:
                message = f"'sizes': the program relies on {each}, and with {shown} the right side is at most {most}"
                raise TinycError("AssumptionViolated", message, each.where)


def _alternatives(module: ir.Module, kernel: Kernel, sets: Sequence[SizeSet]) -> list[str]:
    """Write the alternatives of a kernel behind it; their names, in the order in which they are asked."""
    names = DistinctNames(declared_symbols(module.body))
    found: list[str] = []
    for sizes in own_sets(sets, kernel.symbols):
        found.append(names.new("_".join([kernel.name, *sizes.shown("{}{}", "{}le{}")])))
        with kernel.op.context:
            _write_alternative(kernel, found[-1], sizes)
    return found


def _write_alternative(kernel: Kernel, name: str, sizes: SizeSet) -> None:
    with ir.InsertionPoint(kernel.op), kernel.location:
        clone = kernel.op.clone()
    clone.operation.move_after(kernel.op.operation)
    binder = SymbolBinder(sizes.known)
    for op in (clone, *ops_with_types(clone)):
        binder.bind(op)
    i64 = ir.IntegerType.get_signless(64)
    clone.attributes["sym_name"] = ir.StringAttr.get(name)
    if sizes.known:
        numbers = {key: ir.IntegerAttr.get(i64, size) for key, size in sizes.known.items()}
        clone.attributes[region.SIZES] = ir.DictAttr.get(numbers)
    if sizes.limits:
        clone.attributes[region.SIZE_GUARDS] = guards_attribute(sizes.guards)
