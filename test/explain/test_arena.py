"""`tinyc explain --memory`: the arena over time, as text and as a drawing, with what a run needs."""

from xml.etree import ElementTree

import pytest

from tinyc.driver import cli
from tinyc.explain.arena import memory_tables, placements_of, quality_text
from tinyc.expr import extents
from tinyc.runtime.program import Buffer, KernelLaunch, Program
from tinyc.runtime.sizes import required_memory
from tinyc.vocabulary.element_type import ElementType

#: Three kernels, where none are fused: -x, twice that, which lies where it does, and the product with a flip.
PROGRAM = """{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", 100]}},
  {"id": "minus", "uop": "NEG", "src": ["x"]},
  {"id": "twice", "uop": "ADD", "src": ["minus", "minus"]},
  {"id": "turned", "uop": "FLIP", "src": ["twice"], "arg": {"axes": [1]}},
  {"id": "y", "uop": "MUL", "src": ["turned", "twice"]}
]}"""
SVG = "{http://www.w3.org/2000/svg}"


def test_the_arena_is_drawn_generation_by_generation(explain):
    status, lines, _ = explain("--memory", "--fusion", "none", "--bind", "M=3", program=PROGRAM)
    assert status == 0
    assert lines[:6] == [
        "required memory of @main",
        "memory   bytes  whose",
        "arena     1280  one for each run",
        "pool         0  one for all runs",
        "inputs    1200  the caller's",
        "outputs   1200  the caller's",
    ]
    assert "arena: peak 1280, lower bound 1280, waste 0.0 %, proved to be the least" in lines
    drawn = lines.index("generations 0 to 2 across, offsets down")
    assert [line.split() for line in lines[drawn + 1 : drawn + 3]] == [
        ["offset", "bytes", "0", "1", "2"],
        ["0", "1280", "minus", "─", "twice"],
    ]
    assert lines[-2].split() == ["minus", "temp_0", "0", "1200", "0", "…", "1"]
    assert lines[-1].split() == ["twice", "temp_1", "0", "1200", "2", "…", "2", "minus"]


def test_without_sizes_formulas_stand_there_with_what_to_bind(explain):
    status, lines, _ = explain("--memory", "--fusion", "none", program=PROGRAM)
    assert status == 0
    assert lines[2].split("  ")[0] == "arena"
    assert "256*M + 256*((9*M - 1) floordiv 16) + 256" in lines[2]
    note = "sizes are formulas; to see the arena drawn, with its bound, give --bind M=…"
    assert note in lines
    assert not any("across" in line for line in lines)


def test_a_program_of_one_kernel_has_no_arena(explain):
    status, lines, _ = explain(
        "--memory", "--bind", "M=3", program=PROGRAM.replace('"turned", "twice"', '"twice", "twice"')
    )
    assert status == 0
    assert lines[2].split()[:2] == ["arena", "0"]
    assert not any(line.startswith("buffers of the arena") for line in lines)


@pytest.mark.parametrize("target", ["cpu", "sim", "cuda"])
def test_the_drawing_has_a_box_for_each_buffer_where_it_lies(explain, tmp_path, target):
    file = tmp_path / "arena.svg"
    options = ("--fusion", "none", "--bind", "M=3", "--target", target)
    status, lines, _ = explain("--memory-svg", str(file), *options, program=PROGRAM)
    assert (status, lines) == (0, [])
    boxes = {
        title.text.partition(":")[0]: group.find(f"{SVG}rect")
        for group in ElementTree.parse(file).iter(f"{SVG}g")
        if (title := group.find(f"{SVG}title")) is not None
    }
    first, second = boxes["temp_0"], boxes["temp_1"]
    assert first.get("y") == second.get("y")
    assert float(second.get("x")) == float(first.get("x")) + float(first.get("width"))
    assert float(first.get("width")) == 2 * float(second.get("width"))
    assert "arena of 1280 bytes" in boxes


def test_a_drawing_needs_sizes(explain, tmp_path):
    status, _, error = explain("--memory-svg", str(tmp_path / "arena.svg"), "--fusion", "none", program=PROGRAM)
    assert status != 0
    assert "the sizes of the arena are formulas over M; give --bind M=… to draw it" in error


