"""The Schedule Plan: one dataclass, whose fields are the plan's, each with the values that it admits.

In: the values of some fields. Out: a `Plan`, which is valid by construction as far as each field can be judged alone;
`schemes.completion` judges it against a region and a target, and fills in a field that is None: it is not given.

Beyond the table of the specification there is `pipeline`, the axis of the DSL's `pipeline k.i stages=2`: the axis whose
steps the circular buffer of `stages` tiles runs ahead of. Some schemes have another spelling in the value of another
field (`schemes.names`).

**Source:** 000 §1.7, §12.5, §12.6; 002 §5; `loop`: 003, LoopStrategy.
"""

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from tinyc.diagnostics import TinycError, Where, suggest
from tinyc.plan import kinds
from tinyc.plan.kinds import Boolean, Choice, Integer, ListOf, MapOf, Matching, Path, PrintableName, Problem, Record
from tinyc.schemes.names import SCHEME_NAMES, SCHEME_SPELLINGS
from tinyc.target import GENERIC_CPU, SM80, SM90, TARGETS

#: Spelling of `arch` → the targets that it means.
ARCHITECTURES = {
    **{name: (target.name,) for target in TARGETS for name in target.names},
    "sm80_or_sm90": (SM80.name, SM90.name),
    **dict.fromkeys(GENERIC_CPU.names, (GENERIC_CPU.name,)),
}
#: What a plan calls Winograd's F(2 × 2, 3 × 3), which is several kernels.
WINOGRAD = "winograd_3x3"
#: Pattern of Poly-View → the algorithms for it.
ALGORITHMS = {
    "matmul": ("implicit_gemm", "splitk_serial", "splitk_parallel", "streamk"),
    "conv": ("implicit_gemm", WINOGRAD, "fft_conv"),
    "attention": ("streaming_softmax_2pass", "online_softmax"),
}
#: The fields that the formation of regions decides.
FORMED_FIELDS = frozenset(["algo_choice", "local_edges"])
#: Cap on the errors that are reported of one plan: a file may have a million.
MOST_ERRORS = 100

#: The field whose name is a word of Python's.
_SPELT = {"asynchronous": "async"}

_SIZE = Integer(1, 2**31 - 1)
_AXIS = Matching(re.compile(r"[a-z][a-z0-9.]*"), "an axis such as m, m.o or k.i.i")
_AXES = ListOf(_AXIS, distinct=True)
_OP = Matching(re.compile(r"[a-z][a-z0-9_]*"), "an op such as bias or relu")
_WARP_TILE = Matching(
    re.compile(r"[1-9][0-9]{0,3}x[1-9][0-9]{0,3}"), f'a tile such as "64x32", or "{SCHEME_SPELLINGS["warp_tile"]}"'
)
_BIND_TARGET = Choice(("block.x", "block.y", "block.z", "warp.x", "warp.y", "warp.z"))
_AXIS_NUMBER = Integer(0, 63)  # 003's strategies count axes

_CACHED = Record(
    {"tensor": PrintableName(), "where": Choice(("smem",)), "at": _AXIS, "pingpong": Boolean()},
    ("tensor", "where", "at"),
)
_EDGE = Record(
    {
        "from": PrintableName(),
        "to": PrintableName(),
        "buffer": Choice(("reg", "smem_ring", "gmem")),
        "depth": Integer(2, 8),
    },
    ("from", "to", "buffer"),
)
_VECTORIZE = Record({"axis": _AXIS, "width": Choice((1, 2, 4, 8, 16))}, ("axis", "width"))
_LAYOUT_HINTS = Record({"A_swizzle": Boolean(), "B_swizzle": Boolean(), "C_stride": Choice(("row", "col"))})
_ALGO_CHOICE = Record({pattern: Choice(algorithms) for pattern, algorithms in ALGORITHMS.items()})
_RASTER = Record({"along": Choice(("m", "n")), "group": _SIZE}, ("along", "group"))
_LOOP = Record(
    {
        "vectorize": Record({"axis": _AXIS_NUMBER, "width": Choice((1, 2, 4, 8, 16, 32, 64))}, ("axis", "width")),
        "unroll": Record({"axis": _AXIS_NUMBER, "factor": Integer(0, 64)}, ("axis", "factor")),
        "parallelize": ListOf(_AXIS_NUMBER, distinct=True),
        "tile": ListOf(Record({"axis": _AXIS_NUMBER, "size": _SIZE}, ("axis", "size"))),
        "use_shared_memory": Boolean(),
    }
)
_PACK = Record({"A": Boolean(), "B": Boolean(), "block": ListOf(_SIZE, 3)})


