"""Statements that stand several times below each other, as loops: what goes up with the loop, and what stays."""

import pytest

from tinyc.dialects.cuda.printer.rolling import in_loops


def test_calls_at_regular_distances_are_loops():
    calls = [f"  ptx::mma(&acc[{8 * row + 4 * column}], &b[{column}]);" for row in range(3) for column in range(4)]
    assert in_loops(["  a;", *calls, "  b;"]) == [
        "  a;",
        "  #pragma unroll",
        "  for (int m = 0; m < 3; ++m) {",
        "    #pragma unroll",
        "    for (int n = 0; n < 4; ++n) {",
        "      ptx::mma(&acc[8 * m + 4 * n], &b[n]);",
        "    }",
        "  }",
        "  b;",
    ]


def test_a_number_that_is_added_may_begin_at_0():
    assert in_loops(["f(x, 1);", "f(x + 8, 1);", "f(x + 16, 1);"])[2] == "  f(x + 8 * n, 1);"


def test_a_loop_has_names_of_its_own():
    times = [(f"const float v{n} = x[{n}];", "if (a) {", f"  f(v{n});", "}", f"g(v{n});") for n in range(2)]
    lines = [f"  {line}" for each in times for line in each]
    assert in_loops(lines) == [
        "  #pragma unroll",
        "  for (int n = 0; n < 2; ++n) {",
        "    const float v0 = x[n];",
        "    if (a) {",
        "      f(v0);",
        "    }",
        "    g(v0);",
        "  }",
    ]
    # The last is used behind it.
    assert in_loops([*lines, "  h(v1);"]) == [*lines, "  h(v1);"]


def test_a_counter_is_no_name_that_is_there():
    assert in_loops([f"f(n, {each});" for each in range(3)])[2] == "  f(n, m);"


@pytest.mark.parametrize(
    "lines",
    [
        ["f(&a[0]);", "f(&a[4]);"],
        ["f(&a[0]);", "f(&a[4]);", "f(&a[5]);"],
        ["f(&a[8]);", "f(&a[4]);", "f(&a[0]);"],
        ["f(&a[0], x);", "f(&a[4], y);", "f(&a[8], z);"],
        ["f<0>(a);", "f<1>(a);", "f<2>(a);"],
        ["f(2 * x);", "f(3 * x);", "f(4 * x);"],
        ["return f(&a[0]);", "return f(&a[4]);", "return f(&a[8]);"],
        ["// a", "// a", "// a"],
        ["float a = f(0), b = g(0);"] * 3,
        ["float a[16] = {", "  1.f, 2.f,", "  1.f, 2.f,", "  1.f, 2.f,", "};"],
        ["if (a) {", "  f(0);", "} else {", "  f(1);", "}", "if (a) {", "  f(1);", "} else {", "  f(2);", "}"],
    ],
)
def test_others_stay(lines):
    assert in_loops(lines) == lines
