"""`tgpu.store_partial`, `tgpu.add_partial` for one thread: its accumulators, a pair of columns in one access."""

from collections.abc import Iterator, Sequence

from tinyc.codegen.words import as_index
from tinyc.dialects.gpu.dialect import accumulator_layout, accumulator_tile
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.fragment_layout import PIECE_ROWS
from tinyc.dialects.gpu.statements import AddPartialOp, LoadVectorOp, StorePartialOp, StoreVectorOp
from tinyc.dialects.region import ops as region
from tinyc.mlir import arith, ir


def expand_store_partial(expansion: Expansion, op: StorePartialOp) -> None:
    """Emit the stores."""
    memory = expansion.elements.buffers[op.workspace]
    sums = expansion.accumulators[op.accumulator]
    for number, place in enumerate(_places(expansion, op)):
        StoreVectorOp(memory, place, sums[2 * number : 2 * number + 2])


def expand_add_partial(expansion: Expansion, op: AddPartialOp) -> None:
    """Emit the loads, all of them under way before the first addition."""
    memory, element = expansion.elements.buffers[op.workspace], accumulator_tile(op.accumulator.type).element
    sums = expansion.accumulators[op.accumulator]
    pair = [sums[0].type] * 2
    found = [each for place in _places(expansion, op) for each in LoadVectorOp(pair, memory, place).results]
    add = arith.addf if element.is_float else arith.addi
    expansion.accumulators[op.output] = [add(*each) for each in zip(sums, found, strict=True)]


def _places(expansion: Expansion, op: StorePartialOp | AddPartialOp) -> Iterator[ir.Value]:
    """Emit where each pair of the thread's accumulators is in the workspace, in their order."""
    layout, elements, workers = accumulator_layout(op.accumulator.type), expansion.elements, expansion.workers
    assert layout is not None  # the statement's rule
    _, rows, columns = (elements.extent(dim) for dim in region.held_tensor(op.workspace.type).shape)
    plane, row, column = (expansion.values[each] for each in (op.plane, op.row, op.column))
    own_row, own_column = workers.start(layout)
    row = arith.addi(row, as_index(own_row + workers.lane // 4))
    column = arith.addi(column, as_index(own_column + workers.lane % 4 * 2))
    first = arith.addi(arith.muli(arith.addi(arith.muli(plane, rows), row), columns), column)
    lines = {at: arith.muli(columns, elements.index(at)) for at in _lines(layout.piece_rows)}
    for piece_row, piece_column in layout.pieces():
        for half in (0, PIECE_ROWS // 2):
            yield arith.addi(arith.addi(first, lines[piece_row + half]), elements.index(piece_column))


def _lines(piece_rows: Sequence[int]) -> list[int]:
    return [row + half for row in piece_rows for half in (0, PIECE_ROWS // 2)]
