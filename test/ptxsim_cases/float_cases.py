"""Cases of `data/cuda/floating.cu` and `half.cu`. Expected: numpy in a wider format; again: fractions, rounded once."""

import math
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np

from ptxsim_cases.case import Arrays, Case, poison

N = 90
F16, BF16 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
#: Format → bits of the significand, exponent of the smallest normal number.
FORMATS = {
    "f16": (11, -14),
    "bf16": (8, -126),
    "f32": (24, -126),
    "f64": (53, -1022),
    "e4m3": (4, -6),
    "e5m2": (3, -14),
}


def rounded(value: Fraction, name: str, direction: str = "n") -> float:
    """A number of the format: to nearest even, zero, up or down ("n", "z", "p", "m"); it must not overflow."""
    if value == 0:
        return 0.0
    bits, smallest = FORMATS[name]
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent = max(exponent if Fraction(2) ** exponent <= magnitude else exponent - 1, smallest)
    unit = Fraction(2) ** (exponent - bits + 1)
    steps = {"n": round, "z": math.trunc, "p": math.ceil, "m": math.floor}[direction](value / unit)
    return math.copysign(float(steps * unit), value)


def directed(exact: np.ndarray, direction: str) -> np.ndarray:
    """F32 numbers, not beyond `exact` (of a wider format) in the direction."""
    near = exact.astype(np.float32)
    down = np.where(near > exact, np.nextafter(near, np.float32(-np.inf)), near)
    up = np.where(near < exact, np.nextafter(near, np.float32(np.inf)), near)
    return {"n": near, "m": down, "p": up, "z": np.where(exact > 0, down, up)}[direction]


def flushed(values: np.ndarray) -> np.ndarray:
    """F32 numbers with zeros for the subnormal ones, the signs kept."""
    return np.where(np.abs(values) < 2.0**-126, np.copysign(np.float32(0), values), values).astype(np.float32)


def _floats(generator: np.random.Generator) -> Arrays:
    scale = 2.0 ** generator.integers(-3, 4, (3, N))
    a, b, c = (generator.normal(size=(3, N)) * scale).astype(np.float32)
    return {"a": a, "b": b, "c": c, "out": poison(20, N, dtype=np.float32)}


def _float_arithmetic(arrays: Arrays) -> Arrays:
    x, y, z = (arrays[name] for name in "abc")
    wide = [v.astype(np.longdouble) for v in (x, y, z)]
    rows = [directed(wide[0] + wide[1], d) for d in "nzpm"] + [directed(wide[0] * wide[1], d) for d in "nz"]
    rows += [directed(wide[0] * wide[1] + wide[2], d) for d in "nzpm"]
    rows += [x / y, np.float32(1) / y, np.sqrt(np.abs(x)), np.minimum(x, y), np.maximum(x, z), np.clip(x, 0, 1)]
    rows += [np.copysign(x, y), flushed(flushed(x * np.float32(1e-38)) + flushed(y * np.float32(1e-39)))]
    rows += [flushed(x * np.float32(1e-20) * (y * np.float32(1e-19))), np.where(x < y, -z, z)]
    return {"out": np.stack(rows).astype(np.float32)}


def _float_arithmetic_again(arrays: Arrays) -> Arrays:
    def tiny(value: float, factor: float) -> Fraction:
        return Fraction(rounded(Fraction(value) * Fraction(float(np.float32(factor))), "f32"))

    def flush(value: Fraction | float) -> Fraction:
        return Fraction(value) if abs(value) >= Fraction(2) ** -126 else Fraction(0)

    def column(x: float, y: float, z: float) -> list[float]:
        p, q, r = Fraction(x), Fraction(y), Fraction(z)
        values = [rounded(p + q, "f32", d) for d in "nzpm"] + [rounded(p * q, "f32", d) for d in "nz"]
        values += [rounded(p * q + r, "f32", d) for d in "nzpm"] + [rounded(p / q, "f32"), rounded(1 / q, "f32")]
        root = Fraction(math.isqrt(abs(p.numerator) * p.denominator * 4**60), p.denominator * 2**60)
        values += [rounded(root, "f32"), min(x, y), max(x, z), min(max(x, 0.0), 1.0), math.copysign(x, y)]
        small = rounded(flush(tiny(x, 1e-38)) + flush(tiny(y, 1e-39)), "f32")
        product = rounded(tiny(x, 1e-20) * tiny(y, 1e-19), "f32")
        return [*values, float(flush(small)), float(flush(product)), -z if x < y else z]

    triples = zip(*(arrays[name].astype(float) for name in "abc"), strict=True)
    return {"out": np.array([column(*triple) for triple in triples], np.float32).T}


