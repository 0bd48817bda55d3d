"""What the ops of a finished program are called: each value has a name that no other one has.

A node's output is called as the node is, a second one `node#1`; a constant as the initialiser or the folded node that
it is. What else a node is made of is called after it and the op, `node.reshape`. A name that is taken is numbered: ONNX
lets nodes have the same name.
"""

from tinyc.importers.onnx.program import FrontendProgram, TypedConstant, TypedOp
from tinyc.mlir.names import DistinctNames


def op_names(program: FrontendProgram) -> list[str | None]:
    """A name for each op of a program; None for one that stands for no node."""
    names = DistinctNames(each.name for each in program.inputs)
    # Names of nodes first: those that are made up make way.
    found = [None if (own := program.names.get(op.first)) is None else _new(names, own, op) for op in program.ops]
    return [
        _new(names, f"{op.where.node}.{_verb(op)}", op) if name is None and op.where.node is not None else name
        for name, op in zip(found, program.ops, strict=True)
    ]


def _new(names: DistinctNames, stem: str, op: TypedOp | TypedConstant) -> str:
    """A name that is new for each result of an op: `stem`, `stem#1`, …, or `stem` with a number."""
    while True:
        name = names.new(stem)
        others = {f"{name}#{position}" for position in range(1, len(op.values))}
        if others.isdisjoint(names.taken):
            names.taken |= others
            return name


def _verb(op: TypedOp | TypedConstant) -> str:
    return "const" if isinstance(op, TypedConstant) else op.schema.choice or op.schema.op
