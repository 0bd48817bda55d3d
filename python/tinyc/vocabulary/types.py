"""Tensor types of Tiny as plain data, shared by inference, the importer, the executors and the analyses.

`TensorType` is what `tensor<?x3xf16, #tiny.dims<["M", 3]>>` means. Converting to and from MLIR is in `attributes`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.vocabulary.element_type import ElementType

#: The most axes that a tensor may have.
MAX_RANK = 32


@dataclass(frozen=True)
class TensorType:
    """Element type and shape; the extents are ints or symbolic."""

    element: ElementType
    shape: tuple[Dim, ...]

    def __post_init__(self) -> None:
        # Whoever writes a type down may name its element type: TensorType("f32", (4, "M")).
        if type(self.element) is not ElementType:
            object.__setattr__(self, "element", ElementType(self.element))

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every extent is an int."""
        return all(isinstance(extent, int) for extent in self.shape)

    def __str__(self) -> str:
        return f"{self.element.json_name} [{', '.join(map(str, self.shape))}]"


def symbols_of(types: Iterable[TensorType]) -> tuple[str, ...]:
    """The symbols of the types' extents in order of first appearance."""
    found: dict[str, None] = {}
    for tensor in types:
        for extent in tensor.shape:
            found.update(dict.fromkeys(extents.symbols(extent)))
    return tuple(found)
