"""A function at the scalar level as a CUDA C++ function: a kernel, or the host function that it is checked against.

In: a `gpu.func` after --gpu-expand, or the `func.func` of `reference_of`. Out: its text. Values that a loop carries are
variables, which the end of the loop's body assigns; everything else that has a name is constant.
"""

import math
from collections.abc import Sequence
from typing import Any

from tinyc.diagnostics import TinycError, printable
from tinyc.dialects.gpu.cuda.expressions import ATOM, SHIFT, UNARY, WRITERS, Text, choice
from tinyc.dialects.gpu.cuda.folding import Folding, inner_blocks, is_pure, loop_variables, terminator
from tinyc.dialects.gpu.cuda.names import Names, distinct, hint
from tinyc.dialects.gpu.cuda.simplify import constant_of
from tinyc.dialects.gpu.cuda.types import integer_text, is_float, type_name
from tinyc.dialects.region.verify import block_of
from tinyc.dialects.tiny.attributes import decode
from tinyc.mlir import ir
from tinyc.text import where

_INDENT = "  "
_WIDTH = 116
_DECLARED_TOGETHER = 4
_DIMENSIONS = {"gpu.thread_id": "threadIdx", "gpu.block_id": "blockIdx", "gpu.grid_dim": "gridDim"}
_DIMENSIONS |= {"gpu.block_dim": "blockDim"}
_NONNEGATIVE_WHERE_ALL_ARE = frozenset(
    f"arith.{name}" for name in ("addi", "muli", "divsi", "divui", "floordivsi", "ceildivsi", "minsi", "minui", "maxui")
)


def signature_names(function: Any) -> list[str]:
    """Return a name for each argument of a kernel: the tensor's, the extent's, `status`."""
    arguments, given = block_of(function).arguments, function.operation.attributes.get("arg_attrs", [])
    notes = [given[position] if position < len(given) else {} for position in range(len(arguments))]
    wanted = [
        next((note[key].value for key in ("tgpu.name", "tgpu.extent") if key in note), f"arg{position}")
        for position, note in enumerate(notes)
    ]
    pairs = zip(distinct(wanted), notes, strict=True)
    return ["status" if "tgpu.status" in note else name for name, note in pairs]


def comment_text(text: str) -> str:
    """Return a text as a comment to the end of a line can hold it."""
    return printable(text).rstrip("\\")


