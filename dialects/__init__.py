"""The layers of the walk, in order: the one table of dialects.

In: the packages beside this file. Out: `layers()`, what each is called, which dialect class it is and how a whole
module is checked for it; `load_all()`, which registers the dialects in the current context; `verify()`.

The table imports the dialects when it is first asked for, so that a pure module of a layer (its types, its inference)
can be imported where the MLIR bindings are not installed.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Layer:
    """One layer: `verify(module)` reports what breaks the layer's contract as errors, and returns whether nothing does."""

    name: str
    dialect: Any
    verify: Callable[[Any], bool]


@functools.cache
def layers() -> tuple[Layer, ...]:
    """Return the layers in walk order."""
    from tinyc.dialects.region import ops as region
    from tinyc.dialects.region import verify as region_verify
    from tinyc.dialects.tiny import ops as tiny
    from tinyc.dialects.tiny import verify as tiny_verify

    return (
        Layer("tiny", tiny.Tiny, tiny_verify.verify),
        Layer("region", region.RegionDialect, region_verify.verify),
    )


def load_all() -> None:
    """Register every dialect in the current context, which must not have them yet."""
    for layer in layers():
        # Python-defined dialects are loaded context by context; the classes are registered anew with the last one.
        layer.dialect.load(reload=True)


def present(module: Any) -> set[str]:
    """Return the namespaces of all ops in `module`."""
    from tinyc.mlir import ir

    names: set[str] = set()

    def visit(op: Any) -> Any:
        names.add(op.operation.name)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return {name.partition(".")[0] for name in names}


def verify(module: Any) -> bool:
    """Check `module` against the contract of every layer that it has ops of; report what breaks one.

    The layers stand in walk order and the first that is broken is the last to be checked: what holds in a later one
    may rest on it.
    """
    namespaces = present(module)
    return all(layer.verify(module) for layer in layers() if layer.name in namespaces)
