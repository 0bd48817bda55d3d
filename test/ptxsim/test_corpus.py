"""The corpus itself: its PTX is what the compilers made of its sources, and its cases are right without a simulator."""

import importlib.util
import re
import shutil
import subprocess

import numpy as np
import pytest

from ptxsim.linking.link import link
from ptxsim.parsing.parser import parse
from ptxsim.report import KINDS
from ptxsim_cases.case import DATA, Im2col, Tiled
from ptxsim_cases.cases import CASES, MUTATED

PTX = sorted(DATA.rglob("*.ptx"))
SOURCES = sorted((DATA / "cuda").glob("*.cu"))
each_file = pytest.mark.parametrize("path", PTX, ids=lambda path: f"{path.parent.name}/{path.stem}")
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def builder():
    """`data/build.py`, which rebuilds the PTX of the CUDA sources."""
    spec = importlib.util.spec_from_file_location("corpus_build", DATA / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_corpus_stays_small():
    # checked-in bytes: sources, PTX and facts
    assert (
        sum(path.stat().st_size for path in DATA.rglob("*") if path.suffix in (".ptx", ".cu", ".py", ".json"))
        < 1_500_000
    )


@each_file
def test_ptxas_takes_the_ptx(path, ptxas):
    # what the simulator is tested on is valid PTX for the architecture that the file names
    text = path.read_text(encoding="utf-8")
    target = re.search(r"^\.target (\w+)", text, re.MULTILINE)
    assert target is not None
    assert {kernel.name for kernel in ptxas(text, target[1]).kernels} >= set(re.findall(r"\.entry (\w+)\(", text))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_a_source_rebuilds_to_the_same_ptx(source):
    # nobody has edited the PTX by hand, nor forgotten to rebuild it
    build, nvcc = builder(), shutil.which("nvcc")
    recorded = source.with_suffix(".ptx").read_text(encoding="utf-8")
    if nvcc is None or shutil.which("g++") is None:
        pytest.skip("did not run: there is no nvcc, or no g++ for it")
    version = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    if build.release(recorded) not in version:
        pytest.skip(f"did not run: the PTX is of another nvcc, {build.release(recorded)}")
    assert build.compile_source(source, nvcc) == recorded


@each_file
def test_every_kernel_has_a_case(path):
    kernels = set(re.findall(r"\.entry (\w+)\(", path.read_text(encoding="utf-8")))
    assert kernels == {case.entry for case in CASES if DATA / case.ptx == path}


@each_case
def test_the_expected_values_are_those_of_a_second_computation(case):
    # neither of the two shares anything with the other, or with the simulator
    arrays = case.arrays()
    expected, again = case.expected(arrays), case.again(arrays)
    assert expected.keys() == again.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(values.astype(float), again[name].astype(float), rtol=case.rtol, atol=case.atol)


@each_case
def test_a_kernel_that_does_nothing_fails_its_case(case):
    arrays, untouched = case.arrays(), case.arrays()
    for name, values in case.expected(arrays).items():
        assert (values.shape, values.dtype) == (arrays[name].shape, arrays[name].dtype)
    assert all(arrays[name].tobytes() == untouched[name].tobytes() for name in arrays), "it changes its inputs"
    expected = case.expected(arrays)
    assert any(values.tobytes() != arrays[name].tobytes() for name, values in expected.items())


def size(argument, arrays):
    """The bytes of the parameter that an argument is for: 8 for an address, 128 for a tensor map by value."""
    if isinstance(argument, Tiled | Im2col):
        assert argument.array in arrays
        assert len(argument.global_strides) == argument.tensor_rank - 1
        return 8 if isinstance(argument, Tiled) and argument.is_pointed_to else 128
    if isinstance(argument, str):
        assert argument in arrays
        return 8
    return argument.dtype.itemsize


@each_case
def test_the_arguments_fit_the_parameters(case):
    head = re.search(rf"\.entry {case.entry}\((.*?)^\)", case.text(), re.DOTALL | re.MULTILINE)
    assert head is not None
    parameters = re.findall(r"\.param .*?\.[ubsf](\d+)\s[^\n\[]*(?:\[(\d+)\])?", head[1])
    sizes = [int(bits) // 8 * int(count or 1) for bits, count in parameters]
    assert [size(argument, case.arrays()) for argument in case.arguments] == sizes


@each_case
def test_the_launch_is_one_that_the_kernel_allows(case):
    body = case.text().partition(f".entry {case.entry}(")[2].partition("{")[0]
    threads = re.search(r"\.(reqntid|maxntid) (\d+)", body)
    cluster = re.search(r"\.reqnctapercluster (\d+), (\d+), (\d+)", body)
    assert threads is None or int(np.prod(case.block)) == int(threads[2])
    assert case.cluster == (tuple(map(int, cluster.groups())) if cluster else (1, 1, 1))
    assert all(blocks % size == 0 for blocks, size in zip(case.grid, case.cluster, strict=True))


@each_file
def test_the_parser_takes_the_ptx(path):
    text = path.read_text(encoding="utf-8")
    module = parse(text)
    link(module)  # every name in it is declared
    assert {name for name, function in module.functions.items() if function.is_entry} == set(
        re.findall(r"\.entry (\w+)\(", text)
    )


@pytest.mark.parametrize(("case", "mutation"), MUTATED, ids=lambda each: each.name)
def test_a_mutated_kernel_is_ptx_still(case, mutation):
    # a mutation changes what a kernel does, never whether it can be read
    mutated = mutation.apply(case.text(), case.entry)
    assert mutated != case.text()
    assert len(parse(mutated).functions) == len(parse(case.text()).functions)


def test_every_kind_of_finding_has_a_mutation():
    wanted = {kind for kinds in KINDS.values() for kind in kinds}
    assert {kind for _, mutation in MUTATED for kind in mutation.kinds} == wanted


@pytest.mark.parametrize("text", [".entry other() { ret; }", ".entry k() { ret; }"])
def test_a_mutation_that_does_not_apply_is_an_error(text):
    # a twin that equals its kernel would be a test that cannot fail
    mutation = MUTATED[0][1]
    with pytest.raises(ValueError, match="k"):
        mutation.apply(text, "k")