class FunctionPrinter:
    """Writes one function; the helpers of the prelude that it needs are added to `helpers`."""

    def __init__(self, function: Any, names: Sequence[str], helpers: set[str], on_host: bool = False) -> None:
        self.function, self.helpers, self.on_host = function.operation, helpers, on_host
        self.block = self.function.regions[0].blocks[0]
        self.arguments = list(self.block.arguments)
        self.folding = Folding(function)
        self.extents = {a: n for a, n in zip(self.arguments, names, strict=True) if isinstance(a.type, ir.IndexType)}
        self.buffers = {a: n for a, n in zip(self.arguments, names, strict=True) if a not in self.extents}
        self.shared = self._shared_memory(names)
        taken = {*names, *self.buffers.values()}
        hints = [hint(value, self.buffers, self.extents) for value in self._named_values()]
        self.names = Names(taken, hints)
        self.texts: dict[Any, Text] = {value: Text(name) for value, name in self.extents.items()}
        self.variables: set[Any] = set()  # values whose names are those of variables
        self.reads: set[str] = set()
        self.loops: list[str] = []
        self.lines: list[str] = []
        self.depth = 1
        self._nonnegative: dict[Any, bool] = {}

    def _shared_memory(self, names: Sequence[str]) -> dict[str, Any]:
        """Give the arrays in shared memory their names; return them with their types."""
        prefix, found = f"{self.function.attributes['sym_name'].value}_", {}
        for each in self.block.operations:
            if each.operation.name == "memref.get_global":
                symbol = each.operation.attributes["name"].value
                (name,) = distinct([f"tile_{symbol.removeprefix(prefix).lower()}"], (*names, *found))
                self.buffers[each.operation.results[0]] = name
                found[name] = each.operation.results[0].type
        return found

    def _named_values(self) -> list[Any]:
        """Return the values that get a name that is not their loop's."""
        found: list[Any] = []

        def visit(block: Any) -> None:
            for each in block.operations:
                op = each.operation
                if op.name == "scf.for":
                    found.extend(loop_variables(op))
                elif op.name != "memref.get_global":
                    found.extend(r for r in op.results if r not in self.folding.folded and r not in self.folding.dead)
                for inner in inner_blocks(op):
                    visit(inner)

        visit(self.block)
        return found

    # --- the function -------------------------------------------------------------------------------------------------

    def text(self, name: str) -> str:
        """Return the function, called `name`."""
        for number, (array, kind) in enumerate(self.shared.items()):
            self.line(f"__shared__ {type_name(kind.element_type)} {array}[{self._size(number, kind)}];")
        self._ops(self.block)
        return "\n".join([*self._head(name), *self.lines, "}"])

    def _size(self, number: int, kind: Any) -> str:
        """Return the size of an array of shared memory; of the two of a contraction as the factors that it is."""
        plan = self.function.attributes.get("tgpu.plan", {})
        if number < 2 and "tile" in plan and "stages" in plan:
            (m, n, k), stages = decode(plan["tile"]), plan["stages"].value
            rows, columns = ((m, k), (k, n))[number]
            if stages * rows * columns == kind.shape[0]:
                return f"{stages} * {rows} * {columns}"
        return str(kind.shape[0])

    def _head(self, name: str) -> list[str]:
        parameters = [self._parameter(argument) for argument in self.arguments]
        start = f"static void {name}("
        if not self.on_host:
            threads = math.prod(self.function.attributes.get("known_block_size", ()))
            start = f"__global__ void __launch_bounds__({threads}) {name}("
        line = f"{start}{', '.join(parameters)}) {{"
        if len(line) <= _WIDTH:
            return [line]
        return [start, *(f"    {each}," for each in parameters[:-1]), f"    {parameters[-1]}) {{"]

    def _parameter(self, argument: Any) -> str:
        if argument in self.extents:
            return f"int64_t {self.extents[argument]}"
        element = type_name(argument.type.element_type)
        writes = any(
            use.owner.operation.name.startswith("tgpu.")
            or (use.owner.operation.name == "memref.store" and use.operand_number == 1)
            for use in argument.uses
        )
        return f"{'' if writes else 'const '}{element}* __restrict__ {self.buffers[argument]}"

    # --- what expressions ask -----------------------------------------------------------------------------------------

    def operand(self, value: Any) -> Text:
        """Return a value as an operand: its name, or its expression."""
        if value in self.folding.folded and value not in self.texts:
            return self._expression(value)
        if value not in self.texts:
            raise TinycError("InvalidIr", f"CUDA text cannot refer to {value}; run --gpu-expand first")
        if value in self.variables:
            self.reads.add(self.texts[value].text)
        return self.texts[value]

    def buffer(self, value: Any) -> str:
        """Return the name of a buffer or an array."""
        return self.buffers[value]

    def helper(self, name: str) -> str:
        """Say that the function needs a function of the prelude; return its name."""
        self.helpers.add(name)
        return name

    def fold_constants(self, op: Any) -> Text | None:
        """Return the number that an `index` op on two constants gives, where that is written shorter."""
        left, right = (constant_of(operand) for operand in op.operands)
        if left is None or right is None:
            return None
        value = {"arith.addi": left + right, "arith.subi": left - right, "arith.muli": left * right}[op.name]
        return Text(integer_text(value, op.results[0].type), UNARY if value < 0 else ATOM)

    def is_nonnegative(self, value: Any) -> bool:
        """Say whether an `index` or integer is known not to be negative: extents and thread numbers, and sums of such.

        Arithmetic on positions does not overflow; that on integers may.
        """
        if value not in self._nonnegative:
            self._nonnegative[value] = False  # for what it is asked of while it is computed
            self._nonnegative[value] = self._computes_nonnegative(value)
        return self._nonnegative[value]

    def _computes_nonnegative(self, value: Any) -> bool:
        if isinstance(value, ir.BlockArgument):
            return value in self.extents or self._is_upward_index(value)
        op, constant = value.owner.operation, constant_of(value)
        if constant is not None:
            return not is_float(value.type) and constant >= 0
        if op.name in _DIMENSIONS:
            return True
        if op.name in ("arith.index_cast", "arith.extsi"):
            return self.is_nonnegative(op.operands[0])
        if not isinstance(value.type, ir.IndexType):
            return False
        if op.name in ("arith.remui", "arith.remsi"):
            return all(self.is_nonnegative(operand) for operand in op.operands)
        if op.name == "arith.maxsi":
            return any(self.is_nonnegative(operand) for operand in op.operands)
        return op.name in _NONNEGATIVE_WHERE_ALL_ARE and all(self.is_nonnegative(each) for each in op.operands)

    def _is_upward_index(self, argument: Any) -> bool:
        """Say whether a value is the index of a loop that starts at 0 or above."""
        owner = argument.owner.owner.operation
        if owner.name != "scf.for" or argument.arg_number != 0:
            return False
        return self.is_nonnegative(owner.operands[0])

    def _expression(self, value: Any) -> Text:
        op = value.owner.operation
        if op.name == "scf.if":
            return self._choice(op)
        if op.name not in WRITERS:
            message = f"CUDA text has no spelling for '{op.name}'; run --gpu-expand first"
            raise TinycError("InvalidIr", message, where(op.location))
        return WRITERS[op.name](self, op, value.result_number)

    def _choice(self, op: Any) -> Text:
        branches = [self.operand(terminator(block).operands[0]) for block in inner_blocks(op)]
        return choice(op.results[0].type, self.operand(op.operands[0]), *branches)

    # --- statements ---------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Write a line at the current depth."""
        self.lines.append(f"{_INDENT * self.depth}{text}")

    def _ops(self, block: Any) -> None:
        before = set(self.names.taken)
        for each in block.operations:
            self._op(each.operation)
        self.names.taken = before

    def _op(self, op: Any) -> None:
        if op.results and all(r in self.folding.folded or r in self.folding.dead for r in op.results):
            return
        if "tgpu.comment" in op.attributes:
            self.line(f"// {comment_text(op.attributes['tgpu.comment'].value)}")
        writer = _STATEMENTS.get(op.name)
        if writer is not None:
            writer(self, op)
        elif op in self.folding.choices:
            self._define(op.results[0], self._choice(op))
        elif op.name == "scf.if":
            self._if(op)
        elif is_pure(op) or op.name == "memref.load":
            for result in op.results:
                if result not in self.folding.folded and result not in self.folding.dead:
                    self._define(result, self._expression(result))
        elif op.name not in ("gpu.return", "func.return", "scf.yield", "memref.get_global"):
            message = f"CUDA text has no spelling for '{op.name}'; run --gpu-expand first"
            raise TinycError("InvalidIr", message, where(op.location))

    def _name(self, value: Any) -> str:
        name = self.names.fresh(hint(value, self.buffers, self.extents))
        self.texts[value] = Text(name)
        return name

    def _define(self, value: Any, expression: Text) -> None:
        name = self._name(value)
        self.line(f"const {type_name(value.type)} {name} = {expression.text};")

    def _thread(self, op: Any) -> None:
        axis = str(op.attributes["dimension"])[-2]
        self._define(op.results[0], Text(f"{_DIMENSIONS[op.name]}.{axis}"))

    def _store(self, op: Any) -> None:
        value, buffer, *position = op.operands
        index = self.operand(position[0]).text if position else "0"
        self.line(f"{self.buffer(buffer)}[{index}] = {self.operand(value).text};")

    def _atomic_add(self, op: Any) -> None:
        value, buffer, position = op.operands
        place = f"&{self.buffer(buffer)}[{self.operand(position).text}]"
        self.line(f"{self.helper('atomic_add')}({place}, {self.operand(value).text});")

    def _report(self, op: Any) -> None:
        status, position = op.operands
        name = self.helper("note_index" if self.on_host else "report_index")
        self.line(f"{name}({self.buffer(status)}, {self.operand(position).text});")

    def _barrier(self, op: Any) -> None:
        self.line("__syncthreads();")

    def _if(self, op: Any) -> None:
        needed = [number for number, result in enumerate(op.results) if list(result.uses)]
        results = [op.results[number] for number in needed]
        for result in results:
            self.line(f"{type_name(result.type)} {self._name(result)};")
            self.variables.add(result)
        blocks = [block for block in inner_blocks(op) if len(block.operations)]
        for number, block in enumerate(blocks):
            if number and len(block.operations) == 1 and not results:
                break
            self.line("} else {" if number else f"if ({self.operand(op.operands[0]).text}) {{")
            self.depth += 1
            self._ops(block)
            values = terminator(block).operands
            self._assign([self.texts[r].text for r in results], results, [values[number] for number in needed])
            self.depth -= 1
        self.line("}")

    def _for(self, op: Any) -> None:
        low, high, step, *starts = op.operands
        self._carry(op, starts)
        by = constant_of(step)
        over_tiles = by not in (None, 1) and constant_of(low) is not None
        advance = "++{}" if by == 1 else f"{{}} += {self.operand(step).text}"
        kind = type_name(op.regions[0].blocks[0].arguments[0].type)
        name = self.names.loop(over_tiles, self.loops, self.extents.get(high))
        start, end = self.operand(low).text, self.operand(high).within(SHIFT)
        self.line(f"for ({kind} {name} = {start}; {name} < {end}; {advance.format(name)}) {{")
        self.names.taken.add(name)
        self._loop_body(op, name)
        self.names.taken.discard(name)
        self.line("}")

    def _loop_body(self, op: Any, name: str) -> None:
        block = op.regions[0].blocks[0]
        self.texts[block.arguments[0]] = Text(name)
        self.loops.append(name)
        self.depth += 1
        self._ops(block)
        carried = loop_variables(op)
        self._assign([self.texts[each].text for each in carried], carried, terminator(block).operands)
        self.depth -= 1
        self.loops.pop()

    def _carry(self, op: Any, starts: Sequence[Any]) -> None:
        """Give each carried value its variable: that of its start, where nothing else needs that one any more."""
        declared: dict[str, list[str]] = {}
        for variable, result, start in zip(loop_variables(op), op.results, starts, strict=True):
            own = start in self.variables and len(list(start.uses)) == 1 and self._block_of(start) == op.block
            if own:
                self.texts[variable] = self.texts[start]
            else:
                text = self.operand(start).text
                declared.setdefault(type_name(variable.type), []).append(f"{self._name(variable)} = {text}")
            self.texts[result] = self.texts[variable]
            self.variables.update((variable, result))
        for kind, each in declared.items():
            for first in range(0, len(each), _DECLARED_TOGETHER):
                self.line(f"{kind} {', '.join(each[first : first + _DECLARED_TOGETHER])};")

    @staticmethod
    def _block_of(value: Any) -> Any:
        return value.owner if isinstance(value, ir.BlockArgument) else value.owner.operation.block

    def _assign(self, names: list[str], targets: Sequence[Any], values: Sequence[Any]) -> None:
        """Assign all at once: a variable only when nothing that is still to be assigned reads it."""
        waiting = []
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
            kept = self.names.fresh(f"next_{name}")
            self.line(f"const {type_name(target.type)} {kept} = {text};")
            waiting.append((name, target, kept, set()))


def _assignment(name: str, text: str) -> str:
    """Return an assignment, as `+=` where the text is a sum that begins with the variable and has no other term."""
    rest = text.removeprefix(f"{name} + ")
    plain = rest != text and not any(f" {symbol} " in rest for symbol in "+-?<>&|")
    return f"{name} += {rest};" if plain else f"{name} = {text};"


_STATEMENTS: dict[str, Any] = {
    **dict.fromkeys(_DIMENSIONS, FunctionPrinter._thread),
    "memref.store": FunctionPrinter._store,
    "gpu.barrier": FunctionPrinter._barrier,
    "tgpu.atomic_add": FunctionPrinter._atomic_add,
    "tgpu.report_index": FunctionPrinter._report,
    "scf.for": FunctionPrinter._for,
}
