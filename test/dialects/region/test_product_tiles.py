"""Products on the CPU: tiles of rows and columns, whose operands are computed once for a tile."""

import re

import pytest

import tinyc
from analysis_programs import contraction_programs
from analysis_programs.contraction_programs import CONTRACTIONS, LONG_SIZES
from analysis_programs.cpu_kernels import agrees, scaled, spread, typed
from analysis_programs.region_kernels import matmul, one_kernel, one_kernel_program
from analysis_programs.tiny_programs import Program
from parameters import pairwise
from tinyc.analysis.cpu_product import TRANSPOSED_LANES, CpuProduct
from tinyc.dialects.region.to_loops.micro_kernel import MicroKernel
from tinyc.dialects.registry import context
from tinyc.executors.compare import compare_all
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.rounding import output_tolerances
from tinyc.runtime.cpu_features import machine_level
from tinyc.target import vector_unit_of
from tinyc.vocabulary.element_type import ElementType

SIZES = [(1, 1, 1), (2, 2, 2), (3, 130, 7), (5, 128, 0), (4, 3, 200), (193, 5, 65), (200, 129, 64), (385, 260, 3)]


def product(p: Program) -> CpuProduct | None:
    """How a program is computed as one kernel, if that is as a product."""
    with context():
        nest = one_kernel(p).nest
    return nest if isinstance(nest, CpuProduct) else None


def with_rows_along_the_sum(p: Program, m: int, n: int, k: int):
    """Multiply rows of `a` by rows of `b`."""
    left = p.expand(p["a"], shape=f"{m} {n} {k}", broadcast_dimensions=(0, 2))
    right = p.expand(p["b"], shape=f"{m} {n} {k}", broadcast_dimensions=(1, 2))
    return p.sum(p.mul(left, right), 2)


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_a_product_of_what_is_cast_and_scaled(m, n, k):
    p = Program(a=f"f16 {m} {k}", b=f"i8 {k} {n}", scale=f"f16 {n}")
    weights = p.cast(p["b"], element="f16")
    weights = p.mul(weights, spread(p, p["scale"], weights, 0))
    assert agrees(p.result(matmul(p, p["a"], weights, f"{m} {n} {k}")))


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_a_product_whose_rows_lie_along_the_sum(m, n, k):
    p = Program(a=f"f32 {m} {k}", b=f"f32 {n} {k}")
    assert agrees(p.result(p.relu(with_rows_along_the_sum(p, m, n, k))))
    assert (product(p) is not None) == (m >= 32)


def as_they_lie(p: Program, shape: str, layout: str, element: str = "f32") -> Program:
    """Multiply `a` by `b`, each transposed or not."""
    lies = zip("ab", layout, strict=True)
    a, b = (p.permute(p[name], perm=(1, 0)) if each == "t" else p[name] for name, each in lies)
    return p.result(matmul(p, a, b, shape, element=element))


def stored(layout: str, m: int | str, n: int | str, k: int | str, element: str = "f32") -> Program:
    """The operands of such a product, by extents or their names."""
    a, b = (f"{k} {m}", f"{m} {k}")[layout[0] == "n"], (f"{n} {k}", f"{k} {n}")[layout[1] == "n"]
    return Program(a=f"{element} {a}", b=f"{element} {b}")


@pairwise(
    shape=[(38, 33, 20), (200, 129, 64), (385, 260, 30), (97, 515, 1031)],
    layout=["nn", "nt", "tn", "tt"],
    element=["f32", "f64", "i32"],
    cpu=["x86-64", "x86-64-v3", "x86-64-v4"],
)
def test_operands_that_lie_as_they_are_packed_come_from_memory_in_vectors(shape, layout, element, cpu, tmp_path):
    p = as_they_lie(stored(layout, *shape, element), " ".join(map(str, shape)), layout, element)
    compiled = tinyc.compile(one_kernel_program(p))
    text = compiled.lowering.for_cpu(cpu).text("loops")
    assert not re.search(r"%(row|lines) = memref.alloca", text)  # nothing is computed first
    compiled.save(tmp_path / "product.tinyc", cpu=cpu)
    if (machine_level() or "") < cpu:
        pytest.skip(f"it was compiled, and not run: this machine's CPU is of level {machine_level()}")
    assert agrees(p, tinyc.load(tmp_path / "product.tinyc"))


