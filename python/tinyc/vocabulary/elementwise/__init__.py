"""The element-wise ops of Tiny, one row each: all that the compiler knows of `erf` is in its row.

A row gives the op its name (`tiny.erf` in IR, `ERF` in Tiny JSON), the element types that it accepts, its meaning in
numpy, which is the truth that all code is compared with, and the code for one element. `infer` types by it, the
reference runs it, `codegen` emits it, the CUDA printer writes it, and `dialects/tiny/ops.py` makes its class of it.

`row` says what a row holds; `unary` and `binary` are the rows. `cast`, which is about two element types, has none: it
is `executors.elements.cast_array` and `codegen.scalars.cast`. MLIR and numpy are imported when an emitter or a
meaning runs.
"""

from tinyc.vocabulary.elementwise import binary, unary
from tinyc.vocabulary.elementwise.row import Elementwise

#: The rows by name, in the order in which messages list them.
ROWS: dict[str, Elementwise] = {row.name: row for row in (*unary.ROWS, *binary.ROWS)}
UNARY = tuple(row.name for row in ROWS.values() if row.arity == 1)
BINARY = tuple(row.name for row in ROWS.values() if row.arity == 2)
#: All element-wise ops.
ELEMENTWISE = (*ROWS, "cast")
