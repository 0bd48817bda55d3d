"""Inline assembly that may reach the NVPTX backend: what a table of instructions has, on registers that fit it.

In: an `llvm.inline_asm`. Out: whether its text and its constraints are an entry of a table, and whether its values are
as wide as the registers that the constraints name; the backend ends the process where they are not. The layer that
writes assembly attaches its table, so that no table is known here.
"""

from collections.abc import Callable
from typing import TypeAlias

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir

#: Whether there is an instruction of a text, such as "add.u32 $0, $1, 1;", and constraints, such as "=r,r".
AssemblyTable: TypeAlias = Callable[[str, str], bool]

_tables: dict[str, AssemblyTable] = {}
#: The types of values that fit a register; a constraint "=r" is one that is written.
_REGISTERS = {
    "h": ("i16", "f16", "bf16"),
    "r": ("i32",),
    "l": ("i64",),
    "f": ("f32",),
    "d": ("f64",),
}


def attach_assembly(layer: str, table: AssemblyTable) -> None:
    """Let `is_known_asm` ask the table of a layer, once however often it is attached."""
    _tables[layer] = table


def is_known_asm(op: "mlir.llvm.InlineAsmOp") -> bool:
    """Whether inline assembly is an entry of an attached table."""
    return any(table(op.asm_string.value, op.constraints.value) for table in _tables.values())


def fits_registers(op: "mlir.llvm.InlineAsmOp") -> bool:
    """Whether the results and the operands of inline assembly are of the types of its registers."""
    listed = [each for each in op.constraints.value.split(",") if each and not each.startswith("~")]
    written = [each.removeprefix("=") for each in listed if each.startswith("=")]
    read = [written[int(each)] if each.isdigit() and int(each) < len(written) else each for each in listed]
    given = [*_result_types(op), *(str(operand.type) for operand in op.operands)]
    wanted = [*written, *read[len(written) :]]
    return len(given) == len(wanted) and all(
        kind in _REGISTERS.get(register, ()) for kind, register in zip(given, wanted, strict=True)
    )


def _result_types(op: "mlir.llvm.InlineAsmOp") -> list[str]:
    """The types of its results: several are a struct."""
    shown = [str(result.type) for result in op.results]
    if len(shown) == 1 and shown[0].startswith("!llvm.struct<("):
        return shown[0].removeprefix("!llvm.struct<(").removesuffix(")>").split(", ")
    return shown
