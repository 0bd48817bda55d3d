"""Cases of `data/cuda/cluster.cu`, `mbarrier.cu`, `bulk.cu` and `tma.cu`: clusters, barriers in memory, TMA."""

import numpy as np

from ptxsim_cases.case import Arrays, Case, Im2col, Mutation, Tiled, no_barrier, poison
from ptxsim_cases.control_cases import integers
from ptxsim_cases.memory_cases import whole

F32 = np.float32


def _cluster_sum(arrays: Arrays) -> Arrays:
    sums = np.repeat(arrays["x"].reshape(2, 128).sum(1), 4) * 10 + np.arange(8) % 4
    return {"out": sums.astype(np.int32)}


def _cluster_sum_again(arrays: Arrays) -> Arrays:
    x = arrays["x"].tolist()
    return {"out": np.array([10 * sum(x[k // 4 * 128 : k // 4 * 128 + 128]) + k % 4 for k in range(8)], np.int32)}


def _exchanged(rows: int, width: int):
    """The two computations of: each block of a pair gets the other's row, reversed."""

    def expected(arrays: Arrays) -> Arrays:
        return {"out": arrays["x"].reshape(rows // 2, 2, width)[:, ::-1, ::-1].reshape(rows * width)}

    def again(arrays: Arrays) -> Arrays:
        index = [(k // width ^ 1) * width + width - 1 - k % width for k in range(rows * width)]
        return {"out": np.array([arrays["x"][k] for k in index])}

    return expected, again


def _cluster_values(generator: np.random.Generator) -> Arrays:
    return {"x": generator.integers(0, 64, 500).astype(np.int32), "out": np.zeros(64, np.int32)}


def _cluster_histogram(arrays: Arrays) -> Arrays:
    return {"out": np.bincount(arrays["x"], minlength=64).astype(np.int32)}


def _cluster_histogram_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([arrays["x"].tolist().count(k) for k in range(64)], np.int32)}


def _ring(arrays: Arrays) -> Arrays:
    return {"out": arrays["x"].reshape(7, 32)[:, ::-1] + np.arange(7, dtype=np.int32)[:, None]}


def _ring_again(arrays: Arrays) -> Arrays:
    x = arrays["x"].tolist()
    return {"out": np.array([[x[r * 32 + 31 - lane] + r for lane in range(32)] for r in range(7)], np.int32)}


def _double(arrays: Arrays) -> Arrays:
    return {"out": arrays["x"] * np.int32(2)}


def _double_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([v + v for v in arrays["x"].tolist()], np.int32)}


def _totals(generator: np.random.Generator) -> Arrays:
    return integers(256, -99, 99)(generator) | {"total": np.arange(64, dtype=np.int32)}


def _add(arrays: Arrays) -> Arrays:
    return {"total": arrays["total"] + arrays["x"].reshape(4, 64).sum(0).astype(np.int32)}


def _add_again(arrays: Arrays) -> Arrays:
    x = arrays["x"].tolist()
    return {"total": np.array([k + sum(x[k::64]) for k in range(64)], np.int32)}


ROWS, COLUMNS = 19, 36  # no multiple of a tile of 8 rows and 16 columns


def _scale(arrays: Arrays) -> Arrays:
    return {"out": (arrays["x"] * F32(0.5)).reshape(ROWS, COLUMNS)}


def _scale_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([v / 2 for v in arrays["x"].tolist()], F32).reshape(ROWS, COLUMNS)}


def _column_sums(arrays: Arrays) -> Arrays:
    return {"out": arrays["x"].reshape(-1, 32).sum(0)}


def _column_sums_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([sum(arrays["x"][k::32].tolist()) for k in range(32)], F32)}


def _multicast(arrays: Arrays) -> Arrays:
    return {"out": np.stack([arrays["x"], arrays["x"] + np.int32(1)])}


def _multicast_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([[v + rank for v in arrays["x"].tolist()] for rank in range(2)], np.int32)}


def _halves(generator: np.random.Generator) -> Arrays:
    return {
        "x": generator.integers(0, 2**16, (16, 64)).astype(np.uint16).view(np.float16),
        "out": poison(1024, dtype=np.uint16),
    }


def _swizzled(arrays: Arrays) -> Arrays:
    return {"out": arrays["x"].view(np.uint16).reshape(1024)}


def _swizzled_again(arrays: Arrays) -> Arrays:
    return {"out": np.frombuffer(arrays["x"].tobytes(), "<u2").copy()}


def _tma_totals(generator: np.random.Generator) -> Arrays:
    return {"x": generator.integers(-99, 99, 384).astype(F32), "total": generator.integers(-9, 9, (6, 12)).astype(F32)}


def _tma_add(arrays: Arrays) -> Arrays:
    return {"total": arrays["total"] + arrays["x"].reshape(3, 8, 16).sum(0)[:6, :12]}


def _tma_add_again(arrays: Arrays) -> Arrays:
    x = arrays["x"].tolist()
    added = [[sum(x[b * 128 + r * 16 + c] for b in range(3)) for c in range(12)] for r in range(6)]
    return {"total": np.array(added, F32) + arrays["total"]}


def _volume(generator: np.random.Generator) -> Arrays:
    return {"x": generator.integers(-99, 99, (3, 5, 12)).astype(F32), "out": poison(2, 4, 8, dtype=F32)}


def _box(arrays: Arrays) -> Arrays:
    return {"out": np.pad(arrays["x"], ((0, 1), (2, 0), (0, 8)))[2:4, 0:4, 7:15]}


def _box_again(arrays: Arrays) -> Arrays:
    out, x = np.zeros((2, 4, 8), F32), arrays["x"]
    for z, y, k in np.ndindex(out.shape):
        place = (z + 2, y - 2, k + 7)
        if all(0 <= p < n for p, n in zip(place, x.shape, strict=True)):
            out[z, y, k] = x[place]
    return {"out": out}


def _image(generator: np.random.Generator) -> Arrays:
    return {"x": generator.integers(-99, 99, (2, 4, 8, 8)).astype(F32), "out": poison(9, 64, 8, dtype=F32)}


def _im2col(arrays: Arrays) -> Arrays:
    padded = np.pad(arrays["x"], ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [padded[:, dy : dy + 4, dx : dx + 8] for dy in range(3) for dx in range(3)]
    return {"out": np.stack(taps).reshape(9, 64, 8)}


def _im2col_again(arrays: Arrays) -> Arrays:
    x, out = arrays["x"], np.zeros((9, 64, 8), F32)
    for tap, pixel in np.ndindex(9, 64):
        h, w = pixel // 8 % 4 + tap // 3 - 1, pixel % 8 + tap % 3 - 1
        if 0 <= h < 4 and 0 <= w < 8:
            out[tap, pixel] = x[pixel // 32, h, w]
    return {"out": out}


def _case(name, source, make, expected, again, arguments, grid, block, *mutations: Mutation, **more) -> Case:
    grid = (*grid, 1, 1)[:3]
    return Case(
        name,
        f"cuda/{source}.ptx",
        name,
        grid,
        (block, 1, 1),
        arguments,
        make,
        expected,
        again,
        mutations=mutations,
        **more,
    )


_EXPECT = r"^\s*mov\.\S+\s+(%r\d+), {};"
_FENCE = r"^\s*fence\.proxy\.async\.shared::cta;"
_LOOP = r"^\s*@!complete bra again;"
_CLUSTER = r"^\s*barrier\.cluster\.arrive\.release\.aligned;\s*barrier\.cluster\.wait\.acquire\.aligned;"
_FULL_TILE = Tiled("x", (COLUMNS, ROWS), (COLUMNS * 4,), (16, 8))
_PAIR, _PAIRS = _exchanged(2, 64), _exchanged(4, 32)
_I = np.int32
#: Reads that come before their data have arrived see what was there: nothing, or the bytes before.
_EARLY = ("async-in-flight", "uninitialized", "race")
_WRONG_BYTES = ("mbarrier-tx-mismatch", "deadlock")


#: Other threads use the mbarrier of the copies before they can know that it has been made.
_UNSHARED = no_barrier(0)


def bytes_off(count: int, index: int = 0, to: int | None = None) -> Mutation:
    """The mutation that expects 16 bytes more than the `count` that come (or `to`)."""
    return Mutation(
        f"{to or count + 16} bytes are expected",
        _EXPECT.format(count),
        _WRONG_BYTES,
        index,
        rf"mov.b32 \1, {to or count + 16};",
    )


CASES = (
    _case(
        "cluster_sum",
        "cluster",
        integers(256, -99, 99, out=(8,)),
        _cluster_sum,
        _cluster_sum_again,
        ("x", "out"),
        (8,),
        32,
        Mutation("the cluster is not waited for", _CLUSTER, ("race", "uninitialized")),
        Mutation("a block may end while another reads its memory", _CLUSTER, ("race",), 1),
        cluster=(4, 1, 1),
    ),
    _case(
        "cluster_exchange",
        "cluster",
        integers(128, -99, 99, out=(128,)),
        *_PAIRS,
        ("x", "out"),
        (4,),
        32,
        Mutation("the arrivals are not waited for", _LOOP, ("race", "uninitialized")),
        Mutation("nobody arrives", r"^\s*mbarrier\.arrive\.release.*;", ("deadlock",)),
        cluster=(2, 1, 1),
    ),
    _case(
        "cluster_histogram",
        "cluster",
        _cluster_values,
        _cluster_histogram,
        _cluster_histogram_again,
        ("x", "out", _I(500)),
        (2, 2),
        128,
        Mutation("zeros are not waited for", _CLUSTER, ("race", "uninitialized")),
        Mutation("counts are not waited for", _CLUSTER, ("race",), 1),
        cluster=(2, 2, 1),
    ),
    _case(
        "ring",
        "mbarrier",
        integers(224, -99, 99, out=(7, 32)),
        _ring,
        _ring_again,
        ("x", "out", _I(7)),
        (1,),
        64,
        Mutation("empty is not waited for", _LOOP, ("race",)),
        Mutation("full is not waited for", _LOOP, ("race", "uninitialized"), 1),
        Mutation("full is never said", r"^\s*mbarrier\.arrive\.shared::cta\.b64.*;", ("deadlock",)),
        no_barrier(0, "race", "uninitialized", "deadlock"),
    ),
    _case(
        "bulk_double",
        "bulk",
        integers(768, -99, 99, out=(768,)),
        _double,
        _double_again,
        ("x", "out", _I(3)),
        (1,),
        64,
        _UNSHARED,
        bytes_off(1024),
        bytes_off(1024, to=1008),
        Mutation("the load is not waited for", _LOOP, _EARLY),
        Mutation("no proxy fence", _FENCE, ("proxy-fence-missing",)),
        no_barrier(1, "race", "async-in-flight", "proxy-fence-missing"),
        Mutation(
            "the store is not waited for", r"^\s*cp\.async\.bulk\.wait_group\.read 0;", ("async-in-flight", "race")
        ),
    ),
    _case(
        "bulk_add",
        "bulk",
        _totals,
        _add,
        _add_again,
        ("x", "total"),
        (4,),
        64,
        Mutation("no proxy fence", _FENCE, ("proxy-fence-missing",)),
        no_barrier(0, "race", "proxy-fence-missing"),
    ),
    _case(
        "bulk_to_neighbour",
        "bulk",
        integers(128, -99, 99, out=(128,)),
        *_PAIR,
        ("x", "out"),
        (2,),
        64,
        bytes_off(256),
        Mutation("no proxy fence", _FENCE, ("proxy-fence-missing",)),
        Mutation("the copy is not waited for", _LOOP, _EARLY),
        cluster=(2, 1, 1),
    ),
    _case(
        "tma_scale",
        "tma",
        whole(ROWS * COLUMNS, out=(ROWS, COLUMNS)),
        _scale,
        _scale_again,
        (_FULL_TILE, Tiled("out", (COLUMNS, ROWS), (COLUMNS * 4,), (16, 8)), F32(0.5)),
        (3, 3),
        128,
        _UNSHARED,
        bytes_off(512),
        Mutation("the load is not waited for", _LOOP, _EARLY),
        Mutation("no proxy fence", _FENCE, ("proxy-fence-missing",)),
        no_barrier(1, "race", "proxy-fence-missing", "async-in-flight"),
    ),
    _case(
        "tma_ring",
        "tma",
        whole(7 * 8 * 32, out=(32,)),
        _column_sums,
        _column_sums_again,
        (Tiled("x", (32, 56), (128,), (32, 8)), "out", _I(7)),
        (1,),
        64,
        _UNSHARED,
        Mutation("full is not waited for", _LOOP, _EARLY),
        Mutation("empty is not waited for", _LOOP, ("race", "async-in-flight", "mbarrier-tx-mismatch", "deadlock"), 1),
        bytes_off(1024),
        Mutation("empty is never said", r"^\s*mbarrier\.arrive\.shared::cta\.b64.*;", ("deadlock",)),
    ),
    _case(
        "tma_multicast",
        "tma",
        integers(128, -99, 99, out=(2, 128)),
        _multicast,
        _multicast_again,
        (Tiled("x", (16, 8), (64,), (16, 4)), "out"),
        (2,),
        128,
        bytes_off(512, to=256),
        Mutation("only one block gets the rows", r"mov\.\S+\s+(%rs\d+), 3;", ("deadlock",), 0, r"mov.u16 \1, 1;"),
        cluster=(2, 1, 1),
    ),
    _case(
        "tma_swizzled",
        "tma",
        _halves,
        _swizzled,
        _swizzled_again,
        (Tiled("x", (64, 16), (128,), (64, 16), "128B"), "out"),
        (1,),
        128,
        _UNSHARED,
        Mutation("the load is not waited for", _LOOP, _EARLY),
    ),
    _case(
        "tma_add",
        "tma",
        _tma_totals,
        _tma_add,
        _tma_add_again,
        ("x", Tiled("total", (12, 6), (48,), (16, 8))),
        (3,),
        128,
        Mutation("no proxy fence", _FENCE, ("proxy-fence-missing",)),
        no_barrier(0, "race", "proxy-fence-missing"),
    ),
    _case(
        "tma_3d",
        "tma",
        _volume,
        _box,
        _box_again,
        (Tiled("x", (12, 5, 3), (48, 240), (8, 4, 2)), "out", _I(7), _I(-2), _I(2)),
        (1,),
        64,
        _UNSHARED,
        bytes_off(256),
    ),
    _case(
        "tma_im2col",
        "tma",
        _image,
        _im2col,
        _im2col_again,
        (Im2col("x", (8, 8, 4, 2), (32, 256, 1024), (-1, -1), (-1, -1), 8, 64), "out"),
        (1,),
        128,
        _UNSHARED,
        no_barrier(1, "race", "async-in-flight"),
        Mutation("the load is not waited for", _LOOP, _EARLY),
    ),
)
