"""Cases of `data/cuda/handover.cu`: what threads hand to each other by fences, mbarriers and bulk copies."""

import math

import numpy as np

from ptxsim_cases.case import Arrays, Case, Mutation, no_barrier
from ptxsim_cases.control_cases import integers

N, WORDS = 200, 7
_FENCE = r"^\s*membar\.gl;"


def _partial(generator: np.random.Generator) -> Arrays:
    counters = {"finished": np.zeros(1, np.uint32), "out": np.zeros(1, np.int32)}
    return integers(N, -99, 99, sums=(3,))(generator) | counters


def _sum(arrays: Arrays) -> Arrays:
    return {"out": arrays["x"].sum(keepdims=True).astype(np.int32)}


def _sum_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([math.fsum(arrays["x"].tolist())], np.int32)}


def _spread(arrays: Arrays) -> Arrays:
    return {"out": np.repeat(arrays["x"][:, None], 32, axis=1)}


def _spread_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([[word] * 32 for word in arrays["x"].tolist()], np.int32)}


def _turned(arrays: Arrays) -> Arrays:
    return {"x": arrays["x"][::-1]}


def _turned_again(arrays: Arrays) -> Arrays:
    return {"x": np.array([arrays["x"][63 - k] for k in range(64)])}


CASES = (
    Case(
        "last_block",
        "cuda/handover.ptx",
        "last_block",
        (3, 1, 1),
        (64, 1, 1),
        ("x", "sums", "finished", "out", np.int32(N)),
        _partial,
        _sum,
        _sum_again,
        mutations=(
            Mutation("what is found is not released", _FENCE, ("race",)),
            Mutation("what is found is not acquired", _FENCE, ("race",), 1),
            no_barrier(0, "race"),
            no_barrier(1, "race", "uninitialized"),
        ),
    ),
    Case(
        "one_word_for_all",
        "cuda/handover.ptx",
        "one_word_for_all",
        (1, 1, 1),
        (64, 1, 1),
        ("x", "out", np.int32(WORDS)),
        integers(WORDS, -99, 99, out=(WORDS, 32)),
        _spread,
        _spread_again,
        mutations=(Mutation("the lanes do not meet before one frees the slot", r"^\s*bar\.warp\.sync.*;", ("race",)),),
    ),
    Case(
        "turned_in_place",
        "cuda/handover.ptx",
        "turned_in_place",
        (1, 1, 1),
        (64, 1, 1),
        ("x",),
        integers(64, -99, 99),
        _turned,
        _turned_again,
        mutations=(
            Mutation(
                "nobody waits for the load",
                r"mbarrier\.try_wait\S* complete, .*;",
                ("async-in-flight",),
                0,
                "setp.eq.u32 complete, 0, 0;",
            ),
        ),
    ),
)
