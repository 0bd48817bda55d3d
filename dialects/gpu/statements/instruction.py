"""`tgpu.instruction`: of the scalar level, a PTX instruction by its name."""

from collections.abc import Sequence
from typing import Any

from tinyc.dialects.gpu.dialect import TensorMapType, TgpuOp
from tinyc.dialects.gpu.instructions import Instruction, instruction
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed


class InstructionOp(TgpuOp, name="instruction"):
    """An instruction of the table `gpu/instructions.py`: of one thread, or of all of a warp, a warpgroup or a cluster.

    It takes what it updates, then its operands, and gives the updated values, then its results. A tensor map stands for
    its address.
    """

    given: Sequence[ext.Result[Any]]
    taken: Sequence[ext.Operand[Any]]
    instruction_name: ir.StringAttr

    @property
    def entry(self) -> Instruction:
        """Its entry in the table."""
        entry = instruction(self.instruction_name.value)
        if entry is None:
            raise Malformed(f"is {self.instruction_name}, which is no instruction of gpu/instructions.py")
        return entry

    def check(self) -> None:
        """Operands and results are those of the instruction."""
        entry = self.entry
        taken = tuple("i64" if isinstance(each.type, TensorMapType) else str(each.type) for each in self.operands)
        given = tuple(str(each.type) for each in self.results)
        if (taken, given) != (entry.taken, entry.given):
            raise Malformed(
                f"of {self.instruction_name} has {', '.join(taken) or 'nothing'} -> {', '.join(given) or 'nothing'}; "
                f"it must be {', '.join(entry.taken) or 'nothing'} -> {', '.join(entry.given) or 'nothing'}"
            )


def emit(name: str, *taken: ir.Value) -> list[ir.Value]:
    """Emit an instruction; return what it gives.

    Raises:
        KeyError: there is no such instruction.
    """
    entry = instruction(name)
    if entry is None:
        raise KeyError(name)
    types = [ir.Type.parse(kind) for kind in entry.given]
    return list(InstructionOp(types, list(taken), ir.StringAttr.get(name)).results)
