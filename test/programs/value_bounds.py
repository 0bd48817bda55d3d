"""What is known of the values of a random program: their range, and how far two correct executors may be apart.

The rules are worst cases, so that a test that allows `error` never fails by chance. `error` 0 means equal bit for bit:
only such values may meet an op that jumps (floor, comparisons, float to integer, top-k). A rule gives None where the op
should not be applied: outside its domain, or where the error or the magnitude would grow beyond use.
"""

import math
from dataclasses import dataclass, replace

_LEAST = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 2.0**-1074}
_LIMIT = {"f16": 2.0**10, "bf16": 2.0**10, "f32": 2.0**20, "f64": 2.0**20}
_AWAY_FROM_ZERO = 2.0**-6
_MAX_RELATIVE_ERROR = 0.02


@dataclass(frozen=True)
class Bounds:
    """Finite values lie in [low, high]; `whole` ones are integers; `special` allows NaN and infinities beside them."""

    low: float
    high: float
    error: float = 0.0
    whole: bool = False
    special: bool = False

    @property
    def magnitude(self):
        return max(abs(self.low), abs(self.high))

    @property
    def exact(self):
        return self.error == 0


BOOL = Bounds(0, 1, whole=True)


def full(element):
    return Bounds(*element.integer_range, whole=True)


def ulp(element, magnitude):
    return max(2 * element.unit_roundoff * magnitude, _LEAST[element])


def checked(element, low, high, error=0.0, whole=False, special=False):
    """Return the bounds of a result of that type; an integer outside its type wraps."""
    if not element.is_float:
        least, greatest = element.integer_range
        return Bounds(low, high, whole=True) if least <= low and high <= greatest else full(element)
    found = Bounds(low, high, error, whole, special)
    too_large = found.magnitude > _LIMIT[element]
    return None if too_large or error > _MAX_RELATIVE_ERROR * max(1.0, found.magnitude) else found


def rounded(element, low, high, error, *operands, libm=False):
    """Return the bounds of a float op: deterministic on exact operands, unless it is one of the C library's."""
    magnitude = max(abs(low), abs(high))
    error += 4 * ulp(element, magnitude) if libm else ulp(element, magnitude) if error else 0.0
    return checked(element, low, high, error, special=any(each.special for each in operands))


def union(element, *parts):
    return Bounds(
        min(each.low for each in parts),
        max(each.high for each in parts),
        max(each.error for each in parts),
        all(each.whole for each in parts),
        any(each.special for each in parts),
    )


# --- element-wise -----------------------------------------------------------------------------------------------------


def unary(op, element, a):
    if op == "NEG":
        return replace(a, low=-a.high, high=-a.low) if element.is_float else checked(element, -a.high, -a.low)
    if op == "RELU":
        return replace(a, low=max(a.low, 0), high=max(a.high, 0))
    if op == "NOT":
        return full(element)
    if op == "FLOOR":
        return replace(a, low=math.floor(a.low), high=math.floor(a.high), whole=True) if a.exact else None
    return _UNARY_FLOAT[op](element, a)


def _sqrt(element, a):
    if a.low < (0 if a.exact else _AWAY_FROM_ZERO):
        return None
    error = a.error / (2 * math.sqrt(a.low)) if a.error else 0.0
    return rounded(element, math.sqrt(a.low), math.sqrt(a.high), error, a)


def _rsqrt(element, a):
    if a.low < _AWAY_FROM_ZERO or a.special:
        return None
    return rounded(element, a.high**-0.5, a.low**-0.5, a.error / 2 * a.low**-1.5, a)


def _recip(element, a):
    least = _least_magnitude(a)
    return rounded(element, 1 / a.high, 1 / a.low, a.error / least**2, a) if least else None


def _least_magnitude(a):
    """Return the distance from 0, or None where it is too small for a division."""
    least = max(a.low, -a.high)
    return None if least < _AWAY_FROM_ZERO or a.special else least


def _exp2(element, a):
    if a.low < -20 or a.high > 6:
        return None
    return rounded(element, 2.0**a.low, 2.0**a.high, a.error * 2.0**a.high, a, libm=True)


def _log2(element, a):
    if a.low < _AWAY_FROM_ZERO or a.special:
        return None
    return rounded(element, math.log2(a.low), math.log2(a.high), 1.5 * a.error / a.low, a, libm=True)


def _within_one(element, a):
    """Sine, error function, hyperbolic tangent: the slope is below 1.2."""
    return rounded(element, -1, 1, 1.2 * a.error, a, libm=True)


