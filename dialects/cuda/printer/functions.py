"""A function at the scalar level as a CUDA C++ function: a kernel, or the host function that it is checked against.

In: a `gpu.func` after --gpu-expand, or the `func.func` of `reference_of`. Out: its text. Values that a loop carries are
variables, which the end of the loop's body assigns; everything else that has a name is constant.
"""

import math
from collections.abc import Sequence

from tinyc.diagnostics import TinycError, printable
from tinyc.dialects.cuda.printer.expressions import WRITERS, shuffle_text
from tinyc.dialects.cuda.printer.folding import Folding, inner_blocks, is_pure, terminator
from tinyc.dialects.cuda.printer.names import FreshNames, distinct_identifiers, name_hint
from tinyc.dialects.cuda.printer.simplify import constant_of
from tinyc.dialects.cuda.printer.text import ATOM, PREFIX, SHIFT, CppText, choice
from tinyc.dialects.cuda.printer.types import integer_text, is_float_type, type_name
from tinyc.dialects.gpu.dialect import staged_tile
from tinyc.dialects.gpu.kernel import GpuKernel, Position, axis_of
from tinyc.dialects.gpu.statements import READING_OPS, SCALAR_OPS, LoadVectorOp, StoreVectorOp, by_op
from tinyc.dialects.gpu.statements.rules import VECTOR_BYTES
from tinyc.mlir import arith, func, gpu, ir, memref, scf
from tinyc.mlir.locations import around, where

_INDENT = "  "
_WIDTH = 116
_DECLARED_TOGETHER = 4
_DIMENSIONS = {
    gpu.ThreadIdOp: "threadIdx",
    gpu.BlockIdOp: "blockIdx",
    gpu.GridDimOp: "gridDim",
    gpu.BlockDimOp: "blockDim",
}
#: Ops whose result is not negative where no operand is.
_NONNEGATIVE_WHERE_ALL_ARE = (
    *(arith.AddIOp, arith.MulIOp, arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp, arith.CeilDivSIOp),
    *(arith.MinSIOp, arith.MinUIOp, arith.MaxUIOp),
)
_SCALAR_TEXTS = by_op(SCALAR_OPS, "tinyc.dialects.cuda.printer.ops", "text")


def argument_names(kernel: GpuKernel) -> list[str]:
    """A name for each argument of a kernel: the tensor's, the extent's, `status`."""
    wanted: list[str] = []
    for position, note in enumerate(kernel.notes):
        name = note.get("tgpu.name", note.get("tgpu.extent"))
        wanted.append(name.value if isinstance(name, ir.StringAttr) else f"arg{position}")
    pairs = zip(distinct_identifiers(wanted), kernel.notes, strict=True)
    return ["status" if "tgpu.status" in note else name for name, note in pairs]


def comment_text(text: str) -> str:
    """A text as a comment to the end of a line can hold it."""
    return printable(text).rstrip("\\")


