"""Cases of `data/cuda/tensormap.cu`: tensor maps that a kernel changes, and one in global memory.

Expected: numpy's rows and sums; again: element by element.
"""

import numpy as np

from ptxsim_cases.case import Arrays, Case, Mutation, Tiled, poison

F32, S32 = np.float32, np.int32
_ROWS = (5, 16, 1)
_COUNT = 5
_MATRIX = (20, 40)
_ACQUIRE = r"^\s*fence\.proxy\.tensormap::generic\.acquire\.gpu [^;]*;"
_LOOP = r"^\s*@!complete bra again;"


def _groups(generator: np.random.Generator) -> Arrays:
    starts = np.cumsum((0, *_ROWS[:-1])) * 16
    return {
        "like": np.zeros((16, 16), F32),
        "maps": np.zeros((len(_ROWS), 128), np.uint8),
        "x": generator.integers(-99, 99, sum(_ROWS) * 16).astype(F32),
        "rows": np.array(_ROWS, S32),
        "starts": starts.astype(S32),
        "out": poison(len(_ROWS), 16, 16, dtype=F32),
    }


def _grouped(arrays: Arrays) -> Arrays:
    matrices = np.split(arrays["x"].reshape(-1, 16), np.cumsum(_ROWS)[:-1])
    return {"out": np.stack([np.pad(each, ((0, 16 - len(each)), (0, 0))) for each in matrices])}


def _grouped_again(arrays: Arrays) -> Arrays:
    out = np.zeros((len(_ROWS), 16, 16), F32)
    for group, row, column in np.ndindex(out.shape):
        if row < _ROWS[group]:
            out[group, row, column] = arrays["x"][arrays["starts"][group] + row * 16 + column]
    return {"out": out}


def _matrices(generator: np.random.Generator) -> Arrays:
    return {"x": generator.integers(-99, 99, _COUNT * 256).astype(F32), "out": poison(256, dtype=F32)}


def _sum(arrays: Arrays) -> Arrays:
    return {"out": arrays["x"].reshape(_COUNT, 256).sum(axis=0)}


def _sum_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([sum(arrays["x"][k::256].tolist()) for k in range(256)], F32)}


def _matrix(generator: np.random.Generator) -> Arrays:
    return {"x": generator.integers(-99, 99, _MATRIX).astype(F32), "out": poison(2, 3, 16, 16, dtype=F32)}


def _tiles(arrays: Arrays) -> Arrays:
    whole = np.pad(arrays["x"], ((0, 32 - _MATRIX[0]), (0, 48 - _MATRIX[1])))
    return {"out": whole.reshape(2, 16, 3, 16).swapaxes(1, 2)}


def _tiles_again(arrays: Arrays) -> Arrays:
    out = np.zeros((2, 3, 16, 16), F32)
    for row, column in np.ndindex(_MATRIX):
        out[row // 16, column // 16, row % 16, column % 16] = arrays["x"][row, column]
    return {"out": out}


CASES = (
    Case(
        "tma_pointer",
        "cuda/tensormap.ptx",
        "tma_pointer",
        (3, 2, 1),
        (256, 1, 1),
        (Tiled("x", _MATRIX[::-1], (4 * _MATRIX[1],), (16, 16), is_pointed_to=True), "out"),
        _matrix,
        _tiles,
        _tiles_again,
        mutations=(Mutation("the map is not acquired", _ACQUIRE.replace("gpu", "sys"), ("proxy-fence-missing",)),),
    ),
    Case(
        "tma_groups",
        "cuda/tensormap.ptx",
        "tma_groups",
        (len(_ROWS), 1, 1),
        (256, 1, 1),
        (Tiled("like", (16, 16), (64,), (16, 16)), "maps", "x", "rows", "starts", "out"),
        _groups,
        _grouped,
        _grouped_again,
        mutations=(
            Mutation("the map is not acquired", _ACQUIRE, ("proxy-fence-missing",)),
            Mutation("the warp does not wait for its copy", r"^\s*bar\.warp\.sync\s+\S+;", ("race",)),
            Mutation(
                "the address is not aligned",
                r"(tensormap\.replace\.tile\.global_address\S+ \[%r\d+\]), %rd\d+;",
                ("out-of-bounds",),
                replacement=r"\1, 4;",
            ),
        ),
    ),
    Case(
        "tma_moving",
        "cuda/tensormap.ptx",
        "tma_moving",
        (1, 1, 1),
        (256, 1, 1),
        (Tiled("x", (16, 16), (64,), (16, 16)), "x", "out", S32(_COUNT)),
        _matrices,
        _sum,
        _sum_again,
        mutations=(
            Mutation(
                "the map is not released",
                r"^\s*fence\.proxy\.tensormap::generic\.release\.gpu;",
                ("proxy-fence-missing",),
            ),
            Mutation("the map is not acquired", _ACQUIRE, ("proxy-fence-missing",)),
            Mutation("the map moves on under a copy", _LOOP, ("async-in-flight",)),
        ),
    ),
)
