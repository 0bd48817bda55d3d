"""Reductions over rows: softmax and layer normalisation; scans and a histogram."""

# ruff: noqa: N803 - constants are written in capitals, as everywhere in Triton
import triton
import triton.language as tl


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    """One row a program."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=float("-inf"))
    raised = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, raised / tl.sum(raised, axis=0), mask=at < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, BLOCK: tl.constexpr):
    """One row a program, in blocks: two passes over f16."""
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
        total += values
        squares += values * values
    mean = tl.sum(total, axis=0) / columns
    scale = tl.rsqrt(tl.sum(squares, axis=0) / columns - mean * mean + 1e-5)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        weights = tl.load(weight + at, mask=inside, other=0.0)
        shifts = tl.load(bias + at, mask=inside, other=0.0)
        tl.store(out + row * columns + at, ((values - mean) * scale * weights + shifts).to(tl.float16), mask=inside)


@triton.jit
def cumulative_sum(x, out, columns, BLOCK: tl.constexpr):
    """Sums of each row up to each column."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0)
    tl.store(out + row * columns + at, tl.cumsum(values, axis=0), mask=at < columns)


@triton.jit
def _compose(scale, shift, next_scale, next_shift):
    return scale * next_scale, shift * next_scale + next_shift


@triton.jit
def linear_recurrence(scale, shift, out, BLOCK: tl.constexpr):
    """h[t] = scale[t] * h[t - 1] + shift[t], as an associative scan."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    _, states = tl.associative_scan((tl.load(scale + at), tl.load(shift + at)), 0, _compose)
    tl.store(out + at, states)


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    """Counts of a block in shared memory, added to `bins` by atomics."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    counts = tl.histogram(values, BINS, mask=at < n)
    tl.atomic_add(bins + tl.arange(0, BINS), counts)


@triton.jit
def locked_sum(x, best, lock, columns, BLOCK: tl.constexpr):
    """Sum of the largest of each row, added up under a lock made of compare-and-swap and exchange."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-2147483648)
    largest = tl.max(values, axis=0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(best, tl.load(best) + largest)
    tl.atomic_xchg(lock, 0)
