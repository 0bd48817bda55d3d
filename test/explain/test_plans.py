"""`tinyc explain --plan`: what the plan of a kernel was chosen from, and why not another."""

import json
import re

import pytest

from programs.example_bindings import EXAMPLES
from tinyc.driver import cli

GEMM, SOFTMAX = str(EXAMPLES / "gemm_bias_relu.json"), str(EXAMPLES / "softmax.json")
MMA = '{"scheme": "mma"}'


@pytest.fixture
def explained(capsys):
    """Return a function that runs `tinyc explain` and returns its status, output and errors."""

    def call(*arguments):
        status = cli.main(["explain", *arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def tables(text):
    """The tables of an output by their titles: the lines below the title."""
    found = (each.splitlines() for each in text.split("\n\n"))
    return {lines[0]: lines[1:] for lines in found}


def only(found, beginning):
    ((title, lines),) = ((title, lines) for title, lines in found.items() if title.startswith(beginning))
    return title, lines


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_contraction_has_its_schemes_and_the_candidates_of_its_own(explained, arch):
    _, text, _ = explained(GEMM, "--plan", MMA, "--arch", arch)
    found = tables(text)
    _, plans = only(found, f"1 kernel for {arch}")
    assert [line.split()[0] for line in plans] == ["kernel", "matmul_add_relu_cast"]
    _, schemes = only(found, "@matmul_add_relu_cast: schemes, in the order in which they are asked")
    assert next(line for line in schemes if line.startswith("mma ")).split()[:2] == ["mma", "taken"]
    assert any("refuses it" in line and "'Y_fp32' is a matrix product" in line for line in schemes)
    assert any(line.startswith("naive") and line.endswith("the plan is for mma") for line in schemes)
    (title, ranked), (_, pruned) = [
        (title, lines) for title, lines in found.items() if "predicted for" in title or "pruned" in title
    ]
    assert title.endswith("plans can be built, the 10 fastest; predicted for m = 4096, n = 4096, k = 4096, f16")
    assert len(ranked) == 11
    assert "tensor cores" in ranked[1]
    assert any("shared memory per CTA; sm_80 has 166912" in line or "registers" in line for line in pruned)


def test_the_first_candidate_is_the_plan(explained):
    _, text, _ = explained(GEMM, "--plan-json", "--plan", MMA, "--arch", "sm_90a")
    (kernel,) = json.loads(text)["kernels"]
    first = kernel["ranked"][0]["plan"]
    assert {name: kernel["plan"][name] for name in first} == first
    times = [each["us"] for each in kernel["ranked"]]
    assert times == sorted(times)
    assert all(set(each) == {"error", "field", "message"} for plan in kernel["pruned"] for each in plan["faults"])


def test_a_candidate_is_a_plan_that_may_be_given(explained):
    _, text, _ = explained(GEMM, "--plan-json", "--plan", MMA)
    candidate = json.loads(text)["kernels"][0]["ranked"][20]["plan"]
    _, text, _ = explained(GEMM, "--plan-json", "--plan", json.dumps(candidate))
    (kernel,) = json.loads(text)["kernels"]
    assert [each["plan"] for each in kernel["ranked"]] == [candidate]


def test_a_pruned_candidate_is_refused_for_its_reason(explained):
    _, text, _ = explained(GEMM, "--plan-json", "--plan", MMA)
    pruned = json.loads(text)["kernels"][0]["pruned"][0]
    status, _, error = explained(GEMM, "--plan", json.dumps(pruned["plan"]))
    assert status == 1
    assert pruned["faults"][0]["message"] in error


def test_what_the_given_plan_leaves(explained):
    _, text, _ = explained(GEMM, "--plan", '{"scheme": "mma", "tile": [128, 128, 32], "stages": 3}')
    (_, rows) = next((title, lines) for title, lines in tables(text).items() if "predicted for" in title)
    assert {tuple(row.split()[1:2]) for row in rows[1:]} == {("128x128x32",)}


def test_a_kernel_that_is_no_contraction_has_its_plan_alone(explained):
    status, text, _ = explained(SOFTMAX, "--plan", "--bind", "M=8,N=16")
    assert status == 0
    assert list(tables(text)) == ["1 kernel for sm_80 (NVIDIA A100 SXM4 40 GB)"]


def of_cpu(explained, *arguments):
    """The plan of the only kernel of the example on a CPU, and what it was chosen from, of JSON."""
    _, text, _ = explained(GEMM, "--plan-json", "--target", "cpu", *arguments)
    (kernel,) = json.loads(text)["kernels"]
    return kernel


def test_plans_for_a_cpu_are_told_with_what_each_scheme_says(explained):
    status, text, _ = explained(GEMM, "--plan", "--target", "cpu", "--bind", "M=512,N=512,K=512")
    assert status == 0
    assert "1 kernel for cpu" in text
    assert re.search(r"cpu_contraction, tile .*, axes 0, 1 in parallel", text)
    assert re.search(r"cpu_rows +would build it +its loops may have that form, where a plan says so", text)
    assert re.search(r"scan +refuses it +its loops are a matrix product", text)
    title, ranked = next(each for each in tables(text).items() if "predicted for" in each[0])
    assert title.endswith("m = 512, n = 512, k = 512; threads together, the mean for 1, 2, 8 of them")
    assert ranked[0].split()[:4] == ["tile", "C_stride", "packed", "us"]
    assert len(ranked) == 11


@pytest.mark.parametrize("sizes", ["M=64,N=48,K=32", "M=1000,N=300,K=700", "N=512,K=512"])
def test_the_plan_of_a_contraction_on_a_cpu_is_the_fastest_tile_that_can_be_built(explained, sizes):
    kernel = of_cpu(explained, "--bind", sizes)
    first = kernel["ranked"][0]["plan"]
    assert kernel["plan"]["tile"] == first["tile"]
    assert kernel["plan"]["layout_hints"] == first["layout_hints"]
    assert {side: kernel["plan"]["pack"][side] for side in "AB"} == first["pack"]
    times = [each["us"] for each in kernel["ranked"]]
    assert times == sorted(times)
    parts = [value for name, value in kernel["ranked"][0].items() if name.endswith("_percent")]
    assert sum(parts) == pytest.approx(100, abs=1)


def test_tiles_that_a_cpu_has_no_room_for_are_pruned_with_the_reason(explained):
    kernel = of_cpu(explained, "--bind", "M=2048,N=2048,K=16384")
    messages = " ".join(fault["message"] for plan in kernel["pruned"] for fault in plan["faults"])
    for what in ("bytes, and L2 has 524288", "bytes of the stack for each thread", "bytes of panels and sums"):
        assert what in messages
    built = [each["plan"] for each in kernel["ranked"]]
    assert all(each["plan"] not in built for each in kernel["pruned"])


def test_what_a_plan_says_of_tiles_on_a_cpu_leaves_no_others(explained):
    kernel = of_cpu(explained, "--bind", "M=256,N=256,K=256", "--plan", '{"tile": [84, 32, 128]}')
    assert [each["plan"]["tile"] for each in kernel["ranked"]] == [[84, 32, 128]]
    assert kernel["plan"]["tile"] == [84, 32, 128]


def test_beside_another_view_it_needs_a_plan(capsys):
    with pytest.raises(SystemExit):
        cli.main(["explain", SOFTMAX, "--fusion", "--plan"])
    assert "argument --plan: expected a plan beside --fusion" in capsys.readouterr().err
