"""isl sets and maps of statements: domains, accesses, dependences, and comparisons.

Objects are built from isl's affine functions, not from text. Importing this module loads islpy, which takes its time:
whoever does not always need it imports it where it does.
"""

import functools
from collections.abc import Iterable, Sequence

import islpy as isl

from tinyc.analysis.isl.relation import Touch
from tinyc.analysis.isl.statement import Statement, constants
from tinyc.analysis.movement import Guard, Index
from tinyc.expr.axes import AxisExpr, Shape
from tinyc.expr.isl.functions import AffineFunctions, bounded


class Unreadable(Exception):
    """A text that is not an isl set or map, and why."""


class Polyhedra:
    """The isl objects of one statement; with `named=False` its axes have no names, so that isl does not prime them."""

    def __init__(self, statement: Statement, named: bool = True) -> None:
        self.statement = statement
        space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, len(statement.parameters), len(statement.axes))
        for position, (_, name) in enumerate(statement.parameters):
            space = space.set_dim_name(isl.dim_type.param, position, name)
        for position, name in enumerate(statement.axes if named else ()):
            space = space.set_dim_name(isl.dim_type.set, position, name)
        self._space = space.set_tuple_name(isl.dim_type.set, statement.name)
        self._local = isl.LocalSpace.from_space(self._space)
        self.functions = AffineFunctions(self._space, [extent for extent, _ in statement.parameters])

    @functools.cached_property
    def domain(self) -> isl.Set:
        """The box of the axes as an `isl.Set`."""
        box, zero = isl.Set.universe(self._space), self.functions.constant(0)
        for position, size in enumerate(self.statement.shape):
            axis = isl.Aff.var_on_domain(self._local, isl.dim_type.set, position)
            box = box.intersect(axis.ge_set(zero)).intersect(axis.lt_set(self.functions.of(size)))
        return box

    def nonnegative(self, expressions: Iterable[AxisExpr]) -> isl.Set:
        """The `isl.Set` where all expressions are at least 0, not bounded by the domain."""
        found = isl.Set.universe(self._space)
        for expression in expressions:
            found = found.intersect(self.functions.of(expression).ge_set(self.functions.constant(0)))
        return found

    def inside(self, guard: Guard) -> isl.Set:
        """The instances that pass a guard, as an `isl.Set` that is not bounded by the domain."""
        value = self.functions.of(guard.expression)
        return value.ge_set(self.functions.constant(0)).intersect(value.lt_set(self.functions.of(guard.size)))

    def access(self, tensor: str, index: Index, guards: Sequence[Guard] = ()) -> isl.Map:
        """The access to `tensor[index]` as an `isl.Map`, from the instances that pass the guards."""
        access = isl.Map.from_multi_aff(self.functions.multi_affine(index, tensor))
        for guard in guards:
            access = access.intersect_domain(self.inside(guard))
        return access


def _anonymous(shape: Shape, expressions: Sequence[AxisExpr]) -> Polyhedra:
    return Polyhedra(Statement.over("S", shape, [""] * len(shape), constants(expressions)))


def same_set(shape: Shape, left: Sequence[AxisExpr], right: Sequence[AxisExpr]) -> bool:
    """Whether two lists of expressions over the axes of `shape` are all at least 0 for the same indices.

    Raises:
        TooHard: isl does not get to an answer.
    """
    polyhedra = _anonymous(shape, (*left, *right))
    with bounded():
        return polyhedra.nonnegative(left).is_equal(polyhedra.nonnegative(right))


def contains(shape: Shape, known: Sequence[AxisExpr], expressions: Sequence[AxisExpr]) -> bool:
    """Whether `expressions` are all at least 0 wherever those that are `known` are, on the box of `shape`.

    Raises:
        TooHard: isl does not get to an answer.
    """
    polyhedra = _anonymous(shape, (*known, *expressions))
    with bounded():
        return polyhedra.nonnegative(known).intersect(polyhedra.domain).is_subset(polyhedra.nonnegative(expressions))


def same_index(shape: Shape, left: Index, right: Index) -> bool:
    """Whether two indices are equal on the whole box of `shape`.

    Raises:
        TooHard: isl does not get to an answer.
    """
    polyhedra = _anonymous(shape, (*left, *right))
    with bounded():
        first, second = (polyhedra.access("T", index).intersect_domain(polyhedra.domain) for index in (left, right))
        return len(left) == len(right) and first.is_equal(second)


def dependence(first: Touch, second: Touch) -> isl.Map:
    """The pairs of instances that touch one element as an `isl.Map`, domains included: from `first` to `second`."""
    one, other = Polyhedra(first.statement), Polyhedra(second.statement, named=False)
    left = one.access("T", first.index, first.guards).intersect_domain(one.domain)
    right = other.access("T", second.index, second.guards).intersect_domain(other.domain)
    return left.apply_range(right.reverse()).coalesce().remove_redundancies()


def related(first: Touch, second: Touch, aligned: bool = True, distinct: bool = False) -> isl.Map:
    """The relation of `relation.relation_text` as an `isl.Map`, from instance to instance, within both domains.

    What the domains imply is left out: isl's `gist` (specification 000 §3.3).
    """
    domains = Polyhedra(first.statement).domain, Polyhedra(second.statement, named=False).domain
    context = isl.Map.from_domain_and_range(*domains)
    found = dependence(first, second) if aligned else context
    if distinct:
        found = found.subtract(isl.Map.identity(found.get_space()))
    return found.gist(context).coalesce().remove_redundancies()


def same_text(left: str, right: str, domain: str | None = None, image: str | None = None) -> bool:
    """Whether two texts are the same isl set, or the same isl map (from `domain` to `image` only).

    Raises:
        Unreadable: a text is not such a thing.
        TooHard: isl does not get to an answer.
    """
    try:
        with bounded():
            if "->" not in right.partition("{")[2]:
                return isl.Set(left).is_equal(isl.Set(right))
            first, second = isl.Map(left), isl.Map(right)
            if domain is not None:
                first, second = (each.intersect_domain(isl.Set(domain)) for each in (first, second))
            if image is not None:
                first, second = (each.intersect_range(isl.Set(image)) for each in (first, second))
            return first.is_equal(second)
    except isl.Error as error:
        raise Unreadable(str(error).partition(" in /")[0]) from None  # isl goes on with a path of its own source
