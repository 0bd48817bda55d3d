"""The `region` dialect: one `region.kernel` is one kernel; memory exists only at its boundary.

"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4x3xf32>, [3, 1], 64, true>, %y: !region.memref<tensor<3x4xf32>, [4, 1], 64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4x3xf32>, [3, 1], 64, true>) -> tensor<4x3xf32>
  %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<3x4xf32>, !region.memref<…>) -> ()
  omp.terminator
}) {sym_name = "transpose"} : () -> ()
"""

from typing import Any, TypeAlias

from tinyc.diagnostics import TinycError, either
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.mlir import ext, ir
from tinyc.mlir.bodies import body_of
from tinyc.mlir.verifying import Malformed, report_op
from tinyc.plan.attribute import plan_of_attribute
from tinyc.plan.fields import WINOGRAD
from tinyc.target import DOT_FORMS, DotForm
from tinyc.vocabulary.attributes import decode, extents_attribute, tensor_type, to_type
from tinyc.vocabulary.elements import is_elements
from tinyc.vocabulary.guards import guards_of
from tinyc.vocabulary.types import TensorType

#: What a region says of its buffers where nothing else is said: a 128-byte swizzled tile needs as much. Code for a CPU
#: relies on the alignment of the elements only, for a user's array may have no more.
BOUNDARY_ALIGNMENT_BYTES = 128


#: Attributes: of a kernel, the sizes at which it is the same as the one that it is an alternative of (`guards` has more
#: of where it is launched); of a launch, the alternatives of its kernel.
SIZES, SIZE_GUARDS, ALTERNATIVES = "sizes", "guards", "alternatives"
#: An attribute of a kernel: the numbers of the buffers whose matrices lie in memory in panels, one behind the other,
#: each with `PANEL_COLUMNS` columns, row by row, or as many rows at a time as `panel_group` says: the elements that a
#: column has of these lie beside each other, as in a word. What a kernel computes of them is the same.
PANELS, PANEL_COLUMNS, PANEL_GROUP = "panels", 16, "panel_group"
#: An attribute of a kernel that is a product: the feature of a CPU whose instructions multiply words of neighbours.
DOT = "dot"
#: An attribute of a kernel: the algorithm that it is a part of, as a plan says it, where that is several kernels.
ALGORITHM = "algorithm"


class RegionDialect(ext.Dialect, name="region"):
    """Kernels over value-semantic Tiny ops, with buffers at their boundary only."""


class MemRefType(RegionDialect.Type, name="memref"):
    """A buffer: the tensor that it holds, strides in elements, alignment in bytes, and whether nothing aliases it."""

    tensor: Any
    strides: ir.ArrayAttr
    alignment: ir.IntegerAttr
    noalias: Any


def memref_type(tensor: TensorType) -> MemRefType:
    """The type of a dense, aligned buffer that nothing aliases, holding `tensor`."""
    i64 = ir.IntegerType.get_signless(64)
    return MemRefType.get(
        to_type(tensor),
        extents_attribute(extents.row_major_strides(tensor.shape)),
        ir.IntegerAttr.get(i64, BOUNDARY_ALIGNMENT_BYTES),
        ir.BoolAttr.get(True),
    )


def held_tensor(mlir_type: ir.Type) -> TensorType:
    """The tensor that a `!region.memref` holds.

    Raises:
        TinycError: the type is not a buffer, or not dense row-major.
    """
    if not isinstance(mlir_type, MemRefType):
        raise TinycError("InvalidAttribute", f"{mlir_type} is not a !region.memref")
    tensor, strides, alignment, noalias = (parameter.maybe_downcast() for parameter in mlir_type.params)
    if not (
        isinstance(tensor, ir.TypeAttr)
        and isinstance(strides, ir.ArrayAttr)
        and isinstance(alignment, ir.IntegerAttr)
        and isinstance(noalias, ir.BoolAttr)
    ):
        raise TinycError(
            "InvalidAttribute", f"{mlir_type} must be !region.memref<tensor, [strides], alignment, noalias>"
        )
    held = tensor_type(tensor.value)
    expected = extents.row_major_strides(held.shape)
    if decode(strides) != expected:
        raise TinycError(
            "InvalidAttribute", f"{mlir_type} is not dense row-major; its strides must be {extents_attribute(expected)}"
        )
    if alignment.value <= 0 or alignment.value & (alignment.value - 1):
        raise TinycError("InvalidAttribute", f"{mlir_type}: alignment {alignment.value} is not a power of two")
    return held