def _doubles(generator: np.random.Generator) -> Arrays:
    a, b = generator.normal(size=(2, N)) * 2.0 ** generator.integers(-3, 4, (2, N))
    return {"a": a, "b": b, "out": poison(8, N, dtype=np.float64)}


def _double_arithmetic(arrays: Arrays) -> Arrays:
    """The rounding errors of sums and products, exactly: by Knuth's and Dekker's transformations."""
    x, y = arrays["a"], arrays["b"]
    total, product = x + y, x * y
    back = total - x
    sum_error = (x - (total - back)) + (y - back)
    splits = [(v * 134217729.0 - (v * 134217729.0 - v)) for v in (x, y)]
    (xh, yh), (xl, yl) = splits, (x - splits[0], y - splits[1])
    product_error = xl * yl - (((product - xh * yh) - xl * yh) - xh * yl)
    beyond = np.sign(product_error) * np.sign(product) < 0
    truncated = np.where(beyond, np.nextafter(product, 0), product)
    fused = (product.astype(np.longdouble) + 1 + product_error).astype(np.float64)
    up = np.where(sum_error > 0, np.nextafter(total, np.inf), total)
    rows = [total, truncated, fused, x / y, np.sqrt(np.abs(x)), up, x.astype(np.float32), np.minimum(x, np.floor(y))]
    return {"out": np.stack(rows).astype(np.float64)}


def _double_arithmetic_again(arrays: Arrays) -> Arrays:
    def column(x: float, y: float) -> list[float]:
        p, q = Fraction(x), Fraction(y)
        root = Fraction(math.isqrt(abs(p.numerator) * p.denominator * 4**120), p.denominator * 2**120)
        exact = [(p + q, "n"), (p * q, "z"), (p * q + 1, "n"), (p / q, "n"), (root, "n"), (p + q, "p")]
        return [rounded(*value) for value in [(v, "f64", d) for v, d in exact]] + [
            rounded(p, "f32"),
            min(x, math.floor(y)),
        ]

    return {"out": np.array([column(*pair) for pair in zip(arrays["a"], arrays["b"], strict=True)]).T}


def _mixed(generator: np.random.Generator) -> Arrays:
    a = (generator.normal(size=N) * 60).astype(np.float32)
    a[:8] = [0.5, 1.5, -0.5, -2.5, 300, -300, 127.5, 255.5]
    b = generator.integers(-(2**31), 2**31, N).astype(np.int32)
    b[::2] //= 2**16
    return {"a": a, "b": b, "out": poison(17, N, dtype=np.uint32)}


def _conversions(arrays: Arrays) -> Arrays:
    x, y = arrays["a"], arrays["b"]
    d, u = x.astype(np.float64), y.view(np.uint32)
    wide = y.astype(np.float64)
    big = (x * np.float32(1e6)).astype(np.int64) >> 8
    floats = [directed(wide, "n"), directed(wide, "z"), directed(wide, "p"), directed(u.astype(np.float64), "m")]
    floats += [np.floor(x) + np.float32(2) * np.ceil(x), np.trunc(x) - np.rint(x)]
    rows = [np.rint(d), np.trunc(d), np.ceil(d), np.floor(d), np.maximum(np.trunc(d), 0), big]
    rows += [row.astype(np.float32).view(np.uint32) for row in floats]
    rows += [
        np.clip(np.rint(d), 0, 255),
        np.clip(np.trunc(d), -128, 127),
        np.clip(y, -(2**15), 2**15 - 1),
        np.clip(y, 0, 255),
    ]
    return {
        "out": np.stack([np.asarray(row).astype(np.int64).astype(np.uint32) for row in [*rows, np.floor(d * 0.125)]])
    }