@dataclass(frozen=True)
class Plan:
    """One plan. Each field is annotated with what it admits; lists are tuples, objects are dictionaries.

    Raises:
        TinycError: `InvalidPlan`, one for each problem.
    """

    scheme: Annotated[str | None, Choice(SCHEME_NAMES)] = None
    tile: Annotated[tuple[int, int, int] | None, ListOf(_SIZE, 3)] = None
    stages: Annotated[int | None, Integer(1, 8)] = None
    pipeline: Annotated[str | None, _AXIS] = None
    warp_tile: Annotated[str | None, _WARP_TILE] = None
    order: Annotated[tuple[str, ...] | None, _AXES] = None
    split: Annotated[dict[str, int] | None, MapOf(_AXIS, _SIZE)] = None
    fuse: Annotated[tuple[tuple[str, str, str], ...] | None, ListOf(ListOf(_AXIS, 3, distinct=True))] = None
    unroll: Annotated[dict[str, int] | None, MapOf(_AXIS, _SIZE)] = None
    bind: Annotated[dict[str, str] | None, MapOf(_AXIS, _BIND_TARGET)] = None
    cache: Annotated[tuple[dict[str, Any], ...] | None, ListOf(_CACHED)] = None
    vectorize: Annotated[dict[str, Any] | None, _VECTORIZE] = None
    predicate_tail: Annotated[tuple[str, ...] | None, _AXES] = None
    epilogue: Annotated[tuple[str, ...] | None, ListOf(_OP)] = None
    arch: Annotated[str | None, Choice(tuple(ARCHITECTURES))] = None
    layout_hints: Annotated[dict[str, Any] | None, _LAYOUT_HINTS] = None
    algo_choice: Annotated[dict[str, str] | None, _ALGO_CHOICE] = None
    split_k: Annotated[int | None, Integer(1, 65535)] = None  # slices are CTAs along z
    local_edges: Annotated[tuple[dict[str, Any], ...] | None, ListOf(_EDGE)] = None
    schedule: Annotated[str | None, Choice(("simple", "cooperative", "pingpong"))] = None
    cluster: Annotated[tuple[int, int] | None, ListOf(Integer(1, 16), 2)] = None
    raster: Annotated[dict[str, Any] | None, _RASTER] = None
    wait_depth: Annotated[int | None, Choice((0, 1))] = None
    registers: Annotated[tuple[int, int] | None, ListOf(Integer(24, 256, 8), 2)] = None  # PTX ISA, setmaxnreg
    precision: Annotated[str | None, Choice(("ieee", "tf32"))] = None
    asynchronous: Annotated[dict[str, bool] | None, Record({"enable": Boolean()}, ("enable",))] = None
    loop: Annotated[dict[str, Any] | None, _LOOP] = None
    pack: Annotated[dict[str, Any] | None, _PACK] = None

    def __post_init__(self) -> None:
        """Check the fields, and make them such that equal plans compare equal."""
        values = {name: getattr(self, attribute) for name, attribute in ATTRIBUTES.items()}
        checked = _checked({name: value for name, value in values.items() if value is not None}, {}, Where())
        for name, attribute in ATTRIBUTES.items():
            object.__setattr__(self, attribute, _tuples(checked[name]) if name in checked else None)

    def __repr__(self) -> str:
        given = {attribute: value for attribute, value in vars(self).items() if value is not None}
        return f"Plan({', '.join(f'{attribute}={value!r}' for attribute, value in given.items())})"

    def values(self) -> dict[str, Any]:
        """The fields that are given as JSON has them, in the order of the table, axes outermost first.

        Equal plans give equal values in equal order.
        """
        values = {name: getattr(self, attribute) for name, attribute in ATTRIBUTES.items()}
        return {name: _KINDS[name].ordered(value) for name, value in values.items() if value is not None}