class KernelOp(RegionDialect.Operation, name="kernel"):
    """One kernel: block arguments are the inputs' and then the outputs' buffers; ends in one yield for each output.

    One that is an alternative of another has `sizes`, a dictionary of symbols: there it computes the same; or `guards`,
    relations between extents: there it is launched. `panels`, buffers in another order, with their `panel_group`, the
    `algorithm` that it is a part of, and `dot`, by which feature of a CPU it multiplies, may be left out.
    """

    sym_name: ir.StringAttr
    body: ext.Region

    def verify_invariants(self) -> bool:
        """Check the block, the arguments and the yields; report at the op."""
        return report_op(self, _check_kernel, declares=False)


class ReadOp(RegionDialect.Operation, name="read", traits=[tiny.Pure]):
    """The value that a buffer holds when the kernel starts."""

    buffer: ext.Operand[Any]
    output: ext.Result[Any]

    def verify_invariants(self) -> bool:
        """Check that the result is the tensor that the buffer holds."""
        return report_op(self, _check_read, declares=False)


class YieldOp(RegionDialect.Operation, name="yield"):
    """Write a value to an output's buffer.

    `materialize` is "gmem", or "deferred" for an output that is elided, which only fusion may do. There is one yield
    for each output, last in the body (an op defined through IRDL cannot have operands of mixed types in one list).
    """

    value: ext.Operand[Any]
    buffer: ext.Operand[Any]
    materialize: ir.StringAttr

    def verify_invariants(self) -> bool:
        """Check that the value has the type of the output's tensor."""
        return report_op(self, _check_yield, declares=False)


class LaunchOp(RegionDialect.Operation, name="launch", traits=[tiny.Pure]):
    """In the host function: a kernel as a function of tensors, which `func.call_indirect` applies.

    The function type has the kernel's inputs and outputs; the results of the call are fresh tensors. `node`, which may
    be left out, is the user's name of the op in the kernel that an index may be out of range for, where that is no
    result; the launch is then at its place. `alternatives`, which may be left out, too, are kernels that take the
    kernel's place, the first whose `sizes` are those of the run, and whose `guards` hold.
    """

    kernel: Any
    function: ext.Result[Any]

    @property
    def alternatives(self) -> list[str]:
        """The alternatives of its kernel, by their names."""
        names = self.attributes.get(ALTERNATIVES, None)
        found = list(names) if isinstance(names, ir.ArrayAttr) else []
        return [each.value for each in found if isinstance(each, ir.FlatSymbolRefAttr)]

    def verify_invariants(self) -> bool:
        """Check what its alternatives are written as; report at the op."""
        return report_op(self, _check_launch, declares=False)


# --- the rules of the ops ---------------------------------------------------------------------------------------------

#: Ops whose indices come from data, and may be out of range; their kernels take a status slot.
CheckedOp: TypeAlias = tiny.GatherOp | tiny.ScatterOp
#: Ops that walk an axis in order, writing their results as they go.
OrderedOp: TypeAlias = tiny.ScatterOp | tiny.TopkOp

_MATERIALIZE = ("gmem", "deferred")


