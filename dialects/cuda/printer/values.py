"""The values of a function at the scalar level as CUDA C++: their names, the arrays that hold them, their expressions.

In: a function, and the names of its arguments. Out: for each value, once the statement before it has been written, the
text that stands for it: a name, an element of an array, or an expression that is written where it is used. What a
statement declares is written by `line`.
"""

from collections.abc import Sequence

from tinyc.diagnostics import TinycError
from tinyc.dialects.cuda.printer.arrays import Element, ValueArrays, array_lines, part_of
from tinyc.dialects.cuda.printer.declarations import shared_arrays
from tinyc.dialects.cuda.printer.expressions import WRITERS
from tinyc.dialects.cuda.printer.folding import PURE_SCALAR_OPS, Folding, inner_blocks, terminator
from tinyc.dialects.cuda.printer.instructions import NAMESPACE, function_name
from tinyc.dialects.cuda.printer.names import FreshNames, name_hint
from tinyc.dialects.cuda.printer.nonnegative import Nonnegative
from tinyc.dialects.cuda.printer.text import ATOM, PREFIX, CppText, choice, is_pointer, unspelt
from tinyc.dialects.cuda.printer.threads import position_text
from tinyc.dialects.cuda.printer.types import constant_of, integer_text, type_name
from tinyc.dialects.cuda.printer.words import words_of
from tinyc.dialects.gpu.kernel import Position
from tinyc.dialects.gpu.statements import InstructionOp, LoadVectorOp, by_op
from tinyc.mlir import arith, func, gpu, ir, memref, scf

_INDENT = "  "
_EXPRESSIONS = by_op(PURE_SCALAR_OPS, "tinyc.dialects.cuda.printer.ops", "expression")