def _conversions_again(arrays: Arrays) -> Arrays:
    def bits(value: float) -> int:
        return int(np.float32(value).view(np.uint32))

    def column(x: float, y: int) -> list[int]:
        rows = [round(Fraction(x)), int(x), math.ceil(x), math.floor(x), max(int(x), 0)]
        rows += [int(rounded(Fraction(x) * 1000000, "f32")) >> 8]
        rows += [bits(rounded(Fraction(y), "f32", d)) for d in "nzp"] + [bits(rounded(Fraction(y % 2**32), "f32", "m"))]
        rows += [bits(math.floor(x) + 2 * math.ceil(x)), bits(math.copysign(int(x) - round(Fraction(x)), 1))]
        if int(x) - round(Fraction(x)) < 0:
            rows[-1] |= 1 << 31
        rows += [min(max(round(Fraction(x)), 0), 255), min(max(int(x), -128), 127), min(max(y, -(2**15)), 2**15 - 1)]
        return [*rows, min(max(y, 0), 255), math.floor(x / 8)]

    pairs = zip(arrays["a"].astype(float), arrays["b"].astype(int), strict=True)
    return {"out": np.array([[value % 2**32 for value in column(x, int(y))] for x, y in pairs], np.uint32).T}


def _angles(generator: np.random.Generator) -> Arrays:
    return {
        "a": generator.uniform(0.05, 3.1, N).astype(np.float32) * generator.choice([-1, 1], N).astype(np.float32),
        "out": poison(12, N, dtype=np.float32),
    }


def _approximations(arrays: Arrays) -> Arrays:
    x = arrays["a"].astype(np.float64)
    m = np.abs(x)
    rows = [np.exp2(x), np.log2(m), 1 / x, 1 / np.sqrt(m), np.sqrt(m), np.sin(x), np.cos(x), np.tanh(x), 1.5 / x]
    return {"out": np.stack([*rows, np.exp(x), np.log(m), [math.erf(v) for v in x]]).astype(np.float32)}


def _approximations_again(arrays: Arrays) -> Arrays:
    def column(x: float) -> list[float]:
        m, e = abs(x), math.exp(2 * x)
        erf = (
            2
            / math.sqrt(math.pi)
            * sum((-1) ** k * x ** (2 * k + 1) / (math.factorial(k) * (2 * k + 1)) for k in range(60))
        )
        rows = [math.exp(x * math.log(2)), math.log(m) / math.log(2), 1 / x, m**-0.5, m**0.5, math.cos(x - math.pi / 2)]
        return [
            *rows,
            math.sin(x + math.pi / 2),
            (e - 1) / (e + 1),
            3 / (2 * x),
            math.sqrt(e),
            2 * math.log(math.sqrt(m)),
            erf,
        ]

    return {"out": np.array([column(x) for x in arrays["a"].astype(float)], np.float32).T}


def _packed(dtype: np.dtype, rows: int) -> Callable[[np.random.Generator], Arrays]:
    def make(generator: np.random.Generator) -> Arrays:
        a, b, c = generator.normal(size=(3, N, 2)).astype(dtype)
        return {"a": a, "b": b, "c": c, "out": poison(rows, N, 2, dtype=dtype)}

    return make


def _half_arithmetic(arrays: Arrays) -> Arrays:
    x, y, z = (arrays[name].astype(np.float64) for name in "abc")
    scaled = np.stack([x[:, 0].astype(np.float32) * np.float32(3.7), y[:, 1].astype(np.float32) * np.float32(0.3)], -1)
    mixed = np.stack([np.trunc(x[:, 0]), x[:, 1] + y[:, 0]], -1)
    rows = [x + y, x - y, x * y, x * y + z, np.maximum(x * y + z, 0), np.maximum(x, y), np.minimum(x, z), np.abs(-x)]
    return {"out": np.stack([*rows, scaled, mixed, (x > y) * 1.0]).astype(F16)}