@pairwise(shape=[(38, 33, 5), (200, 129, 64), (4, 3, 200), (97, 515, 1031)], layout=["nn", "nt", "tn", "tt"])
def test_the_same_of_extents_that_are_known_at_run_time(shape, layout):
    m, n, k = shape
    assert agrees(as_they_lie(stored(layout, "M", "N", "K"), "M N K", layout), M=m, N=n, K=k)


@pytest.mark.parametrize("layout", ["nn", "tn"])
def test_an_operand_that_is_scaled_is_computed_before_it_is_packed(layout):
    p = stored(layout, 97, 130, 65)
    a = p.permute(p["a"], perm=(1, 0)) if layout == "tn" else p["a"]
    p.result(matmul(p, scaled(p, a, 0.5), p["b"], "97 130 65"))
    text = tinyc.compile(one_kernel_program(p)).lowering.for_cpu("x86-64-v3").text("loops")
    assert re.search(r"%(row|lines) = memref.alloca", text)
    assert agrees(p)


@pytest.mark.parametrize("element", ["f64", "bf16", "i32", "ui8"])
def test_a_product_of_another_type(element):
    p = Program(a=f"{element} 70 33", b=f"{element} 33 140")
    assert agrees(p.result(matmul(p, p["a"], p["b"], "70 140 33")))


@pytest.mark.parametrize("columns", [5, 8])
@pytest.mark.parametrize("depth", [1, 2])
def test_integers_that_vectors_pack_are_read_after_they_are_packed(columns, depth):
    p = Program(a="i8 33 70", b="i8 65 70")
    left = p.expand(p["a"], shape="33 65 70", broadcast_dimensions=(0, 2))
    right = p.expand(p["b"], shape="33 65 70", broadcast_dimensions=(1, 2))
    p.result(p.op("reduce", p.mul(left, right), op="sum", axes=(2,), element="i32"))
    plan = {"scheme": "cpu_contraction", "tile": [12, columns, depth]}
    assert agrees(p, tinyc.compile(one_kernel_program(p), plan=plan))


@pytest.mark.parametrize(("m", "n", "k"), [*SIZES[:3], *SIZES[4:]])
def test_a_product_of_extents_that_are_known_at_run_time(m, n, k):
    p = Program(a="f32 M K", b="f32 K N", bias="f32 N")
    y = matmul(p, scaled(p, p["a"], 0.5), p["b"], "M N K")
    p.result(p.add(y, spread(p, p["bias"], y, 0)))
    assert product(p) is not None
    assert agrees(p, M=m, N=n, K=k)


def test_batches_of_products_with_two_results_one_of_them_moved():
    p = Program(a="f32 3 10 20", b="f32 3 20 130")
    left = p.expand(p["a"], shape="3 10 130 20", broadcast_dimensions=(0, 1, 3))
    right = p.expand(p.permute(p["b"], perm=(0, 2, 1)), shape="3 10 130 20", broadcast_dimensions=(0, 2, 3))
    y = p.sum(p.mul(left, right), 3)
    p.result(p.tanh(y), p.permute(p.neg(y), perm=(2, 0, 1)), y)
    assert product(p) is not None
    assert agrees(p)


def test_an_operand_is_computed_in_one_place_of_the_code_whatever_the_rows():
    p = Program(a="f32 300 70", b="i8 70 130")
    p.result(matmul(p, p["a"], p.cast(p["b"], element="f32"), "300 130 70"))
    text = tinyc.compile(one_kernel_program(p)).text("loops")
    assert text.count("arith.sitofp") == 1
    assert text.index("arith.sitofp") < text.index("vector.load")


