"""`tgpu.load_tile`: fill a stage of shared memory with a tile of a value.

The op that ends its body stands here too: `yield` is no name of a Python file, and means nothing elsewhere.
"""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp, staged_tile
from tinyc.dialects.gpu.statements.rules import (
    require_body,
    require_guarded,
    require_indices,
    require_region_ops,
    require_sides,
    require_unordered,
)
from tinyc.mlir import ext, fields, ir
from tinyc.mlir.verifying import Malformed
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.types import TensorType


class ComputedTileOp(TgpuOp):
    """A statement that takes a part of a value, which its body computes and yields (`tgpu.yield`).

    It has a place in the value, `batch`, `row` and `column`; `rows`, `columns` and `batches`, the value's axes along
    each side, and `guarded`, the sides where it may reach beyond.
    """

    @property
    def loaded(self) -> ir.Value:
        """The value of which it takes a part."""
        return self.the(YieldOp).value

    def require_value(self, arguments: int = 0) -> TensorType:
        """Check the place and the body, which has so many arguments; return the value's type."""
        require_indices(self, "stage", "batch", "row", "column")
        ops = require_body(self, arguments)
        if not ops or not isinstance(ops[-1], YieldOp):
            raise Malformed("must end in a 'tgpu.yield'")
        require_region_ops(ops[:-1])
        require_unordered(ops)
        value = tensor_type(ops[-1].operands[0].type)
        require_sides(self, value.rank)
        require_guarded(self)
        return value


class LoadTileOp(ComputedTileOp, name="load_tile"):
    """Fill the tile of one stage with elements of a value; outside of the value are zeros.

    The body computes the value, whose axes are those of the product, and yields it (`tgpu.yield`). Element (r, c) of
    the tile is the value's element at row `row + r` of its axes `rows` taken together, row-major, at column
    `column + c` of its axes `columns`, and at `batch` of its axes `batches`; its other axes are read at 0. `guarded`
    names the sides, of "rows" and "columns", where the tile may reach beyond the value.
    """

    tiles: ext.Operand[Any]
    stage: ext.Operand[Any]
    batch: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]
    rows: fields.I64Array
    columns: fields.I64Array
    batches: fields.I64Array
    guarded: ir.ArrayAttr
    body: ext.Region

    def check(self) -> None:
        """Tile and value have one element type; the body is a region's and ends in the value."""
        tile, value = staged_tile(self.tiles.type).tile, self.require_value()
        if value.element != tile.element:
            raise Malformed(f"loads {value.element} into a tile of {tile.element}; give both one element type")


class YieldOp(TgpuOp, name="yield"):
    """The value that the body of a `tgpu.load_tile` or a `tgpu.load_fragment` computes."""

    value: ext.Operand[Any]

    def check(self) -> None:
        """It stands where a tile is loaded."""
        tensor_type(self.value.type)
        if not isinstance(self.parent and self.parent.opview, ComputedTileOp):
            raise Malformed("ends the body of a 'tgpu.load_tile' or 'tgpu.load_fragment' and stands nowhere else")
