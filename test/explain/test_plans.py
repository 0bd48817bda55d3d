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


def test_plans_for_a_cpu_are_told_with_what_each_scheme_says(explained):
    status, text, _ = explained(GEMM, "--plan", "--target", "cpu")
    assert status == 0
    assert "1 kernel for cpu" in text
    assert "cpu_contraction, tile 672 × 256 × 256, axes 0, 1 in parallel" in text
    assert re.search(r"cpu_rows +would build it +its loops may have that form, where a plan says so", text)
    assert re.search(r"scan +refuses it +its loops are a matrix product", text)


def test_beside_another_view_it_needs_a_plan(capsys):
    with pytest.raises(SystemExit):
        cli.main(["explain", SOFTMAX, "--fusion", "--plan"])
    assert "argument --plan: expected a plan beside --fusion" in capsys.readouterr().err