@pytest.mark.parametrize("other", [["--access", "y"], ["--memory-svg", "a.svg"], ["--fusion-json"]])
def test_one_thing_is_asked_for_at_a_time(explain, other):
    with pytest.raises(SystemExit):
        explain("--memory", *other, program=PROGRAM)


def test_many_generations_are_drawn_in_parts(explain):
    nodes = ['{"id": "v0", "uop": "INPUT", "arg": {"tensor_id": "v0", "dtype": "fp32", "shape": [64]}}']
    nodes += [f'{{"id": "v{number + 1}", "uop": "NEG", "src": ["v{number}"]}}' for number in range(20)]
    status, lines, _ = explain("--memory", "--fusion", "none", program='{"uops": [' + ", ".join(nodes) + "]}")
    assert status == 0
    assert [line for line in lines if "across" in line] == [
        "generations 0 to 11 across, offsets down",
        "generations 12 to 19 across, offsets down",
    ]


def launch(generation, reads, writes):
    return KernelLaunch("k", generation, (1, 1, 1), (1, 1, 1), (1, 1, 1), 0, (), tuple(reads), tuple(writes))


def arena_of(program):
    return [str(table) for table in memory_tables(program)]


def stack_of(count):
    """Return a program that writes one buffer in each generation, and reads them all in the last."""
    names = tuple(f"temp_{number}" for number in range(count))
    buffers = tuple(
        Buffer(name, "arena", "host", 256 * number, 256, ElementType.F32, (64,)) for number, name in enumerate(names)
    )
    kernels = tuple(launch(number, (), [name]) for number, name in enumerate(names))
    return Program("main", (), (), (), (), buffers, (*kernels, launch(count, names, ())), 256 * count)


def test_of_many_buffers_some_rows_are_drawn_and_the_rest_is_counted():
    first, last = (table.splitlines() for table in arena_of(stack_of(100))[2:-1:8])
    assert first[0] == "generations 0 to 11 across, offsets down"
    assert [line.split()[:2] for line in first[2:]] == [
        *([str(256 * row), "256"] for row in range(12)),
        ["3072", "22528"],
    ]
    assert first[2].split()[2:] == ["temp_0", *"─" * 11]
    assert first[13].split()[2:] == [*"·" * 11, "temp_11"]
    assert first[14].split()[2:] == ["·"] * 12
    assert last[0] == "generations 96 to 100 across, offsets down"
    assert len(last) == 2 + 60 + 1
    assert last[-1] == "40 more rows, from offset 15360 on, are left out; --memory-svg FILE draws all"


def test_the_text_grows_as_the_program_does(monkeypatch):
    """Twice as many buffers are at most twice as much text and twice as many numbers, though more are alive at once."""
    asked = []
    evaluate = extents.evaluate
    monkeypatch.setattr(extents, "evaluate", lambda *arguments: asked.append(arguments) or evaluate(*arguments))
    sizes = []
    for count in (100, 200):
        asked.clear()
        characters = sum(map(len, arena_of(stack_of(count))))
        sizes.append((characters, len(asked)))
    assert sizes[1][0] < 2.5 * sizes[0][0]
    assert sizes[1][1] < 2.5 * sizes[0][1]


def test_waste_is_told_and_a_layout_that_could_be_smaller_is_not_called_the_least():
    names = ("temp_0", "temp_1")
    buffers = tuple(
        Buffer(name, "arena", "host", 512 * number, 256, ElementType.F32, (64,)) for number, name in enumerate(names)
    )
    kernels = (launch(0, (), names), launch(1, names, ()))
    program = Program("main", (), (), (), (), buffers, kernels, 768)
    said = "peak 768, lower bound 512, waste 33.3 %, not proved to be the least"
    assert quality_text(placements_of(program), program) == said


def test_required_memory_is_that_of_the_arena_at_the_sizes_of_a_run():
    program = Program("main", ("M",), (), (), (), (), (), 256 * extents.symbol("M"), pool_bytes=512)
    assert required_memory(program, {"M": 3}) == (256 * 3, 512, 0, 0)


def test_the_overview_names_the_option(capsys, tmp_path):
    path = tmp_path / "program.json"
    path.write_text(PROGRAM)
    assert cli.main(["explain", str(path)]) == 0
    assert "--memory" in capsys.readouterr().out.splitlines()[-1]