#: Name in a text → name of the attribute.
ATTRIBUTES = {_SPELT.get(each.name, each.name): each.name for each in dataclasses.fields(Plan)}
_KINDS: dict[str, kinds.Kind] = {
    _SPELT.get(attribute, attribute): hint.__metadata__[0]
    for attribute, hint in get_type_hints(Plan, include_extras=True).items()
}


def plan_of_values(
    values: object, places: Mapping[Path, tuple[int, int]] | None = None, where: Where | None = None
) -> Plan:
    """The plan that the fields `values`, by the names that they have in a text, make.

    `places` has the line and column of the paths of a text, as far as they are known, and `where` its file.

    Raises:
        TinycError: `InvalidPlan`, one for each problem.
    """
    checked = _checked(values, places or {}, where or Where())
    return Plan(**{ATTRIBUTES[name]: value for name, value in checked.items()})


def located_problem(problem: Problem, places: Mapping[Path, tuple[int, int]], where: Where) -> TinycError:
    """A problem as an error at the innermost place that is known of its path."""
    ends = range(len(problem.path), -1, -1)
    known = (places[problem.path[:end]] for end in ends if problem.path[:end] in places)
    line, column = next(known, (where.line, where.column))
    return TinycError("InvalidPlan", problem.message, dataclasses.replace(where, line=line, column=column))


def _checked(values: object, places: Mapping[Path, tuple[int, int]], where: Where) -> dict[str, Any]:
    """The fields of a valid plan; raise its problems."""
    if not kinds.is_object(values):
        raise located_problem(
            Problem((), 'a plan is an object of fields, such as {"tile": [64, 64, 32]}'), places, where
        )
    values = dict(values)
    problems = itertools.chain(_scheme_spellings(values), _problems(values))
    errors = [located_problem(problem, places, where) for problem in itertools.islice(problems, MOST_ERRORS)]
    if errors:
        raise TinycError.several(errors)
    return values


def _scheme_spellings(values: dict[str, Any]) -> Iterator[Problem]:
    """Read the scheme where another field spells it."""
    for field, scheme in SCHEME_SPELLINGS.items():
        if values.get(field) == scheme:
            del values[field]
            if values.setdefault("scheme", scheme) != scheme:
                message = f"'{field}' is '{scheme}', which is a scheme, and 'scheme' says another; remove one"
                yield Problem((field,), message)


def _problems(values: Mapping[Any, Any]) -> Iterator[Problem]:
    for name, value in values.items():
        if isinstance(name, str) and name in _KINDS:
            yield from _KINDS[name].problems(value, (name,))
        else:
            path = (name,) if isinstance(name, str) else ()
            hint = suggest(str(path[0]) if path else "", _KINDS)
            if kinds.is_object(value):
                hint += "; a table names regions by their keys of 16 digits, which the remarks of --region-plan tell"
            yield Problem(path, f"a plan has no field {kinds.shown_value(name)}{hint}")
    yield from _depths(values.get("local_edges"))
    yield from _cached_twice(values.get("cache"))


def _depths(edges: Any) -> Iterator[Problem]:
    """Yield the edges with a depth that are not a circular buffer."""
    for position, edge in enumerate(edges if kinds.is_list(edges) else ()):
        if kinds.is_object(edge) and "depth" in edge and edge.get("buffer") in ("reg", "gmem"):
            path = ("local_edges", position, "depth")
            what = f"{kinds.spelt(path)} is the depth of a circular buffer"
            yield Problem(path, f"{what}, and the buffer is '{edge['buffer']}'; remove it")


def _cached_twice(cache: Any) -> Iterator[Problem]:
    """Yield the entries that cache what an earlier one does."""
    seen: set[str] = set()
    for position, entry in enumerate(cache if kinds.is_list(cache) else ()):
        tensor = entry.get("tensor") if kinds.is_object(entry) else None
        if isinstance(tensor, str):
            if tensor in seen:
                yield Problem(("cache", position, "tensor"), f"'cache' has the tensor '{tensor}' twice; remove one")
            seen.add(tensor)


def _tuples(value: object) -> Any:
    if kinds.is_object(value):
        return {key: _tuples(each) for key, each in value.items()}
    return tuple(map(_tuples, value)) if kinds.is_list(value) else value