class FunctionPrinter:
    """Writes one function; the helpers of the prelude that it needs are added to `helpers`.

    Arguments of a pair in `in_place` may be one memory.
    """

    def __init__(
        self,
        function: gpu.GPUFuncOp | func.FuncOp,
        names: Sequence[str],
        helpers: set[str],
        in_place: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.function, self.helpers = function, helpers
        self.on_host = isinstance(function, func.FuncOp)
        self.block = function.body.blocks[0]
        self.arguments = list(self.block.arguments)
        self.paired = {self.arguments[position] for pair in in_place for position in pair}
        self.folding = Folding(self.block)
        named = list(zip(self.arguments, names, strict=True))
        self.extents: dict[ir.Value, str] = {a: name for a, name in named if isinstance(a.type, ir.IndexType)}
        self.buffers: dict[ir.Value, str] = {a: name for a, name in named if a not in self.extents}
        self.shared = self._shared_memory(names)
        taken = {*names, *self.buffers.values()}
        self.names = FreshNames(taken, [name_hint(value, self.buffers, self.extents) for value in self._named_values()])
        self.texts: dict[ir.Value, CppText] = {value: CppText(name) for value, name in self.extents.items()}
        self.variables: set[ir.Value] = set()  # values whose names are those of variables
        self.reads: set[str] = set()
        self.loops: list[str] = []
        self.lines: list[str] = []
        self.depth = 1
        self._nonnegative: dict[ir.Value, bool] = {}

    def _shared_memory(self, names: Sequence[str]) -> list[str]:
        """Give the arrays in shared memory their names; return their declarations."""
        prefix = f"{ir.StringAttr(self.function.attributes['sym_name']).value}_"
        found: dict[str, str] = {}
        for op in self.block.operations:
            if isinstance(op, memref.GetGlobalOp):
                symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
                (name,) = distinct_identifiers([f"tile_{symbol.removeprefix(prefix).lower()}"], (*names, *found))
                self.buffers[op.result] = name
                kind = ir.MemRefType(op.result.type)
                wide = any(isinstance(use.owner, LoadVectorOp | StoreVectorOp) for use in op.result.uses)
                start = f"__shared__ {f'__align__({VECTOR_BYTES}) ' if wide else ''}{type_name(kind.element_type)}"
                found[name] = f"{start} {name}[{self._size(symbol, kind)}];"
        return list(found.values())

    def _size(self, symbol: str, kind: ir.MemRefType) -> str:
        """The size of an array in shared memory: of a circular buffer of tiles its stages, rows and columns."""
        beside = self.function.operation.block.operations
        arrays = (op for op in beside if isinstance(op, memref.GlobalOp) and op.sym_name.value == symbol)
        held = next((op.attributes.get("tgpu.smem", None) for op in arrays), None)
        if not isinstance(held, ir.TypeAttr):
            return str(kind.shape[0])
        staged = staged_tile(held.value)
        return f"{staged.stages} * {staged.tile.rows} * {staged.tile.columns}"

    def _named_values(self) -> list[ir.Value]:
        """The values that get a name that is not their loop's."""
        found: list[ir.Value] = []

        def visit(block: ir.Block) -> None:
            for op in block.operations:
                if isinstance(op, scf.ForOp):
                    found.extend(op.inner_iter_args)
                elif isinstance(op, LoadVectorOp | gpu.ShuffleOp):
                    found.append(op.results[0])
                elif not isinstance(op, memref.GetGlobalOp):
                    found.extend(r for r in op.results if r not in self.folding.folded and r not in self.folding.dead)
                for inner in inner_blocks(op):
                    visit(inner)

        visit(self.block)
        return found

    # --- the function -------------------------------------------------------------------------------------------------

    def text(self, name: str) -> str:
        """The function, called `name`."""
        for declaration in self.shared:
            self.line(declaration)
        self._ops(self.block)
        return "\n".join([*self._head(name), *self.lines, "}"])

    def _head(self, name: str) -> list[str]:
        parameters = [self._parameter(argument) for argument in self.arguments]
        start = f"static void {name}("
        if isinstance(self.function, gpu.GPUFuncOp):
            threads = math.prod(GpuKernel(self.function).cta_shape)
            start = f"__global__ void __launch_bounds__({threads}) {name}("
        line = f"{start}{', '.join(parameters)}) {{"
        if len(line) <= _WIDTH:
            return [line]
        return [start, *(f"    {each}," for each in parameters[:-1]), f"    {parameters[-1]}) {{"]

    def _parameter(self, argument: ir.BlockArgument) -> str:
        if argument in self.extents:
            return f"int64_t {self.extents[argument]}"
        element = type_name(ir.MemRefType(argument.type).element_type)
        writes = not all(isinstance(use.owner, READING_OPS) for use in argument.uses)
        restrict = "" if argument in self.paired else "__restrict__ "
        return f"{'' if writes else 'const '}{element}* {restrict}{self.buffers[argument]}"

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
        """Whether an `index` or integer is known not to be negative: extents and thread numbers, and sums of such.

        Arithmetic on positions does not overflow; that on integers may.
        """
        if value not in self._nonnegative:
            self._nonnegative[value] = False  # for what it is asked of while it is computed
            self._nonnegative[value] = self._computes_nonnegative(value)
        return self._nonnegative[value]

    def _computes_nonnegative(self, value: ir.Value) -> bool:
        if isinstance(value, ir.BlockArgument):
            return value in self.extents or self._is_upward_index(value)
        op, constant = value.owner, constant_of(value)
        if constant is not None:
            return not is_float_type(value.type) and constant >= 0
        if isinstance(op, Position):
            return True
        if isinstance(op, arith.IndexCastOp | arith.ExtSIOp):
            return self.is_nonnegative(op.in_)
        if not isinstance(value.type, ir.IndexType):
            return False
        if isinstance(op, arith.MaxSIOp):
            return self.is_nonnegative(op.lhs) or self.is_nonnegative(op.rhs)
        kinds = (arith.RemUIOp, arith.RemSIOp, *_NONNEGATIVE_WHERE_ALL_ARE)
        return isinstance(op, kinds) and all(self.is_nonnegative(each) for each in op.operands)

    def _is_upward_index(self, argument: ir.BlockArgument) -> bool:
        """Whether a value is the index of a loop that starts at 0 or above."""
        loop = argument.owner.owner.opview
        return isinstance(loop, scf.ForOp) and argument.arg_number == 0 and self.is_nonnegative(loop.lowerBound)

    def _expression(self, value: ir.Value) -> CppText:
        op = value.owner
        if isinstance(op, scf.IfOp):
            return self._choice(op)
        if isinstance(value, ir.OpResult) and type(value.owner) in WRITERS:
            return WRITERS[type(value.owner)](self, value.owner, value.result_number)
        raise _unspelt(op)

    def _choice(self, op: scf.IfOp) -> CppText:
        branches = [self.operand(terminator(block).operands[0]) for block in inner_blocks(op)]
        return choice(op.results[0].type, self.operand(op.condition), *branches)

    # --- statements ---------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Write a line at the current depth."""
        self.lines.append(f"{_INDENT * self.depth}{text}")

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
            self._define(op.results[0], CppText(f"{_DIMENSIONS[type(op)]}.{axis_of(op)}"))
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
        elif isinstance(op, SCALAR_OPS):
            self.line(_SCALAR_TEXTS[type(op)](self, op))
        elif is_pure(op) or isinstance(op, memref.LoadOp):
            for result in op.results:
                if result not in self.folding.folded and result not in self.folding.dead:
                    self._define(result, self._expression(result))
        elif not isinstance(op, gpu.ReturnOp | func.ReturnOp | scf.YieldOp | memref.GetGlobalOp):
            raise _unspelt(op)

    def _name(self, value: ir.Value) -> str:
        name = self.names.fresh(name_hint(value, self.buffers, self.extents))
        self.texts[value] = CppText(name)
        return name

    def name_of_parts(self, values: Sequence[ir.Value]) -> str:
        """A new name for values that are held together, each of which is a part of it from then on."""
        name = self._name(values[0])
        self.texts.update({value: CppText(f"{name}.at[{number}]") for number, value in enumerate(values)})
        return name

    def _define(self, value: ir.Value, expression: CppText) -> None:
        name = self._name(value)
        self.line(f"const {type_name(value.type)} {name} = {expression.text};")

    def _store(self, op: memref.StoreOp) -> None:
        index = self.operand(op.indices[0]).text if op.indices else "0"
        self.line(f"{self.buffer(op.memref)}[{index}] = {self.operand(op.value).text};")

    def _if(self, op: scf.IfOp) -> None:
        needed = [number for number, result in enumerate(op.results) if list(result.uses)]
        results = [op.results[number] for number in needed]
        for result in results:
            self.line(f"{type_name(result.type)} {self._name(result)};")
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
        kind = type_name(op.induction_variable.type)
        name = self.names.loop(over_tiles, self.loops, self.extents.get(op.upperBound))
        start, end = self.operand(op.lowerBound).text, self.operand(op.upperBound).within(SHIFT)
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
        carried = op.inner_iter_args
        self._assign([self.texts[each].text for each in carried], carried, terminator(op.body).operands)
        self.depth -= 1
        self.loops.pop()

    def _carry(self, op: scf.ForOp) -> None:
        """Give each carried value its variable: that of its start, where nothing else needs that one any more."""
        declared: dict[str, list[str]] = {}
        for variable, result, start in zip(op.inner_iter_args, op.results, op.initArgs, strict=True):
            block = start.owner if isinstance(start.owner, ir.Block) else start.owner.operation.block
            own = start in self.variables and len(list(start.uses)) == 1 and block == op.operation.block
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
            kept = self.names.fresh(f"next_{name}")
            self.line(f"const {type_name(target.type)} {kept} = {text};")
            waiting.append((name, target, kept, set()))


def _assignment(name: str, text: str) -> str:
    """An assignment, as `+=` where the text is a sum that begins with the variable and has no other term."""
    rest = text.removeprefix(f"{name} + ")
    plain = rest != text and not any(f" {symbol} " in rest for symbol in "+-?<>&|")
    return f"{name} += {rest};" if plain else f"{name} = {text};"


def _unspelt(op: ir.OpView | ir.Block) -> TinycError:
    """The error for what CUDA text has no spelling for."""
    if isinstance(op, ir.Block):
        return TinycError("InvalidIr", "CUDA text cannot refer to the argument of a block; run --gpu-expand first")
    name = op.operation.name
    remedy = "name its C function in the row's c_functions" if name.startswith("math.") else "run --gpu-expand first"
    message = f"CUDA text has no spelling for '{name}'; {remedy}"
    return TinycError("InvalidIr", message, where(around(op)))
