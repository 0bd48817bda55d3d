"""Places that are declared alike, as arrays that loops go through."""

from tinyc.dialects.cuda.printer.rolling import in_loops


def places(names, sign="+"):
    """Declarations of places 8 lines apart, and a call with each of them behind it."""
    for number, name in enumerate(names):
        yield f"  const int64_t {name} = row {sign} {8 * number};"
        yield f"  ptx::load(base + {64 * number}, &X[{name}]);"


def test_what_is_declared_alike_is_an_array():
    lines = [*places(["at0", "at1", "at2"]), "  ptx::wait();", *(f"  ptx::store(&Y[at{n}]);" for n in range(3))]
    assert in_loops(lines) == [
        "  int64_t at0[3];",
        "  #pragma unroll",
        "  for (int n = 0; n < 3; ++n) {",
        "    at0[n] = row + 8 * n;",
        "  }",
        "  #pragma unroll",
        "  for (int n = 0; n < 3; ++n) {",
        "    ptx::load(base + 64 * n, &X[at0[n]]);",
        "  }",
        "  ptx::wait();",
        "  #pragma unroll",
        "  for (int n = 0; n < 3; ++n) {",
        "    ptx::store(&Y[at0[n]]);",
        "  }",
    ]


def test_what_no_loop_goes_through_has_its_name():
    lines = ["  const int64_t at0 = row + 0;", "  const int64_t at1 = row + 8;", "  f(&X[at0]);", "  g(&Y[at1]);"]
    assert in_loops(lines) == [line.replace(" + 0", "") for line in lines]


def test_what_is_declared_once_stands_before_calls_that_are_alike():
    calls = [f"  ptx::f(&a[{number}], x);" for number in range(3)]
    lines = [calls[0], "  const uint32_t y = x * 2;", *calls[1:], "  ptx::g(y);"]
    assert in_loops(lines)[:3] == ["  const uint32_t y = x * 2;", "  #pragma unroll", "  for (int n = 0; n < 3; ++n) {"]
    # Not where what stands before it changes what it is, nor where it gets something.
    for other in (["  x = 3;", "  const uint32_t y = x * 2;"], ["  const uint32_t y = ptx::elect();"]):
        changed = [calls[0], *other, *calls[1:]]
        assert in_loops(changed) == changed