def _check_kernel(op: KernelOp) -> None:
    if not isinstance(op.attributes.get("sym_name", None), ir.StringAttr):
        raise Malformed("needs a name in 'sym_name'")
    if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
        raise Malformed("must have one region of one block")
    body = body_of(op)
    yields = [inner for inner in body if isinstance(inner, YieldOp)]
    if not yields or body[-len(yields) :] != yields:
        raise Malformed("must end in a 'region.yield' for each output")
    for argument in op.regions[0].blocks[0].arguments:
        held_tensor(argument.type)
    for inner in body[: -len(yields)]:
        if not isinstance(inner, ReadOp | tiny.TinyOp):
            raise Malformed(f"may hold 'region.read' and Tiny ops only, not '{inner.operation.name}'")
        if isinstance(inner, tiny.ConstOp) and is_elements(inner.attributes.get("value", None)):
            raise Malformed("has a tensor constant, which lies in memory; leave it in the host function and pass it")
    _check_outputs(op, yields)
    check_ordered(op)
    if "plan" in op.attributes:
        plan_of_attribute(op.attributes["plan"])
    if SIZES in op.attributes:
        sizes_of_attribute(op.attributes[SIZES])
    guards_of(op.attributes.get(SIZE_GUARDS, None), SIZE_GUARDS)
    if ALGORITHM in op.attributes and op.attributes[ALGORITHM] != ir.StringAttr.get(WINOGRAD):
        message = f"has 'algorithm' {op.attributes[ALGORITHM]}; of several kernels is \"{WINOGRAD}\" alone"
        raise Malformed(f"{message}: write that, or leave it out")
    _check_panels(op)
    if DOT in op.attributes and dot_form(op) is None:
        raise Malformed(f"has 'dot' {op.attributes[DOT]}; write one of {', '.join(DOT_FORMS)}, or leave it out")


def dot_form(op: KernelOp) -> DotForm | None:
    """The form in which a kernel multiplies words of neighbours, if it is a product; None where it says none."""
    name = op.attributes.get(DOT, None)
    return DOT_FORMS.get(name.value) if isinstance(name, ir.StringAttr) else None


def is_in_panels(buffer: Any) -> bool:
    """Whether the matrix of a kernel's buffer, a block argument, lies in memory in panels."""
    return panel_group(buffer) is not None


def panel_group(buffer: Any) -> int | None:
    """How many rows of a kernel's buffer lie beside each other in panels; None where it lies row by row."""
    if not isinstance(buffer, ir.BlockArgument) or buffer.arg_number not in list(_panels(buffer.owner.owner)):
        return None
    group = buffer.owner.owner.attributes.get(PANEL_GROUP, None)
    return group.value if isinstance(group, ir.IntegerAttr) else 1


def _panels(op: ir.OpView) -> ir.DenseI64ArrayAttr | tuple[int, ...]:
    found = op.attributes.get(PANELS, None)
    return found if isinstance(found, ir.DenseI64ArrayAttr) else ()


def _check_panels(op: KernelOp) -> None:
    groups = sorted({form.group for form in DOT_FORMS.values()})
    if PANEL_GROUP in op.attributes:
        group = op.attributes[PANEL_GROUP]
        if not isinstance(group, ir.IntegerAttr) or group.value not in groups or PANELS not in op.attributes:
            known = either(map(str, groups))
            raise Malformed(f"has 'panel_group' {group}; beside 'panels' write {known}, or leave it out")
    if PANELS not in op.attributes:
        return
    arguments = list(op.regions[0].blocks[0].arguments)
    for number in _panels(op):
        shape = held_tensor(arguments[number].type).shape if 0 <= number < len(arguments) else ()
        if len(shape) != 2 or not isinstance(shape[1], int) or shape[1] % PANEL_COLUMNS:
            kind = f"a matrix with a multiple of {PANEL_COLUMNS} columns"
            raise Malformed(f"has 'panels' {op.attributes[PANELS]}; buffer {number} is not {kind}")
        group = panel_group(arguments[number])
        if group != 1 and (not isinstance(shape[0], int) or shape[0] % (group or 1)):
            kind = f"a matrix with a multiple of {group} rows"
            raise Malformed(f"has 'panel_group' {op.attributes[PANEL_GROUP]}; buffer {number} is not {kind}")
    if not list(_panels(op)):
        raise Malformed(f"has 'panels' {op.attributes[PANELS]}; write the numbers of buffers, array<i64: 1>")


