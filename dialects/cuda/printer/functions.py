"""A function at the scalar level as a CUDA C++ function: a kernel, or the host function that it is checked against.

In: a `gpu.func` after --gpu-expand, or the `func.func` of `reference_of`. Out: its text. Values that a loop carries are
variables, which the end of the loop's body assigns; everything else that has a name is constant.
"""

import re
from collections.abc import Sequence

from tinyc.dialects.cuda.printer.declarations import head, parameter_text
from tinyc.dialects.cuda.printer.folding import inner_blocks, is_pure, terminator
from tinyc.dialects.cuda.printer.numbering import numbered_again
from tinyc.dialects.cuda.printer.rolling import in_loops
from tinyc.dialects.cuda.printer.text import SHIFT, CppText, comment_text, unspelt
from tinyc.dialects.cuda.printer.threads import position_text, shuffle_text
from tinyc.dialects.cuda.printer.types import constant_of
from tinyc.dialects.cuda.printer.values import ValuePrinter
from tinyc.dialects.cuda.printer.wrapping import wrapped
from tinyc.dialects.gpu.dialect import TensorMapType
from tinyc.dialects.gpu.kernel import Position
from tinyc.dialects.gpu.statements import SCALAR_OPS, AddressOp, MapAddressOp, by_op
from tinyc.mlir import func, gpu, ir, memref, scf

_INDENT = "  "
_DECLARED_TOGETHER = 4
_OPS = "tinyc.dialects.cuda.printer.ops"
_STATEMENTS = by_op([op for op in SCALAR_OPS if op not in (AddressOp, MapAddressOp)], _OPS, "text")


