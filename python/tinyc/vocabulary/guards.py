"""Guards of an alternative: the relations between extents at which a launch takes it in the place of its kernel.

In: an attribute, `[["8*(K floordiv 8)", "eq", "K"], ["M", "le", 64]]`. Out: `Assumption`s, and the way back.
"""

from collections.abc import Iterable, Sequence

from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.mlir.verifying import Malformed
from tinyc.vocabulary.attributes import decode, extents_attribute


def guards_of(given: ir.Attribute | None, name: str) -> tuple[Assumption, ...]:
    """The guards that the attribute `name` says; none where there is no such attribute.

    Raises:
        Malformed: they are none.
        TinycError: an extent is none.
    """
    if given is None:
        return ()
    if not isinstance(given, ir.ArrayAttr) or not len(given):
        raise Malformed(f'has {name} = {given}; it must be relations between extents, [["M", "le", 128]]')
    return tuple(_guard(each) for each in given)


def guards_attribute(guards: Iterable[Assumption]) -> ir.ArrayAttr:
    """The attribute that `guards_of` reads."""
    return ir.ArrayAttr.get([_relation(each) for each in guards])


def _relation(guard: Assumption) -> ir.ArrayAttr:
    lhs, rhs = extents_attribute((guard.lhs, guard.rhs))
    return ir.ArrayAttr.get([lhs, ir.StringAttr.get(guard.predicate), rhs])


def limits_of(guards: Iterable[Assumption]) -> dict[str, int]:
    """What guards say that symbols are at most."""
    limits: dict[str, int] = {}
    for each in guards:
        names = extents.symbols(each.lhs)
        if len(names) == 1 and each.lhs == extents.symbol(names[0]) and isinstance(each.rhs, int):
            limits[names[0]] = min(each.rhs, limits.get(names[0], each.rhs))
    return limits


def _guard(given: ir.Attribute) -> Assumption:
    parts = list(given) if isinstance(given, ir.ArrayAttr) else []
    predicate = parts[1].value if len(parts) == 3 and isinstance(parts[1], ir.StringAttr) else None
    if predicate not in ("eq", "le"):
        raise Malformed(f'has the guard {given}; it must be two extents and "eq" or "le" between them')
    lhs, rhs = canonical_extents(ir.ArrayAttr.get([parts[0], parts[2]]), "a guard")
    if isinstance(lhs, int) and isinstance(rhs, int):
        raise Malformed(f"has the guard {given}, which no size changes; leave it out")
    return Assumption(lhs, predicate, rhs)


def canonical_extents(given: ir.Attribute, what: str) -> tuple[Dim, ...]:
    """The extents of an array, each canonical; `what` they are is for the message.

    Raises:
        Malformed: they are not.
        TinycError: one of them is none.
    """
    if not isinstance(given, ir.ArrayAttr):
        raise Malformed(f'has {what} = {given}; it must be an array of extents, ["K", 128]')
    dims: Sequence[Dim] = decode(given)
    if extents_attribute(dims) != given:
        raise Malformed(f"has {what} = {given}, which is not canonical; write {extents_attribute(dims)}")
    return tuple(dims)