def sizes_of_attribute(attribute: ir.Attribute) -> dict[str, int]:
    """The sizes at which a kernel is an alternative.

    Raises:
        Malformed: they are none.
    """
    entries = {each.name: each.attr for each in attribute} if isinstance(attribute, ir.DictAttr) else {}
    sizes = {name: each.value for name, each in entries.items() if isinstance(each, ir.IntegerAttr) and each.value >= 0}
    if not sizes or len(sizes) < len(entries):
        raise Malformed(f"has 'sizes' {attribute}; write a size for each symbol, {{M = 8 : i64}}")
    return sizes


def _check_launch(op: LaunchOp) -> None:
    written = op.attributes.get(ALTERNATIVES, None)
    if written is not None and (not isinstance(written, ir.ArrayAttr) or len(op.alternatives) != len(written)):
        raise Malformed(f"has 'alternatives' {written}; write names of kernels, [@copy_M8]")


def _check_outputs(op: KernelOp, yields: list[YieldOp]) -> None:
    """Check that the yielded-to outputs are the last block arguments, in order, and touched by nothing else."""
    written = [each.operands[1] for each in yields]
    arguments = list(op.regions[0].blocks[0].arguments)
    outputs = arguments[len(arguments) - len(yields) :]
    if written != outputs:
        raise Malformed("must yield to its last block arguments, each once and in their order")
    for output in outputs:
        if len(list(output.uses)) != 1:
            raise Malformed(
                f"reads or writes output {output.arg_number} elsewhere than in its 'region.yield'; only yield to it"
            )


def check_ordered(op: ir.OpView) -> None:
    """Check that an op which walks an axis in order stands alone: the body yields its results and nothing else.

    A search yields its indices, whose buffer it works in.

    Raises:
        Malformed: it does not.
    """
    ordered = [inner for inner in body_of(op) if isinstance(inner, OrderedOp)]
    if not ordered:
        return
    yielded = [inner.operands[0] for inner in body_of(op) if isinstance(inner, YieldOp)]
    uses = [use for result in ordered[0].results for use in result.uses]
    alone = len(ordered) == 1 and len(uses) == len(yielded) == len(set(yielded) & set(ordered[0].results))
    if not alone:
        name = ordered[0].operation.name
        raise Malformed(f"has '{name}' beside other results; it must be all that is yielded, once")
    if isinstance(ordered[0], tiny.TopkOp) and ordered[0].indices not in yielded:
        raise Malformed("has 'tiny.topk' whose indices are not yielded; yield them: it works in their buffer")


def _check_read(op: ReadOp) -> None:
    if len(op.operands) != 1 or len(op.results) != 1:
        raise Malformed("takes one buffer and gives one value")
    held, value = held_tensor(op.operands[0].type), tensor_type(op.results[0].type)
    if held != value:
        raise Malformed(f"gives {op.results[0].type}, and the buffer holds {to_type(held)}; give that type")


def _check_yield(op: YieldOp) -> None:
    if len(op.operands) != 2:
        raise Malformed("takes a value and an output")
    materialize = op.attributes.get("materialize", None)
    if not isinstance(materialize, ir.StringAttr) or materialize.value not in _MATERIALIZE:
        raise Malformed(f'needs \'materialize\', "gmem" or "deferred", not {materialize}')
    if tensor_type(op.operands[0].type) != held_tensor(op.operands[1].type):
        held = to_type(held_tensor(op.operands[1].type))
        raise Malformed(f"writes {op.operands[0].type}, and its output holds {held}; give both one type")
