"""Functions of `math` as arithmetic: run on the CPU, where it is the same arithmetic, against exact values."""

import ctypes
import functools
import math
import re
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest

from tinyc import pipeline
from tinyc.codegen import software_math
from tinyc.dialects.exec.to_llvm.llvm_ir import llvm_ir_of
from tinyc.dialects.registry import context
from tinyc.mlir import ir
from tinyc.runtime.jit import compile_object
from tinyc.runtime.object_code import Code

NAMES = sorted(kind.OPERATION_NAME.removeprefix("math.") for kind in software_math.FUNCTIONS)
TYPES = [np.float32, np.float64]
INF, NAN = math.inf, math.nan
#: No --convert-math-to-libm: what is not expanded to intrinsics is an error.
LOWERING = (
    "convert-scf-to-cf,convert-math-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,"
    "convert-func-to-llvm,reconcile-unrealized-casts"
)


@functools.cache
def llvm_ir(name: str, element: str) -> str:
    """Return LLVM IR of a loop `y[i] = math.name(x[i])`, with the function expanded."""
    source = f"""
gpu.module @kernels {{
  func.func @each(%x: memref<?x{element}>, %y: memref<?x{element}>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?x{element}>
    scf.for %i = %c0 to %n step %c1 {{
      %0 = memref.load %x[%i] : memref<?x{element}>
      %1 = math.{name} %0 : {element}
      memref.store %1, %y[%i] : memref<?x{element}>
    }}
    return
  }}
}}"""
    with context(), ir.Location.unknown():
        module = ir.Module.parse(source)  # the operations live no longer than it
        kernels = module.body.operations[0]
        software_math.expand_functions(kernels)
        host = ir.Module.create()
        kernels.regions[0].blocks[0].operations[0].operation.clone(ip=ir.InsertionPoint(host.body))
        pipeline.parse(LOWERING).run(host)
        return llvm_ir_of(host)


@functools.cache
def code(name: str, element: str) -> Code:
    return Code(compile_object(llvm_ir(name, element)).image, ["each"])


def run(name: str, values: np.ndarray) -> np.ndarray:
    """Return the function of each of `values`, in their type."""
    results = np.full_like(values, 77)
    memref = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    each = code(name, f"f{values.itemsize * 8}")
    pointers = values.ctypes.data, results.ctypes.data
    arguments = [each_argument for p in pointers for each_argument in (p, p, 0, values.size, 1)]
    ctypes.CFUNCTYPE(None, *memref, *memref)(each.addresses["each"])(*arguments)
    return results


# --- exact values -----------------------------------------------------------------------------------------------------


@functools.cache
def pi() -> Decimal:
    """Return π to 400 digits by the arithmetic-geometric mean (Brent, Salamin)."""
    with localcontext(Context(prec=420)):
        a, b, t, p = Decimal(1), 1 / Decimal(2).sqrt(), Decimal("0.25"), 1
        for _ in range(9):
            mean = (a + b) / 2
            a, b, t, p = mean, (a * b).sqrt(), t - p * (a - mean) ** 2, 2 * p
        return (a + b) ** 2 / (4 * t)


def series(first: Decimal, ratio) -> Decimal:
    """Return the sum of terms, each `ratio(k)` times the one before."""
    total, term, k = first, first, 0
    while term and term.adjusted() > total.adjusted() - 60:
        k += 1
        term *= ratio(k)
        total += term
    return total


def exact_sin(x: Decimal) -> Decimal:
    with localcontext(Context(prec=400)):  # 2^1024 has 309 digits
        r = x - (x / pi()).to_integral_value() * pi()
        sign = -1 if int((x / pi()).to_integral_value()) % 2 else 1
    return sign * series(+r, lambda k: -r * r / (2 * k * (2 * k + 1)))


def exact_cos(x: Decimal) -> Decimal:
    with localcontext(Context(prec=400)):
        shifted = x + pi() / 2
    return exact_sin(shifted)