@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("element", ["f32", "f64", "f16", "i8", "ui8", "ui16"])
def test_a_product_is_right_in_the_vectors_of_every_cpu(cpu, element, tmp_path):
    p = Program(a=f"{element} 70 300", b=f"{element} 300 140")
    p.result(matmul(p, p["a"], p["b"], "70 140 300"))
    tinyc.compile(one_kernel_program(p)).save(tmp_path / "product.tinyc", cpu=cpu)
    if (machine_level() or "") < cpu:
        pytest.skip(f"it was compiled, and not run: this machine's CPU is of level {machine_level()}")
    assert agrees(p, tinyc.load(tmp_path / "product.tinyc"))


@pairwise(
    cpu=["x86-64", "x86-64-v3", "x86-64-v4"],
    shape=[(64, 17, 40), (70, 300, 600), (33, 35, 5), (200, 16, 64), (40, 1100, 30)],
    is_turned=[False, True],
)
def test_weights_in_panels_are_right_in_the_vectors_of_every_cpu(cpu, shape, is_turned, tmp_path):
    m, n, k = shape
    p = Program(a=f"f32 {m} {k}", w=f"f32 {n} {k}" if is_turned else f"f32 {k} {n}", v=f"f32 {n}")
    y = matmul(p, p["a"], p.permute(p["w"], perm=(1, 0)) if is_turned else p["w"], f"{m} {n} {k}")
    p.result(p.add(y, spread(p, p["v"], y, 0)))
    weights = {"w": random_inputs(p.module, 0)["w"]}
    compiled = tinyc.compile(p.module, weights=weights)
    assert 'sym_name = "pack"' in compiled.text("plan")
    compiled.save(tmp_path / "product.tinyc", cpu=cpu)
    if (machine_level() or "") < cpu:
        pytest.skip(f"it was compiled, and not run: this machine's CPU is of level {machine_level()}")
    model = tinyc.load(tmp_path / "product.tinyc")
    inputs = {name: each for name, each in random_inputs(p.module, 1).items() if name != "w"}
    expected = tinyc.compile(p.module, target="reference").run(**inputs, **weights)
    for _ in range(2):  # panels are made by the first run, and read by both
        found = model.run(**inputs)
        tolerances = output_tolerances(p.module, {**inputs, **weights})
        assert all(each.ok for each in compare_all(found, expected, tolerances))


@pytest.mark.parametrize(("a", "b", "has_tiles"), [("1 70", "70 130", True), ("300 70", "70 1", False)])
def test_a_vector_times_a_matrix_has_tiles_where_its_columns_are_neighbours(a, b, has_tiles):
    p = Program(a=f"f32 {a}", b=f"f32 {b}")
    p.result(matmul(p, p["a"], p["b"], f"{a.split()[0]} {b.split()[1]} 70"))
    assert (product(p) is not None) == has_tiles
    assert agrees(p)


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "i8", "ui8"])
@pytest.mark.parametrize("k", [70, 600])
def test_a_vector_times_a_matrix_of_any_width(element, k):
    p = Program(a=f"{element} 1 {k}", b=f"{element} {k} N")
    p.result(matmul(p, p["a"], p["b"], f"1 N {k}"))
    found = product(p)
    assert found is not None
    assert found.rows.loops == ()
    for n in (1, 130, 600):
        assert agrees(p, N=n)


def test_batches_along_the_last_axis_have_no_tiles():
    p = Program(a="f32 4 6 10", b="f32 6 5 10")
    left = p.expand(p["a"], shape="4 6 5 10", broadcast_dimensions=(0, 1, 3))
    right = p.expand(p["b"], shape="4 6 5 10", broadcast_dimensions=(1, 2, 3))
    p.result(p.sum(p.mul(left, right), 1))
    assert product(p) is None
    assert agrees(p)


@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 12])
def test_few_columns_of_few_rows_have_room_for_the_widest_micro_kernel(rows, element, cpu):
    """The last vectors of a row stay in memory of the kernel, however narrow the product is."""
    p = Program(a=f"{element} {rows} 40", b=f"{element} 40 3")
    p.result(matmul(p, p["a"], p["b"], f"{rows} 3 40"))
    with context():
        program = one_kernel_program(p)
    text = tinyc.compile(program).lowering.for_cpu(cpu).text("loops")
    sizes = {name: int(size) for name, size in re.findall(r"%(\w+) = memref\.alloca\(\).*: memref<(\d+)x", text)}
    sizes |= {name: int(size) for name, size in re.findall(r"%(workspace\w*): memref<(\d+)x", text)}
    lanes = int(re.findall(r"vector<(\d+)xf", text)[0])
    height, pitch, wide = sums_of(p, cpu)
    assert sizes["sums" if "sums" in sizes else "workspace"] >= (height - 1) * pitch + wide * lanes


