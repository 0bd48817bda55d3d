"""`tgpu.epilogue` for one thread: what the region makes of each accumulator that it owns, stored."""

import contextlib
import itertools
from collections.abc import Generator

from tinyc.codegen import scalars
from tinyc.dialects.gpu.dialect import accumulator_tile
from tinyc.dialects.gpu.expand.accumulator import owned_columns, owned_rows
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.place import TilePlace, store_results
from tinyc.dialects.gpu.expand.thread_elements import ThreadElements
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.statements import EpilogueOp
from tinyc.mlir import arith, ir, scf
from tinyc.vocabulary.attributes import tensor_type


def expand(expansion: Expansion, op: EpilogueOp) -> None:
    """Emit the stores row by row, each under the conditions of its row and its column."""
    elements, tile = expansion.elements, accumulator_tile(op.accumulator.type)
    result = tensor_type(op.accumulated.type)
    place = TilePlace.of(op, result, [expansion.values[each] for each in (op.batch, op.row, op.column)])
    own_rows, own_columns = owned_rows(expansion, tile), owned_columns(expansion, tile)
    rows = [arith.addi(place.row, row) for row in own_rows]
    columns = [arith.addi(place.column, column) for column in own_columns]
    owned = dict(zip(itertools.product(rows, columns), expansion.accumulators[op.accumulator], strict=True))
    conditions = [place.inside(elements, "columns", column) for column in columns]
    for number, row in enumerate(rows):
        with _where(elements, place.inside(elements, "rows", row), f"epilogue: row {number} of {len(rows)}"):
            for column, condition in zip(columns, conditions, strict=True):
                with _where(elements, condition):
                    finished = scalars.cast(owned[row, column], tile.element, result.element)
                    elements.reduced[op.accumulated] = lambda _, value=finished: value
                    store_results(elements, op, place.index(elements, row, column))


@contextlib.contextmanager
def _where(
    elements: ThreadElements, condition: ir.Value | None, what: str | None = None
) -> Generator[None, None, None]:
    """Emit what follows under a condition, if there is one; `what` is a comment."""
    if condition is None:
        yield
        return
    branch = scf.IfOp(condition)
    with elements.block(branch.then_block):
        if what is not None:
            comment(what)
        yield
        scf.yield_([])