def _half_arithmetic_again(arrays: Arrays) -> Arrays:
    def column(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> list[list[float]]:
        p, q, r = ([Fraction(float(v)) for v in vector] for vector in (x, y, z))
        exact = [[u + v for u, v in zip(p, q, strict=True)], [u - v for u, v in zip(p, q, strict=True)]]
        exact += [[u * v for u, v in zip(p, q, strict=True)], [u * v + w for u, v, w in zip(p, q, r, strict=True)]]
        exact += [
            [max(v, Fraction(0)) for v in exact[3]],
            list(map(max, p, q)),
            list(map(min, p, r)),
            list(map(abs, p)),
        ]
        factors = [Fraction(float(np.float32(value))) for value in (3.7, 0.3)]
        exact += [[Fraction(rounded(v * f, "f32")) for v, f in zip((p[0], q[1]), factors, strict=True)]]
        exact += [[Fraction(int(p[0])), p[1] + q[0]], [Fraction(u > v) for u, v in zip(p, q, strict=True)]]
        return [[rounded(v, "f16") for v in row] for row in exact]

    triples = zip(*(arrays[name] for name in "abc"), strict=True)
    return {"out": np.array([column(*triple) for triple in triples]).transpose(1, 0, 2).astype(F16)}


def _bfloat_arithmetic(arrays: Arrays) -> Arrays:
    x, y, z = (arrays[name].astype(np.float64) for name in "abc")
    scaled = np.stack([x[:, 0].astype(np.float32) * np.float32(3.7), y[:, 1].astype(np.float32) * np.float32(0.3)], -1)
    rows = [x * y + z, np.maximum(x, y), np.maximum(x * y + z, 0), scaled, -np.abs(x)]
    return {"out": np.stack([row.astype(np.float32).astype(BF16) for row in rows])}


def _bfloat_arithmetic_again(arrays: Arrays) -> Arrays:
    def column(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> list[list[float]]:
        p, q, r = ([Fraction(float(v)) for v in vector] for vector in (x, y, z))
        fused = [u * v + w for u, v, w in zip(p, q, r, strict=True)]
        factors = [Fraction(float(np.float32(value))) for value in (3.7, 0.3)]
        scaled = [Fraction(rounded(v * f, "f32")) for v, f in zip((p[0], q[1]), factors, strict=True)]
        rows = [fused, list(map(max, p, q)), [max(v, Fraction(0)) for v in fused], scaled, [-abs(v) for v in p]]
        return [[rounded(v, "bf16") for v in row] for row in rows]

    triples = zip(*(arrays[name] for name in "abc"), strict=True)
    return {"out": np.array([column(*triple) for triple in triples]).transpose(1, 0, 2).astype(BF16)}


def _case(name, source, make, expected, again, inputs, **more) -> Case:
    arguments = (*inputs, "out", np.int32(N))
    return Case(name, f"cuda/{source}.ptx", name, (3, 1, 1), (32, 1, 1), arguments, make, expected, again, **more)


CASES = (
    _case("float_arithmetic", "floating", _floats, _float_arithmetic, _float_arithmetic_again, "abc"),
    _case("double_arithmetic", "floating", _doubles, _double_arithmetic, _double_arithmetic_again, "ab"),
    _case("conversions", "floating", _mixed, _conversions, _conversions_again, "ab"),
    # The bound is that of tanh.approx.f32, 2^-10.987; the others are far more exact.
    _case("approximations", "floating", _angles, _approximations, _approximations_again, "a", rtol=5e-4, atol=1e-5),
    _case("half_arithmetic", "half", _packed(F16, 11), _half_arithmetic, _half_arithmetic_again, "abc"),
    _case("bfloat_arithmetic", "half", _packed(BF16, 5), _bfloat_arithmetic, _bfloat_arithmetic_again, "abc"),
)