def sums_of(p: Program, cpu: str) -> tuple[int, int, int]:
    """The rows of a micro-kernel, the distance of two rows of sums, and the vectors of a row."""
    nest = product(p)
    assert nest is not None
    micro = MicroKernel.of(nest.accumulator, vector_unit_of(cpu), nest.rows.most, is_wide=nest.reads_right_in_place)
    return micro.rows, nest.packed_columns + TRANSPOSED_LANES, micro.vectors


def test_columns_that_are_apart_in_memory_are_packed_for_few_rows_too():
    p = Program(a="f32 12 7", b="f32 7 40 2")
    every_other = p.reshape(p.shrink(p["b"], lo=(0, 0, 1), hi=(7, 40, 2), step=(1, 1, 1)), shape="7 40")
    assert agrees(p.result(matmul(p, p["a"], every_other, "12 40 7")))
    found = product(p)
    assert found is not None
    assert not found.reads_right_in_place


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_every_contraction_agrees_where_its_extents_are_known_and_where_they_are_not(name):
    make = CONTRACTIONS[name]
    assert agrees(make(contraction_programs.Sizes(LONG_SIZES)))
    known = {name: size for name, size in LONG_SIZES.items() if name not in "BM"}
    p = make(contraction_programs.Sizes(known))
    shapes = " ".join(str(typed(each).shape) for each in p.block.arguments)
    unknown = {name for name in "BM" if name in shapes}
    assert agrees(p, **{name: LONG_SIZES[name] for name in unknown})


def test_the_places_of_a_convolution_are_columns_together():
    p = contraction_programs.conv_nchw(contraction_programs.Sizes({"B": 3, "C": 20, "F": 36, "Y": 5, "X": 20}))
    found = product(p)
    assert found is not None
    assert (found.rows.lines, found.depth) == (36, 180)
    assert found.has_columns_inside
    assert not found.has_rows_inside
    model = tinyc.compile(one_kernel_program(p), plan={"tile": [36, 200, 180]})
    assert "tile = array<i64: 36, 200, 180>" in model.text("plan")  # of two images, of three that there are
    assert agrees(p, model)


def test_columns_that_are_read_in_place_are_masked_where_they_do_not_fill_the_last_vector():
    p = Program(a="f32 1 40", b="f32 40 1000")
    text = tinyc.compile(one_kernel_program(p.result(matmul(p, p["a"], p["b"], "1 1000 40")))).lowering
    assert "vector.maskedload" not in text.for_cpu("x86-64-v3").text("loops")
    assert "vector.maskedload" in text.for_cpu("x86-64-v4").text("loops")


@pytest.mark.parametrize("cpu", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize(("rows", "columns"), [(7, 23), (13, 40), (16, 196), (64, 12)])
def test_rows_and_columns_that_are_left_have_micro_kernels_of_their_own(rows, columns, cpu):
    p = Program(a=f"f32 {rows} 20", b=f"f32 20 {columns}")
    p.result(matmul(p, p["a"], p["b"], f"{rows} {columns} 20"))
    plan = {"tile": [rows, columns, 20], "pack": {"A": False, "B": False}}
    model = tinyc.compile(one_kernel_program(p), plan=plan)
    loops = model.lowering.for_cpu(cpu).text("loops")
    unit = vector_unit_of(cpu)
    micro = MicroKernel.of(ElementType.F32, unit, rows, is_wide=True)
    lanes, rest = unit.register_bytes // 4, columns % micro.columns
    sums = {down * across for down in (micro.rows, rows % micro.rows) for across in (micro.vectors, -(-rest // lanes))}
    assert {int(each) for each in re.findall(r":(\d+) = scf.for", loops)} <= sums
    assert agrees(p, model)