class FunctionPrinter(ValuePrinter):
    """Writes one function; arguments of a pair in `in_place` may be one memory."""

    def __init__(
        self,
        function: gpu.GPUFuncOp | func.FuncOp,
        names: Sequence[str],
        helpers: set[str],
        instructions: set[str],
        in_place: Sequence[tuple[int, int]] = (),
    ) -> None:
        super().__init__(function, names, helpers, instructions)
        self.paired = {self.arguments[position] for pair in in_place for position in pair}
        self.loops: list[str] = []

    # --- the function -------------------------------------------------------------------------------------------------

    def text(self, name: str) -> str:
        """The function, called `name`."""
        for each in self.shared:
            self.line(each.declaration)
        self._ops(self.block)
        lines = numbered_again(in_loops(self.lines)) if self.words else self.lines
        return "\n".join([*head(self.function, name, self._parameters()), *wrapped(lines), "}"])

    def _parameters(self) -> list[str]:
        """The parameters; the host has no tensor maps."""
        names = {**self.extents, **self.buffers}
        taken = [each for each in self.arguments if not (self.on_host and isinstance(each.type, TensorMapType))]
        return [parameter_text(each, names[each], each not in self.paired) for each in taken]

    # --- statements ---------------------------------------------------------------------------------------------------

    def _ops(self, block: ir.Block) -> None:
        before = set(self.names.taken)
        for op in block.operations:
            self._op(op)
        self.names.taken = before

    def _op(self, op: ir.OpView) -> None:
        if op.results and all(r in self.folding.folded or r in self.folding.dead for r in op.results):
            return
        comment = op.attributes.get("tgpu.comment", None)
        if isinstance(comment, ir.StringAttr):
            self.line(f"// {comment_text(comment.value)}")
        if isinstance(op, scf.ForOp):
            self._for(op)
        elif isinstance(op, Position):
            self._define(op.results[0], position_text(op))
        elif isinstance(op, memref.StoreOp):
            self._store(op)
        elif isinstance(op, gpu.BarrierOp):
            self.line("__syncthreads();")
        elif op in self.folding.choices and isinstance(op, scf.IfOp):
            self._define(op.results[0], self._choice(op))
        elif isinstance(op, scf.IfOp):
            self._if(op)
        elif isinstance(op, gpu.ShuffleOp):
            self._define(op.results[0], shuffle_text(self, op))
        elif isinstance(op, SCALAR_OPS) and not is_pure(op):
            self.line(_STATEMENTS[type(op)](self, op))
        elif is_pure(op) or isinstance(op, memref.LoadOp):
            for result in op.results:
                if result not in self.folding.folded and result not in self.folding.dead:
                    self._define(result, self._expression(result))
        elif not isinstance(op, gpu.ReturnOp | func.ReturnOp | scf.YieldOp | memref.GetGlobalOp):
            raise unspelt(op)

    def _define(self, value: ir.Value, expression: CppText) -> None:
        name = self.name(value)
        self.line(f"const {self.type_of(value)} {name} = {expression.text};")

    def _store(self, op: memref.StoreOp) -> None:
        index = self.operand(op.indices[0]).text if op.indices else "0"
        self.line(f"{self.buffer(op.memref)}[{index}] = {self.operand(op.value).text};")

    def _if(self, op: scf.IfOp) -> None:
        needed = [number for number, result in enumerate(op.results) if list(result.uses)]
        results = [op.results[number] for number in needed]
        for result in results:
            self.line(f"{self.type_of(result)} {self.name(result)};")
            self.variables.add(result)
        blocks = [block for block in inner_blocks(op) if len(block.operations)]
        for number, block in enumerate(blocks):
            if number and len(block.operations) == 1 and not results:
                break
            self.line("} else {" if number else f"if ({self.operand(op.condition).text}) {{")
            self.depth += 1
            self._ops(block)
            values = terminator(block).operands
            self._assign([self.texts[r].text for r in results], results, [values[number] for number in needed])
            self.depth -= 1
        self.line("}")

    def _for(self, op: scf.ForOp) -> None:
        self._carry(op)
        by = constant_of(op.step)
        over_tiles = by not in (None, 1) and constant_of(op.lowerBound) is not None
        advance = "++{}" if by == 1 else f"{{}} += {self.operand(op.step).text}"
        kind = self.type_of(op.induction_variable)
        name = self.names.loop(over_tiles, self.loops, self.extents.get(op.upperBound))
        start, end = self.operand(op.lowerBound).text, self.operand(op.upperBound).within(SHIFT)
        if "unroll = <disable = true>" in str(op.attributes.get("loop_annotation", None)):
            self.line("#pragma unroll 1")
        self.line(f"for ({kind} {name} = {start}; {name} < {end}; {advance.format(name)}) {{")
        self.names.taken.add(name)
        self._loop_body(op, name)
        self.names.taken.discard(name)
        self.line("}")

    def _loop_body(self, op: scf.ForOp, name: str) -> None:
        self.texts[op.induction_variable] = CppText(name)
        self.loops.append(name)
        self.depth += 1
        self._ops(op.body)
        pairs = zip(op.inner_iter_args, terminator(op.body).operands, strict=True)
        live = [(variable, value) for variable, value in pairs if variable not in self.folding.dead]
        variables = [variable for variable, _ in live]
        self._assign([self.texts[each].text for each in variables], variables, [value for _, value in live])
        self.depth -= 1
        self.loops.pop()

    def _carry(self, op: scf.ForOp) -> None:
        """Give each carried value its variable: that of its start, where nothing else needs that one any more."""
        held = self.arrays.groups(op)
        for group in held:
            self._carry_array(op, group)
        together = {number for group in held for number in group}
        declared: dict[str, list[str]] = {}
        carried = zip(op.inner_iter_args, op.results, op.initArgs, strict=True)
        for number, (variable, result, start) in enumerate(carried):
            if number in together or variable in self.folding.dead:
                continue
            block = start.owner if isinstance(start.owner, ir.Block) else start.owner.operation.block
            own = start in self.variables and len(list(start.uses)) == 1 and block == op.operation.block
            if own:
                self.texts[variable] = self.texts[start]
                element = self.arrays.element(start)
                if element is not None:
                    self.arrays.hold([variable], element)
                    self.arrays.hold([result], element)
            else:
                text = self.operand(start).text
                declared.setdefault(self.type_of(variable), []).append(f"{self.name(variable)} = {text}")
            self.texts[result] = self.texts[variable]
            self.variables.update((variable, result))
        for kind, each in declared.items():
            for first in range(0, len(each), _DECLARED_TOGETHER):
                self.line(f"{kind} {', '.join(each[first : first + _DECLARED_TOGETHER])};")

    def _carry_array(self, op: scf.ForOp, group: range) -> None:
        """Hold carried values in an array: that of their start, where nothing else needs it any more."""
        starts, variables, results = (
            [values[number] for number in group] for values in (op.initArgs, op.inner_iter_args, op.results)
        )
        first = self.arrays.free(starts, op)
        if first is None:
            first = self._new_array(variables, [self.operand(each).text for each in starts])
        self._hold(variables, first)
        self._hold(results, first)

    def _assign(self, names: list[str], targets: Sequence[ir.Value], values: Sequence[ir.Value]) -> None:
        """Assign all at once: a variable only when nothing that is still to be assigned reads it."""
        waiting: list[tuple[str, ir.Value, str, set[str]]] = []
        for name, target, value in zip(names, targets, values, strict=True):
            self.reads = set()
            text = self.operand(value).text
            if text != name:
                waiting.append((name, target, text, self.reads - {name}))
        while waiting:
            free = [each for each in waiting if not any(each[0] in other[3] for other in waiting if other is not each)]
            name, target, text, reads = (free or waiting)[0]
            waiting.remove((name, target, text, reads))
            if free:
                self.line(_assignment(name, text))
                continue
            kept = self.names.fresh(re.sub(r"\W+", "_", f"next_{name}"))
            self.line(f"const {self.type_of(target)} {kept} = {text};")
            waiting.append((name, target, kept, set()))


def _assignment(name: str, text: str) -> str:
    """An assignment, as `+=` where the text is a sum that begins with the variable and has no other term."""
    rest = text.removeprefix(f"{name} + ")
    plain = rest != text and not any(f" {symbol} " in rest for symbol in "+-?<>&|")
    return f"{name} += {rest};" if plain else f"{name} = {text};"
