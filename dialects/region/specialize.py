"""Alternatives of kernels: the same region at sizes that are known, launched where these are the sizes of the run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tinyc.analysis.graphs import assumptions_of, functions_of, main_function
from tinyc.diagnostics import TinycError
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.bind import SymbolBinder, bound_extent, ops_with_types, shown_sizes
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.expr.extents import MAX_EXTENT, natural
from tinyc.mlir import ir
from tinyc.mlir.names import DistinctNames, declared_symbols
from tinyc.passes import Pass
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.types import symbols_of

#: How many sets of sizes there may be: each is code of its own for every kernel.
MAX_SETS = 16
_FORM = "write sizes of symbols, M=128,N=64; several sets are separated by ';'"


@dataclass(frozen=True)
class RegionSpecialize(Pass):
    """Give kernels alternatives for sizes that are known: less is computed about sizes, and more is known of them.

    `sizes` has sets of sizes, "M=128,N=64;M=1": the sizes that the program is expected to run at.

    Requires:
        1. The module holds `region.kernel`s with symbolic extents, and a host function that launches them.
    Ensures:
        1. For each set and each kernel with one of its symbols there is another kernel, with the sizes in its types;
           `sizes` on it says at which sizes it computes the same.
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

    sizes: str = field(default="", metadata={"doc": f"the sizes that are expected: {_FORM}"})

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


def size_sets(text: str) -> list[dict[str, int]]:
    """Sets of sizes, as the option has them.

    Raises:
        TinycError: `InvalidOption`.
    """
    sets: list[dict[str, int]] = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        sizes: dict[str, int] = {}
        for pair in part.split(","):
            name, equals, value = (piece.strip() for piece in pair.partition("="))
            size = natural(int(value), MAX_EXTENT) if value.isdecimal() and len(value) < 20 else None
            if not name or not equals or size is None or name in sizes:
                raise TinycError("InvalidOption", f"'sizes' has '{pair.strip()}', which reads as no size; {_FORM}")
            sizes[name] = size
        if sizes not in sets:
            sets.append(sizes)
    if len(sets) > MAX_SETS:
        raise TinycError("InvalidOption", f"'sizes' has {len(sets)} sets, and {MAX_SETS} is the limit; leave some out")
    return sets


def sizes_text(sets: Sequence[Mapping[str, int]]) -> str:
    """Sets of sizes as text that `size_sets` reads."""
    return ";".join(",".join(f"{name}={size}" for name, size in sizes.items()) for sizes in sets)


def _require_sizes(module: ir.Module, sets: list[dict[str, int]]) -> None:
    """Check that the program has the symbols, and may run at the sizes.

    Raises:
        TinycError: `UnboundSymbol`, `AssumptionViolated`, `InvalidExtent`.
    """
    function = main_function(module)
    block = function.regions[0].blocks[0]
    known = symbols_of([tensor_type(argument.type) for argument in block.arguments])
    for sizes in sets:
        unknown = [name for name in sizes if name not in known]
        if unknown:
            listed = ", ".join(f"'{name}'" for name in known) or "none"
            message = f"'sizes': the inputs have no symbol '{unknown[0]}'; they have {listed}"
            raise TinycError("UnboundSymbol", message)
        for each in assumptions_of(block):
            lhs, rhs = bound_extent(each.lhs, sizes), bound_extent(each.rhs, sizes)
            if isinstance(lhs, int) and isinstance(rhs, int) and not each.relates(lhs, rhs):
                message = f"'sizes': the program relies on {each}, and {shown_sizes(sizes)} makes it {lhs} and {rhs}"
                raise TinycError("AssumptionViolated", message, each.where)


def _alternatives(module: ir.Module, kernel: Kernel, sets: list[dict[str, int]]) -> list[str]:
    """Write the alternatives of a kernel behind it; their names."""
    names, symbols = DistinctNames(declared_symbols(module.body)), kernel.symbols
    own = [{name: size for name, size in sizes.items() if name in symbols} for sizes in sets]
    found: list[str] = []
    for sizes in (sizes for place, sizes in enumerate(own) if sizes and sizes not in own[:place]):
        found.append(names.new("_".join([kernel.name, *(f"{name}{size}" for name, size in sizes.items())])))
        with kernel.op.context:
            _write_alternative(kernel, found[-1], sizes)
    return found


def _write_alternative(kernel: Kernel, name: str, sizes: Mapping[str, int]) -> None:
    with ir.InsertionPoint(kernel.op), kernel.location:
        clone = kernel.op.clone()
    clone.operation.move_after(kernel.op.operation)
    binder = SymbolBinder(sizes)
    for op in (clone, *ops_with_types(clone)):
        binder.bind(op)
    i64 = ir.IntegerType.get_signless(64)
    clone.attributes["sym_name"] = ir.StringAttr.get(name)
    clone.attributes[region.SIZES] = ir.DictAttr.get(
        {key: ir.IntegerAttr.get(i64, size) for key, size in sizes.items()}
    )
