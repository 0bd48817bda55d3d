"""`tgpu.store_partial`: sums that another kernel finishes, element by element.

The slices of a product's k leave a plane of the workspace each, which that kernel adds. Here the planes of the first
slice have the whole sums, and the others are not looked at: one sum rounds as well as several.
"""

from tinyc.codegen.elements import IndexValues
from tinyc.dialects.cuda.main.reference.product import ProductPlaces, SidePlace, operands_of, sum_of_products
from tinyc.dialects.gpu.dialect import accumulator_tile
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.statements import StorePartialOp


def compute(elements: FlatElements, op: StorePartialOp) -> None:
    """Compute the sum of each element of the workspace's first planes.

    Raises:
        TinycError: `InvalidIr`: the accumulator has not one product, or an operand not one source.
    """
    lhs, rhs = operands_of(op)
    batches = max(lhs.shape("batches"), rhs.shape("batches"), key=len)
    rows, columns = lhs.shape("rows"), rhs.shape("columns")
    with elements.loops((*batches, *rows, *columns)) as index:
        row, column = len(batches), len(batches) + len(rows)
        places = (
            SidePlace(rows, index[row:column]),
            SidePlace(columns, index[column:]),
            SidePlace(batches, index[:row]),
        )
        total = sum_of_products(elements, (lhs, rhs), places, accumulator_tile(op.accumulator.type).element)
        elements.store(op.workspace, place_of_sum(elements, places), total)


def place_of_sum(elements: FlatElements, places: ProductPlaces) -> IndexValues:
    """Emit where the sum for a row, a column and a batch is in a workspace: in the plane of its first slice."""
    row, column, batch = (place.number(elements) for place in places)
    return batch, row, column