class ValuePrinter:
    """What the statements of a function are written with; it is an `ExpressionPrinter`.

    What they need of the prelude is added to `helpers` and, by name, to `instructions`.
    """

    def __init__(
        self,
        function: gpu.GPUFuncOp | func.FuncOp,
        names: Sequence[str],
        helpers: set[str],
        instructions: set[str],
    ) -> None:
        self.function, self.helpers, self.instructions = function, helpers, instructions
        self.on_host = isinstance(function, func.FuncOp)
        self.block = function.body.blocks[0]
        self.arguments = list(self.block.arguments)
        self.words = words_of(self.block)
        self.folding = Folding(self.block, self.words)
        named = list(zip(self.arguments, names, strict=True))
        self.extents: dict[ir.Value, str] = {a: name for a, name in named if isinstance(a.type, ir.IndexType)}
        self.buffers: dict[ir.Value, str] = {a: name for a, name in named if a not in self.extents}
        self.shared = shared_arrays(function, names)
        self.buffers.update({each.value: each.name for each in self.shared})
        self.arrays = ValueArrays()
        self._parts: dict[str, str] = {}  # a kind of fragment → the array that holds the last one
        self._nonnegative = Nonnegative(self.extents, self.words)
        taken = {*names, *self.buffers.values()}
        self.names = FreshNames(taken, [name_hint(value, self.buffers, self.extents) for value in self._named_values()])
        self.texts: dict[ir.Value, CppText] = {value: CppText(name) for value, name in self.extents.items()}
        self.variables: set[ir.Value] = set()  # values whose names are those of variables
        self.reads: set[str] = set()
        self.lines: list[str] = []
        self.depth = 1

    def _named_values(self) -> list[ir.Value]:
        """The values that get a name that is not their loop's."""
        found: list[ir.Value] = []

        def visit(block: ir.Block) -> None:
            for op in block.operations:
                if isinstance(op, scf.ForOp):
                    found.extend(value for value in self.arrays.named(op) if value not in self.folding.dead)
                elif isinstance(op, LoadVectorOp | gpu.ShuffleOp):
                    found.append(op.results[0])
                elif isinstance(op, InstructionOp) and len(op.results) > 1:
                    found.extend(self.arrays.declared(op))
                elif not isinstance(op, memref.GetGlobalOp):
                    found.extend(r for r in op.results if r not in self.folding.folded and r not in self.folding.dead)
                for inner in inner_blocks(op):
                    visit(inner)

        visit(self.block)
        return found

    def line(self, text: str) -> None:
        """Write a line at the current depth."""
        self.lines.append(f"{_INDENT * self.depth}{text}")

    # --- what expressions ask -----------------------------------------------------------------------------------------

    def operand(self, value: ir.Value) -> CppText:
        """A value as an operand: its name, or its expression."""
        if value in self.folding.folded and value not in self.texts:
            return self._expression(value)
        if value not in self.texts:
            raise TinycError("InvalidIr", f"CUDA text cannot refer to {value}; run --gpu-expand first")
        if value in self.variables:
            self.reads.add(self.texts[value].text)
        return self.texts[value]

    def buffer(self, value: ir.Value) -> str:
        """The name of a buffer or an array."""
        return self.buffers[value]

    def helper(self, name: str) -> str:
        """The name of a function of the prelude, which is noted as needed."""
        self.helpers.add(name)
        return name

    def instruction(self, name: str) -> str:
        """The name of the function that is an instruction, which is noted as needed."""
        self.instructions.add(name)
        return f"{NAMESPACE}::{function_name(name)}"

    def fold_constants(self, op: ir.OpView) -> CppText | None:
        """The number that an `index` op on two constants gives, where that is written shorter."""
        left, right = (constant_of(operand) for operand in op.operands)
        if left is None or right is None:
            return None
        value = (
            left - right
            if isinstance(op, arith.SubIOp)
            else left + right
            if isinstance(op, arith.AddIOp)
            else left * right
        )
        return CppText(integer_text(value, op.results[0].type), PREFIX if value < 0 else ATOM)

    def is_nonnegative(self, value: ir.Value) -> bool:
        """Whether an `index` or integer is known not to be negative."""
        return value in self._nonnegative

    def is_word(self, value: ir.Value) -> bool:
        """Whether a value of type i32 is written as `uint32_t`."""
        return value in self.words

    def type_of(self, value: ir.Value) -> str:
        """The C++ type of a value."""
        if value in self.words:
            return "uint32_t"
        return "auto" if is_pointer(value) else type_name(value.type)

    def _expression(self, value: ir.Value) -> CppText:
        op = value.owner
        if isinstance(op, scf.IfOp):
            return self._choice(op)
        if isinstance(op, Position):
            return position_text(op)
        if isinstance(op, PURE_SCALAR_OPS):
            return _EXPRESSIONS[type(op)](self, op)
        if isinstance(value, ir.OpResult) and type(value.owner) in WRITERS:
            return WRITERS[type(value.owner)](self, value.owner, value.result_number)
        raise unspelt(op)

    def _choice(self, op: scf.IfOp) -> CppText:
        branches = [self.operand(terminator(block).operands[0]) for block in inner_blocks(op)]
        return choice(op.results[0].type, self.operand(op.condition), *branches)

    def name(self, value: ir.Value) -> str:
        """A new name for a value, which a statement is about to declare."""
        name = self.names.fresh(name_hint(value, self.buffers, self.extents))
        self.texts[value] = CppText(name)
        return name

    def name_of_parts(self, values: Sequence[ir.Value]) -> str:
        """A new name for values that are held together, each of which is a part of it from then on."""
        name = self.name(values[0])
        self.texts.update({value: CppText(f"{name}.at[{number}]") for number, value in enumerate(values)})
        return name

    def updated(self, op: InstructionOp) -> Element:
        """Where what an instruction updates begins: where it is held, or in a new array with a copy of it."""
        first = self.arrays.free(op.updated, op)
        if first is None:
            first = self._new_array(op.results, [self.operand(each).text for each in op.updated])
        self._hold(op.results, first)
        return first

    def given(self, op: InstructionOp) -> Element:
        """Where the results of an instruction begin: in an array of their own, or in that which they are a part of."""
        array, number, size = part_of(op)
        if number == 0:
            name = self.name(op.results[0])
            self._parts[array] = name
            self.line(f"{self.type_of(op.results[0])} {name}[{size}];")
        first = Element(self._parts[array], number)
        self._hold(op.results, first)
        return first

    def fragment(self, values: Sequence[ir.Value]) -> str:
        """Where values are that an instruction takes as one, in the order of an array: a new one, if they have none."""
        first = self.arrays.together(values)
        if first is None:
            name = self.names.fresh("fragment")
            texts = ", ".join(self.operand(each).text for each in values)
            self.line(f"const {self.type_of(values[0])} {name}[] = {{{texts}}};")
            first = Element(name, 0)
        return first.address

    def _new_array(self, values: Sequence[ir.Value], texts: Sequence[str]) -> Element:
        """Declare an array for values with what it begins with."""
        name = self.name(values[0])
        for line in array_lines(self.type_of(values[0]), name, texts):
            self.line(line)
        return Element(name, 0)

    def _hold(self, values: Sequence[ir.Value], first: Element) -> None:
        self.arrays.hold(values, first)
        for value in values:
            self.texts[value] = CppText(str(self.arrays.element(value)))
        self.variables.update(values)
