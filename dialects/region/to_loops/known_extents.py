"""What is known of the index values in the function of a kernel: those that are made of its extents are extents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.codegen.index_code import IndexCode
from tinyc.expr.extents import Dim, symbol
from tinyc.mlir import arith, func, ir


@dataclass(frozen=True)
class KnownExtents:
    """The function's arguments that are extents, by their symbols: index values that are made of them are known."""

    symbols: Mapping[str, ir.Value]

    @staticmethod
    def of_kernel(function: func.FuncOp, symbols: Sequence[str]) -> "KnownExtents":
        """The extents of a kernel's function, whose last arguments are `symbols` and the range of the outer loop."""
        arguments = list(function.entry_block.arguments)
        places = range(len(arguments) - 2 - len(symbols), len(arguments) - 2)
        return KnownExtents({name: arguments[place] for name, place in zip(symbols, places, strict=True)})

    def of(self, value: ir.Value) -> Dim | None:
        """The extent that a value is."""
        for name, argument in self.symbols.items():
            if value == argument:
                return symbol(name)
        match value.owner:
            case arith.ConstantOp() as op:
                return op.value.value if isinstance(op.value, ir.IntegerAttr) else None
            case arith.IndexCastOp() as op:
                return self.of(op.in_) if is_wide(value.type) else None
            case arith.AddIOp() | arith.SubIOp() | arith.MulIOp() as op if is_wide(value.type):
                left, right = self.of(op.lhs), self.of(op.rhs)
            case _:
                return None
        if left is None or right is None:
            return None
        if isinstance(op, arith.MulIOp):
            return left * right
        return left + right if isinstance(op, arith.AddIOp) else left - right

    def value(self, extent: Dim) -> ir.Value:
        """An extent as an index, emitted at the insertion point."""
        return IndexCode(ir.IndexType.get(), self.symbols).of(extent)


def is_wide(kind: ir.Type) -> bool:
    """Whether arithmetic in a type is that of extents: it has 64 bits."""
    return not isinstance(kind, ir.IntegerType) or kind.width == 64
