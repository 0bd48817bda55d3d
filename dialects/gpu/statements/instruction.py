"""`tgpu.instruction`: of the scalar level, a PTX instruction by its name."""

from collections.abc import Sequence
from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.gpu.instructions import Instruction, instruction
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed, report_op

#: The lists of operands by the type that all of a list have (an op defined through IRDL cannot mix types in one).
_LISTS = ("i64", "i32", "f32")


class InstructionOp(TgpuOp, name="instruction"):
    """An instruction of the table `gpu/instructions.py`: of one thread, or of all of a warp, a warpgroup or a cluster.

    It gives what it updates, or its results. Its operands are listed by their types.
    """

    given: Sequence[ext.Result[Any]]
    updated: Sequence[ext.Operand[Any]]
    wide: Sequence[ext.Operand[Any]]
    words: Sequence[ext.Operand[Any]]
    floats: Sequence[ext.Operand[Any]]
    instruction_name: ir.StringAttr

    def verify_invariants(self) -> bool:
        """Check the op; report what is wrong at its location."""
        return report_op(self, type(self).check, declares=False)

    @property
    def entry(self) -> Instruction:
        """Its entry in the table."""
        name = self.attributes.get("instruction_name", None)
        entry = instruction(name.value) if isinstance(name, ir.StringAttr) else None
        if entry is None:
            raise Malformed(f"has instruction_name = {name}, which is no instruction of gpu/instructions.py")
        return entry

    @property
    def in_order(self) -> list[ir.Value]:
        """Its operands in the instruction's order, behind what it updates."""
        entry = self.entry
        listed = [place for of in _LISTS for place, kind in enumerate(entry.operands) if kind == of]
        values = dict(zip(listed, list(self.operands)[len(entry.updated) :], strict=True))
        return [values[place] for place in range(len(listed))]

    def check(self) -> None:
        """Operands and results are those of the instruction."""
        entry = self.entry
        wanted = [*entry.updated, *(kind for each in _LISTS for kind in entry.operands if kind == each)]
        taken, given = ([str(each.type) for each in values] for values in (self.operands, self.results))
        if taken != wanted or given != list(entry.given):
            raise Malformed(
                f"of {self.instruction_name} has {_listed(taken)} -> {_listed(given)}; it must be {_listed(wanted)} -> "
                f"{_listed(entry.given)}"
            )


def emit_ptx(name: str, *taken: ir.Value) -> list[ir.Value]:
    """Emit an instruction on what it updates and its operands, in its own order; return what it gives.

    Raises:
        KeyError: there is no such instruction.
    """
    entry = instruction(name)
    if entry is None:
        raise KeyError(name)
    updated, operands = taken[: len(entry.updated)], taken[len(entry.updated) :]
    lists = [[each for each, kind in zip(operands, entry.operands, strict=True) if kind == of] for of in _LISTS]
    types = {kind: ir.Type.parse(kind) for kind in dict.fromkeys(entry.given)}
    return list(InstructionOp([types[kind] for kind in entry.given], updated, *lists, ir.StringAttr.get(name)).results)


def _listed(types: Sequence[str]) -> str:
    return ", ".join(types) or "nothing"
