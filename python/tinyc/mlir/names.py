"""Names in IR: the symbols that stand in a module, and new names beside those that are taken."""

from collections.abc import Iterable

from tinyc.mlir import ir


def declared_symbols(block: ir.Block) -> set[str]:
    """The names of the functions, kernels and arrays that ops of a block declare."""
    named = (op.attributes.get("sym_name", None) for op in block.operations)
    return {name.value for name in named if isinstance(name, ir.StringAttr)}


class DistinctNames:
    """Gives each name once: `stem`, and where that is taken `stem_1`, `stem_2`, …, however many ask for it."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self._counts: dict[str, int] = {}

    def new(self, stem: str) -> str:
        """A name that is not taken, which now is."""
        name = stem
        while name in self.taken:
            self._counts[stem] = self._counts.get(stem, 0) + 1
            name = f"{stem}_{self._counts[stem]}"
        self.taken.add(name)
        return name
