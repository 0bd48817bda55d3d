"""All rules, applied to a program: the one op in place of several, from the last op to the first.

A rule applies where nothing between what it captures and its root is read elsewhere or is an output.
"""

import itertools
from dataclasses import replace

from tinyc.importers.onnx.patterns import activations, attention, norms, rotary
from tinyc.importers.onnx.patterns.language import Captured
from tinyc.importers.onnx.patterns.program_graph import ProgramGraph
from tinyc.importers.onnx.patterns.rule import FusionRule, Matched
from tinyc.importers.onnx.program import FrontendProgram, TypedConstant, TypedOp

_RULES: tuple[FusionRule, ...] = (*attention.RULES, *rotary.RULES, *norms.RULES, *activations.RULES)
#: So many ways to read a value as a pattern are tried.
_MAX_WAYS = 32


def fuse_patterns(program: FrontendProgram) -> None:
    """Put one op in the place of each pattern, and drop what nothing reads."""
    graph = ProgramGraph(program)
    written = list(program.ops)
    added: dict[int, list[TypedOp | TypedConstant]] = {}
    replaced: dict[int, int] = {}
    gone: set[int] = set()
    for op in reversed(written):
        if not isinstance(op, TypedOp) or op.first in gone or graph.first(op.first) != op.first:
            continue
        before = len(program.ops)
        for rule in _RULES:
            found = _applied(program, graph, op, rule)
            if found is not None:
                replaced[op.first], inside = found
                if op.first in program.names:
                    program.names[found[0]] = program.names.pop(op.first)
                gone |= inside
                added[op.first] = program.ops[before:]
                break
    if replaced:
        _put_in_place(program, graph, written, added, replaced)
    _drop_unused(program)


def _applied(
    program: FrontendProgram, graph: ProgramGraph, op: TypedOp, rule: FusionRule
) -> tuple[int, set[int]] | None:
    """The value that stands for an op by a rule, and the ops that are not needed then."""
    for bound in itertools.islice(rule.pattern.find(graph, op.first, {}), _MAX_WAYS):
        captured = {value for pattern, value in bound.items() if isinstance(pattern, Captured)}
        inside = graph.interior(op.first, captured)
        value = None if inside is None else rule.applied(Matched(program, graph, bound, op))
        if value is not None and inside is not None:
            return value, inside
    return None


def _put_in_place(
    program: FrontendProgram,
    graph: ProgramGraph,
    written: list[TypedOp | TypedConstant],
    added: dict[int, list[TypedOp | TypedConstant]],
    replaced: dict[int, int],
) -> None:
    """The ops with those that were added behind the roots that they stand for, which nothing reads then."""

    def put(value: int) -> int:
        return replaced.get(graph.first(value), value)

    ops = [each for op in written for each in (op, *added.get(op.first, ()))]
    program.ops[:] = [
        replace(op, operands={name: put(value) for name, value in op.operands.items()})
        if isinstance(op, TypedOp)
        else op
        for op in ops
    ]
    program.outputs[:] = [(name, put(value)) for name, value in program.outputs]


def _drop_unused(program: FrontendProgram) -> None:
    wanted = {value for _, value in program.outputs}
    kept: list[TypedOp | TypedConstant] = []
    for op in reversed(program.ops):
        if not wanted.isdisjoint(op.values):
            kept.append(op)
            wanted.update(op.operands.values() if isinstance(op, TypedOp) else ())
    program.ops[:] = kept[::-1]
