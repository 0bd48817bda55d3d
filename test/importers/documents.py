"""Short ways to write Tiny JSON programs, and to say what became of them."""

from pathlib import Path

import pytest

from tinyc.analysis.graphs import functions_of
from tinyc.diagnostics import TinycError, collect_remarks
from tinyc.importers import tiny_json
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import arguments, tensor_type

DATA = Path(__file__).parent / "data"


def node(id, uop, *src, **arg):
    """Return a node of the 001 spelling."""
    return {"id": id, "uop": uop, "src": list(src), "arg": arg}


def tensor(id, *shape, dtype="fp32"):
    """Return an INPUT whose tensor id is its node id."""
    return node(id, "INPUT", tensor_id=id, dtype=dtype, shape=list(shape))


def program(*nodes, **top):
    return {"uops": list(nodes), **top}


def load(*nodes, bind=None, **top):
    """Return the module of a program, verified."""
    module = tiny_json.import_program(program(*nodes, **top), bind)
    with module.context:
        assert module.operation.verify()
    return module


def errors_of(source, bind=None):
    """Return (name, node) of everything that is wrong with a document."""
    with pytest.raises(TinycError) as caught:
        tiny_json.import_program(source, bind)
    return [(error.name, error.where.node) for error in caught.value.errors]


def error_of(*nodes, bind=None, **top):
    """Return the one error of a program."""
    with pytest.raises(TinycError) as caught:
        tiny_json.import_program(program(*nodes, **top), bind)
    assert len(caught.value.errors) == 1, str(caught.value)
    return caught.value


def remarks_of(*nodes, **top):
    """Return (code, node) of the remarks that importing a program makes."""
    with collect_remarks() as remarks:
        load(*nodes, **top)
    return [(remark.code, remark.where.node) for remark in remarks]


def ops(module):
    """Return the Tiny ops of a program but its assumptions."""
    block = functions_of(module)[0].regions[0].blocks[0]
    return [op for op in block.operations if op.operation.name not in ("tiny.assume", "func.return")]


def steps(module):
    """Return (node, op) of each op of a program."""
    return [(op.location.name_str, op.operation.name.removeprefix("tiny.")) for op in ops(module)]


def values(module, id):
    """Return the arguments of the op that is called `id`, as plain data."""
    (found,) = [op for op in ops(module) if op.location.name_str == id]
    with module.context:
        return arguments(found)


def assumptions(module):
    block = functions_of(module)[0].regions[0].blocks[0]
    found = [op.operation.attributes for op in block.operations if op.operation.name == "tiny.assume"]
    return [" ".join(attributes[key].value for key in ("lhs", "predicate", "rhs")) for attributes in found]


def signature(module):
    """Return {name: type} of the inputs and of the outputs, types as Tiny writes them."""
    function = functions_of(module)[0]
    found = []
    for attributes, types in (("arg_attrs", function.type.inputs), ("res_attrs", function.type.results)):
        entries = ir.ArrayAttr(function.operation.attributes[attributes]) if len(types) else []
        with module.context:
            found.append({e["tiny.name"].value: str(tensor_type(t)) for e, t in zip(entries, types, strict=True)})
    return found


def output(module):
    """Return the type of the one output."""
    (only,) = signature(module)[1].values()
    return only
