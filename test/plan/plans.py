"""Random valid plans over every field, the two plans of the specification, and how an error is looked at."""

import pytest
from hypothesis import strategies as st

from tinyc.diagnostics import TinycError
from tinyc.plan.fields import ALGORITHMS, ARCHITECTURES, Plan
from tinyc.schemes.names import SCHEME_NAMES

#: 002 §5, as printed.
SAMPLE_002 = """{
  "tile":[64,64,32],
  "stages":2,
  "bind":{"m.o":"block.y","n.o":"block.x"},
  "warp_tile":"naive_2x2_per_thread",
  "cache":[
    {"tensor":"X","where":"smem","at":"k.i"},
    {"tensor":"W","where":"smem","at":"k.i"}
  ],
  "predicate_tail":["m","n","k"],
  "epilogue":["bias","relu"],
  "arch":"sm80_or_sm90",
  "async":{"enable":false}
}"""
#: 000 §1.7, as printed.
SAMPLE_000 = """split m 128; split n 64; split k 64;
reorder m.o n.o k.o m.i.o n.i.o k.i.o m.i.i n.i.i k.i.i;
bind m.o block.y; bind n.o block.x; bind m.i.o warp.y; bind n.i.o warp.x;
pipeline k.i stages=2;
cache_read A smem at=k.i pingpong=true;
cache_read B smem at=k.i pingpong=true;
vectorize n.i.i 8;
predicate_tail m.i.i n.i.i k.i.i;
epilogue bias relu;
"""

_SIZES = st.integers(1, 2**31 - 1)
_AXES = st.sampled_from(("m", "n", "k", "m.o", "n.i", "k.i.o", "bind", "set", "b0")) | st.from_regex(
    "[a-z][a-z0-9.]*", fullmatch=True
)
_TEXTS = st.sampled_from(("A", "split", "a b", "x#1", 'a"b', "n->m", "a;b", "=", "é", "//", "-1")) | st.text(
    min_size=1
).filter(str.isprintable)


def _lists(entries, **sizes):
    return st.lists(entries, max_size=4, **sizes).map(tuple)


def _records(required, optional):
    return st.fixed_dictionaries(required, optional=optional)


FIELDS = {
    "scheme": st.sampled_from(SCHEME_NAMES),
    "tile": st.tuples(_SIZES, _SIZES, _SIZES),
    "stages": st.integers(1, 8),
    "pipeline": _AXES,
    "warp_tile": st.from_regex("[1-9][0-9]{0,3}x[1-9][0-9]{0,3}", fullmatch=True),
    "order": _lists(_AXES, unique=True),
    "split": st.dictionaries(_AXES, _SIZES, max_size=3),
    "fuse": _lists(st.lists(_AXES, min_size=3, max_size=3, unique=True).map(tuple)),
    "unroll": st.dictionaries(_AXES, _SIZES, max_size=3),
    "bind": st.dictionaries(_AXES, st.sampled_from(("block.x", "block.z", "warp.y")), max_size=3),
    "cache": _lists(
        _records({"tensor": _TEXTS, "where": st.just("smem"), "at": _AXES}, {"pingpong": st.booleans()}),
        unique_by=lambda entry: entry["tensor"],
    ),
    "vectorize": _records({"axis": _AXES, "width": st.sampled_from((1, 2, 4, 8, 16))}, {}),
    "predicate_tail": _lists(_AXES, unique=True),
    "epilogue": _lists(st.sampled_from(("bias", "relu", "residual", "add", "fuse"))),
    "arch": st.sampled_from(tuple(ARCHITECTURES)),
    "layout_hints": _records(
        {}, {"A_swizzle": st.booleans(), "B_swizzle": st.booleans(), "C_stride": st.sampled_from(("row", "col"))}
    ),
    "algo_choice": _records({}, {key: st.sampled_from(values) for key, values in ALGORITHMS.items()}),
    "split_k": st.integers(1, 65535),
    "local_edges": _lists(
        _records({"from": _TEXTS, "to": _TEXTS, "buffer": st.sampled_from(("reg", "smem_ring", "gmem"))}, {})
        | _records({"from": _TEXTS, "to": _TEXTS, "buffer": st.just("smem_ring"), "depth": st.integers(2, 8)}, {})
    ),
    "schedule": st.sampled_from(("simple", "cooperative", "pingpong")),
    "cluster": st.tuples(st.integers(1, 16), st.integers(1, 16)),
    "raster": _records({"along": st.sampled_from(("m", "n")), "group": _SIZES}, {}),
    "wait_depth": st.sampled_from((0, 1)),
    "registers": st.tuples(*[st.integers(3, 32).map(lambda eights: 8 * eights)] * 2),
    "precision": st.sampled_from(("ieee", "tf32")),
    "asynchronous": _records({"enable": st.booleans()}, {}),
    "loop": _records(
        {},
        {
            "vectorize": _records({"axis": st.integers(0, 3), "width": st.sampled_from((1, 2, 4, 8, 16, 32, 64))}, {}),
            "unroll": _records({"axis": st.integers(0, 3), "factor": st.integers(0, 64)}, {}),
            "parallelize": _lists(st.integers(0, 3), unique=True),
            "tile": _lists(_records({"axis": st.integers(0, 3), "size": _SIZES}, {})),
            "use_shared_memory": st.booleans(),
        },
    ),
    "pack": _records({}, {"A": st.booleans(), "B": st.booleans(), "block": st.tuples(_SIZES, _SIZES, _SIZES)}),
}
PLANS = st.fixed_dictionaries({}, optional=FIELDS).map(lambda fields: Plan(**fields))


def refused(call, *arguments):
    """Return the errors with which a call refuses its arguments: all of them are `InvalidPlan`."""
    with pytest.raises(TinycError) as caught:
        call(*arguments)
    assert {error.name for error in caught.value.errors} == {"InvalidPlan"}
    return caught.value.errors


def places(errors):
    return [(error.where.line, error.where.column) for error in errors]