_UNARY_FLOAT = {
    "SQRT": _sqrt,
    "RSQRT": _rsqrt,
    "RECIP": _recip,
    "EXP2": _exp2,
    "LOG2": _log2,
    "SIN": _within_one,
    "ERF": _within_one,
    "TANH": _within_one,
}


def binary(op, element, a, b):
    if op in ("CMP_LT", "CMP_EQ"):
        return BOOL if a.exact and b.exact else None
    if op in ("MAX", "MIN"):
        choose = max if op == "MAX" else min
        return replace(union(element, a, b), low=choose(a.low, b.low), high=choose(a.high, b.high))
    if op in ("AND", "OR", "XOR"):
        return full(element)
    if op in ("IDIV", "MOD"):
        return _division(op, element, a, b)
    if op == "FDIV":
        least = _least_magnitude(b)
        if not least:
            return None
        corners = [x / y for x in (a.low, a.high) for y in (b.low, b.high)]
        return rounded(element, *_span(corners), a.error / least + a.magnitude * b.error / least**2, a, b)
    return _ring(op, element, a, b)


def _ring(op, element, a, b):
    low, high = _span(_corners(op, a, b))
    if not element.is_float:
        return checked(element, low, high)
    error = a.magnitude * b.error + b.magnitude * a.error if op == "MUL" else a.error + b.error
    found = rounded(element, low, high, error, a, b)
    return replace(found, whole=a.whole and b.whole) if found else None


def _corners(op, a, b):
    if op == "MUL":
        return [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return [a.low + b.low, a.high + b.high] if op == "ADD" else [a.low - b.high, a.high - b.low]


def _span(values):
    return min(values), max(values)


def _division(op, element, a, b):
    if op == "IDIV":
        return checked(element, -a.magnitude if a.low < 0 or b.low < 0 else 0, a.magnitude)
    high = min(a.high, b.high - 1) if b.low > 0 else a.high
    return checked(element, min(a.low, 0), max(high, 0))


def cast(source, target, a):
    if target == "i1":
        return BOOL if a.exact else None
    if target.is_float:
        error = a.error + ulp(target, a.magnitude) if a.error else 0.0
        return checked(target, a.low, a.high, error, a.whole, a.special)
    if not source.is_float:
        return checked(target, a.low, a.high)
    if not a.exact:
        return None
    least, greatest = target.integer_range
    if a.special:
        return full(target)
    return Bounds(max(min(math.trunc(a.low), 0), least), min(max(math.trunc(a.high), 0), greatest), whole=True)


# --- reductions -------------------------------------------------------------------------------------------------------


def product(element, accumulator, a, b):
    """Return the bounds of the terms of a sum of products, formed in the accumulator's type; None: too unlike."""
    if element.is_float != accumulator.is_float or accumulator.bits < element.bits:
        return None
    if element.is_float and element != accumulator and accumulator.bits == element.bits:
        return None
    return binary("MUL", accumulator, a, b)


def reduce(op, source, accumulator, a, count):
    """Return the bounds of a reduction of `count` terms with bounds `a`, which are of type `source`."""
    term = cast(source, accumulator, a) if source != accumulator else a
    if term is None:
        return None
    if op in ("MAX", "MIN"):
        if count:
            return term
        return Bounds(0, 0, special=True) if accumulator.is_float else full(accumulator)
    if not count:
        return Bounds(int(op == "PROD"), int(op == "PROD"), whole=True)
    return _sum(accumulator, term, count) if op == "SUM" else _product_of_all(accumulator, term, count)


def _sum(element, term, count):
    low, high = count * min(term.low, 0), count * max(term.high, 0)
    if not element.is_float:
        return checked(element, low, high)
    magnitude = max(abs(low), abs(high))
    if term.exact and term.whole and magnitude <= 1 / element.unit_roundoff:
        return checked(element, low, high, whole=True, special=term.special)
    error = count * (term.error + 2 * element.unit_roundoff * (magnitude + term.magnitude))
    return checked(element, low, high, error, special=term.special)


def _product_of_all(element, term, count):
    base = max(term.magnitude, 1)
    if count * math.log2(base) > 40:
        return full(element) if not element.is_float else None
    magnitude = base**count
    low = 0 if term.low >= 0 else -magnitude
    if not element.is_float:
        return checked(element, low, magnitude)
    if term.exact and term.whole and magnitude <= 1 / element.unit_roundoff:
        return checked(element, low, magnitude, whole=True, special=term.special)
    error = count * (base ** (count - 1) * term.error + 2 * element.unit_roundoff * magnitude)
    return checked(element, low, magnitude, error, special=term.special)
