"""Which operand a result may overwrite: the closed form says what isl says of the relations of reads and the write."""

import islpy as isl
import pytest

from programs.strategies import fusion_programs, programs
from tinyc import pipeline
from tinyc.analysis.in_place import in_place_pairs, is_in_place
from tinyc.analysis.isl.polyhedra import Polyhedra
from tinyc.analysis.kernel_loops import kernel_loops
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import kernels_of
from tinyc.expr import extents
from tinyc.importers import tiny_json


def kernels(document, bind=None):
    """Return the kernels of a program, one for each op, by name; they live as long as the module beside them."""
    module = tiny_json.import_program(document, bind=bind)
    pipeline.parse("tiny-to-region{fusion=none}").run(module)
    return module, kernels_of(module)


def last_kernel(*nodes, x=("M", "N"), dtype="fp32"):
    inputs = [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": dtype, "shape": list(x)}},
        {"id": "z", "uop": "INPUT", "arg": {"tensor_id": "z", "dtype": "fp32", "shape": ["M", "N"]}},
        {"id": "v", "uop": "INPUT", "arg": {"tensor_id": "v", "dtype": "fp32", "shape": ["N"]}},
    ]
    written = [{"id": name, "uop": uop, "src": list(src), "arg": arg} for name, uop, src, arg in nodes]
    module, found = kernels({"uops": [*inputs, *written], "outputs": [nodes[-1][0]]})
    return module, list(found.values())[-1]


EXPANDED = ("e", "EXPAND", "v", {"result_shape": ["M", "N"], "broadcast_dimensions": [1]})


@pytest.mark.parametrize(
    ("nodes", "given", "pairs"),
    [
        ([("y", "NEG", "x", {})], {}, [(0, 1)]),
        ([("y", "ADD", "xx", {})], {}, [(0, 1)]),
        ([("y", "ADD", "xz", {})], {}, [(0, 2), (1, 2)]),
        # The same place in memory under another shape, and with elements of another type of the same width.
        ([("r", "RESHAPE", "x", {"result_shape": ["M", "N"]}), ("y", "NEG", "r", {})], {"x": ("M", 1, "N")}, [(0, 1)]),
        ([("y", "CAST", "x", {"to": "i32"})], {}, [(0, 1)]),
        # Read elsewhere, too; read elsewhere; not as many elements; of another width; reduced; taken by positions.
        ([("f", "FLIP", "x", {"axes": [0]}), ("y", "ADD", ("f", "x"), {})], {}, []),
        ([("f", "FLIP", "x", {"axes": [0]}), ("y", "ADD", ("f", "z"), {})], {}, [(1, 2)]),
        ([EXPANDED, ("y", "ADD", ("z", "e"), {})], {}, [(0, 2)]),
        ([("y", "CAST", "x", {"to": "fp16"})], {}, []),
        ([("y", "REDUCE", "x", {"op": "SUM", "axes": [0], "dtype": "fp32"})], {"x": (1, "N")}, []),
        ([("y", "PERMUTE", "x", {"perm": [1, 0]})], {"x": (4, 4)}, []),
        ([("y", "PAD", "x", {"pad": [[0, 0], [1, 0]], "value": 0})], {}, []),
    ],
)
def test_an_operand_is_offered_where_each_element_is_read_where_it_is_written(nodes, given, pairs):
    module, kernel = last_kernel(*nodes, **given)
    assert list(in_place_pairs(kernel.op)) == pairs, module


def places(relation, shape):
    """Return a relation to elements as one to their places in memory."""
    names = [f"i{axis}" for axis in range(len(shape))]
    strides = extents.row_major_strides(shape)
    place = " + ".join(f"{stride}*{name}" for stride, name in zip(strides, names, strict=True)) or "0"
    return relation.reset_tuple_id(isl.dim_type.out).apply_range(isl.Map(f"{{ [{', '.join(names)}] -> [{place}] }}"))


def reads_where_it_writes(kernel, phase, access):
    """Whether isl says that the places which a phase reads and writes are the same for each instance."""
    block, read = phase.block, kernel.tensor(access.tensor).owner
    if not isinstance(read, region.ReadOp):
        return False
    statement = Polyhedra(block.statement)
    written = places(statement.access(block.name, block.write), block.written_shape)
    found = places(statement.access(access.tensor, access.index, access.guards), kernel.shape(access.tensor))
    widths = [each.size_bytes for each in (region.held_tensor(read.buffer.type).element, block.element)]
    return widths[0] == widths[1] and bool(found.is_equal(written))


@pytest.mark.parametrize("strategy", [programs, fusion_programs])
def test_the_closed_form_is_what_isl_says(random_examples, strategy):
    said = []

    @random_examples(strategy(), 25)
    def check(program):
        _, found = kernels(program.document, program.sizes)
        for kernel in found.values():
            loops = kernel_loops(kernel.op)
            for phase in [] if isinstance(loops, str) else loops.loops.phases:
                for access in phase.block.accesses:
                    if not phase.is_reduction and 0 not in phase.block.statement.shape:
                        said.append(is_in_place(loops, phase, access))
                        assert said[-1] == reads_where_it_writes(loops, phase, access)

    check()
    assert {*said} == {True, False}