def exact_tanh(x: Decimal) -> Decimal:
    if abs(x) < Decimal("1e-30"):
        return x
    power = (2 * x).exp()
    return (power - 1) / (power + 1)


def exact_erf(x: Decimal) -> Decimal:
    terms = series(x, lambda k: -x * x * (2 * k - 1) / (k * (2 * k + 1)))
    return 2 / pi().sqrt() * terms


EXACT = {
    "exp2": lambda x: (x * Decimal(2).ln()).exp(),
    "log": Decimal.ln,
    "log2": lambda x: x.ln() / Decimal(2).ln(),
    "sin": exact_sin,
    "cos": exact_cos,
    "tanh": exact_tanh,
    "erf": exact_erf,
}


def error_in_ulps(result: float, x: float, name: str, kind: type) -> float:
    """Return by how many units in the last place of the exact value, rounded to `kind`, the result is off."""
    exact = EXACT[name](Decimal(x))
    unit = np.spacing(abs(kind(float(exact)))) if exact else np.spacing(kind(0))
    return float(abs(Decimal(float(result)) - exact) / Decimal(float(unit)))


def spread(least: float, greatest: float, count: int, kind: type, seed: int = 1) -> np.ndarray:
    """Return positive numbers, as many in each binade between two numbers."""
    integer = np.int32 if kind == np.float32 else np.int64
    ends = [int(kind(end).view(integer)) for end in (least, greatest)]
    return np.random.default_rng(seed).integers(*ends, count).astype(integer).view(kind)


def arguments(name: str, kind: type) -> np.ndarray:
    """Return arguments of all sizes at which the function is neither constant nor out of range."""
    limits = np.finfo(kind)
    uniform = np.random.default_rng(2).uniform
    tiny = float(limits.smallest_subnormal)
    if name in ("log", "log2"):
        beside_1 = spread(float(limits.eps), 0.4, 100, kind)
        parts = [spread(tiny, float(limits.max), 200, kind), 1 + beside_1, 1 - beside_1, uniform(0.5, 2, 100)]
    elif name == "exp2":
        least = math.log2(tiny)
        parts = [uniform(least, limits.maxexp, 200), uniform(least, limits.minexp, 50), uniform(-2, 2, 100)]
    else:
        greatest = float(limits.max) if name in ("sin", "cos") else 20.0 if name == "tanh" else 6.0
        parts = [spread(tiny, greatest, 200, kind), uniform(0.3, 2, 100), uniform(0, min(greatest, 50), 100)]
    values = np.concatenate([part.astype(kind) for part in parts])
    return values if name in ("exp2", "log", "log2") else np.concatenate([values, -values[::3]])


# --- tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_within_two_units_in_the_last_place(name, kind):
    values = arguments(name, kind)
    results = run(name, values)
    with localcontext(Context(prec=90)):
        errors = [error_in_ulps(r, float(x), name, kind) for r, x in zip(results, values, strict=True)]
    worst = int(np.argmax(errors))
    assert errors[worst] <= 2, (values[worst], results[worst])


#: The first is the f64 that is closest to a multiple of π/2 (Kahan); then huge ones, and ends of ranges and of words.
HUGE_ANGLES = [
    *(6381956970095103 * 2.0**797, 1e22, 2.0**1000, 2.0**1023, np.finfo(np.float64).max),
    *(2.0**30, np.nextafter(2.0**30, 0), np.nextafter(2.0**30, INF), 2.0**31 + 1, 2.0**94, 2.0**95, 2.0**158),
]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_an_angle_of_any_size_and_near_a_multiple_of_a_right_angle_is_reduced_exactly(name, kind):
    with localcontext(Context(prec=90)):
        multiples = [float(pi() / 2 * k) for k in [*range(1, 40), 2**20 + 1, 2**29 - 1, 2**30 + 1, 3 * 2**50, 10**30]]
        angles = np.array(
            [
                *multiples,
                *HUGE_ANGLES,
                *spread(0.5, 2.0**30, 400, kind),
                *spread(2.0**30, np.finfo(kind).max, 400, kind),
            ]
        )
        values = angles[angles <= np.finfo(kind).max].astype(kind)
        results = run(name, values)
        for result, value in zip(results, values, strict=True):
            assert error_in_ulps(result, float(value), name, kind) <= 1, value


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("exp2", [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0), (1e5, INF), (-1e5, 0.0), (1e-40, 1), (NAN, NAN)]),
        ("log", [(0.0, -INF), (-0.0, -INF), (1, 0.0), (INF, INF), (-INF, NAN), (-1, NAN), (-1e-40, NAN), (NAN, NAN)]),
        ("log2", [(0.0, -INF), (-0.0, -INF), (1, 0.0), (INF, INF), (-INF, NAN), (-1, NAN), (-1e-40, NAN), (NAN, NAN)]),
        ("sin", [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]),
        ("cos", [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN), (NAN, NAN)]),
        ("tanh", [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (30, 1), (-1e5, -1), (NAN, NAN)]),
        ("erf", [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (6.5, 1), (-1e5, -1), (NAN, NAN)]),
    ],
)
def test_a_special_value_is_that_of_ieee_754(name, pairs, kind):
    values, expected = np.array(pairs).astype(kind).T.copy()
    results = run(name, values)
    np.testing.assert_array_equal(results, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(results[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("kind", TYPES)
def test_powers_of_two_are_exact_down_to_the_least_subnormal_number(kind):
    exponents = np.arange(math.log2(float(np.finfo(kind).smallest_subnormal)), np.finfo(kind).maxexp).astype(kind)
    powers = np.ldexp(kind(1), exponents.astype(np.int32))
    np.testing.assert_array_equal(run("exp2", exponents), powers)
    np.testing.assert_array_equal(run("log2", powers), exponents)


@pytest.mark.parametrize("kind", TYPES)
def test_a_power_of_two_below_half_of_the_least_number_is_zero_and_above_the_greatest_is_infinite(kind):
    limits = np.finfo(kind)
    least = math.log2(float(limits.smallest_subnormal))
    ends = np.array([least - 1.01, least - 0.9, limits.maxexp, np.nextafter(kind(limits.maxexp), kind(0))], kind)
    results = run("exp2", ends)
    np.testing.assert_array_equal(results[:3], [0, limits.smallest_subnormal, INF])
    assert np.isfinite(results[3])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ["sin", "tanh", "erf"])
def test_an_odd_function_is_odd(name, kind):
    values = spread(float(np.finfo(kind).smallest_subnormal), 1e30, 1000, kind)
    np.testing.assert_array_equal(run(name, -values), -run(name, values))


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", NAMES)
def test_only_intrinsics_that_every_gpu_has_are_called(name, element):
    called = set(re.findall(r"@([\w.]+)\(", llvm_ir(name, element))) - {"each"}
    assert called <= {
        f"llvm.{intrinsic}.{kind}" for intrinsic in ("fma", "fabs", "copysign") for kind in ("f32", "f64")
    }


def test_other_functions_and_other_types_stay():
    source = """
gpu.module @kernels {
  func.func @f(%x: f32, %h: f16) -> (f32, f16) {
    %0 = math.sqrt %x : f32
    %1 = math.floor %0 : f32
    %2 = math.exp2 %1 : f32
    %3 = math.exp2 %h : f16
    return %2, %3 : f32, f16
  }
}"""
    with context(), ir.Location.unknown():
        module = ir.Module.parse(source)
        software_math.expand_functions(module.body.operations[0])
        left = re.findall(r"math\.(?!fma).*", str(module))
    assert left == ["math.sqrt %arg0 : f32", "math.floor %0 : f32", "math.exp2 %arg1 : f16"]
