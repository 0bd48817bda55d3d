"""What a user asks of fusion: edges that are to be fused, edges that are to be kept, or that nothing is fused.

In: text, ``a,b; c,d`` for the edges from a to b and from c to d, or the same as pairs. Out: a `FusionRequest`, which
`requested_edges` finds in a graph. No MLIR here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from tinyc.diagnostics import TinycError

Pair = tuple[str, str]
#: The value of `fusion` by which each op is a kernel of its own.
NO_FUSION = "none"
_FORM = "write the names of two values, the second made of the first: a,b; several are separated by ';'"


@dataclass(frozen=True)
class FusionRequest:
    """Edges by the names of their values: `fuse` shall be fused, `keep` shall not; with `none` no edge is fused."""

    fuse: tuple[Pair, ...] = ()
    keep: tuple[Pair, ...] = ()
    none: bool = False

    def __bool__(self) -> bool:
        return bool(self.fuse or self.keep or self.none)

    def with_edges(self, edges: Mapping[str, object]) -> "FusionRequest":
        """The request with further edges: those of a plan table.

        Raises:
            TinycError: `InvalidOption`: they are no pairs of names.
        """
        more = request_of(edges)
        return FusionRequest(self.fuse + more.fuse, self.keep + more.keep, self.none)

    def options(self) -> dict[str, str]:
        """The request as options of `tiny-to-region`."""
        texts = {"fuse": _text(self.fuse), "no_fuse": _text(self.keep), "fusion": NO_FUSION if self.none else ""}
        return {name: text for name, text in texts.items() if text}


def fusion_request(fuse: object = None, no_fuse: object = None, fusion: object = None) -> FusionRequest:
    """The request that options make: texts, or lists of pairs.

    Raises:
        TinycError: `InvalidOption`: a text is no pairs of names, or `fusion` is not "none".
    """
    if fusion not in (None, "", NO_FUSION):
        raise TinycError(
            "InvalidOption", f"'fusion' is {fusion!r}; leave it out, or write '{NO_FUSION}' to fuse nothing"
        )
    return FusionRequest(_pairs("fuse", fuse), _pairs("no-fuse", no_fuse), fusion == NO_FUSION)


def request_of(source: object) -> FusionRequest:
    """The request that `tinyc.compile(fusion=…)` was given: None, "none", or a mapping of `fuse` and `no_fuse`.

    Raises:
        TinycError: `InvalidOption`.
    """
    if isinstance(source, FusionRequest):
        return source
    if source is None or isinstance(source, str):
        return fusion_request(fusion=source)
    if not _is_mapping(source) or set(source) - {"fuse", "no_fuse"}:
        message = f"'fusion' is {source!r}; give {{'fuse': [('a', 'b')], 'no_fuse': [('c', 'd')]}}, or '{NO_FUSION}'"
        raise TinycError("InvalidOption", message)
    return fusion_request(source.get("fuse"), source.get("no_fuse"))


def _pairs(option: str, given: object) -> tuple[Pair, ...]:
    """The pairs of names that an option gives."""
    if given is None:
        return ()
    entries: Sequence[object] = (
        [each.split(",") for each in given.split(";") if each.strip()]
        if isinstance(given, str)
        else _list(option, given)
    )
    found: list[Pair] = []
    for entry in entries:
        names = [each.strip() for each in entry if isinstance(each, str)] if isinstance(entry, list | tuple) else []
        if len(names) != 2 or not isinstance(entry, list | tuple) or len(entry) != 2 or not all(names):
            raise TinycError("InvalidOption", f"'{option}' has {entry!r}, no pair of names; {_FORM}")
        found.append((names[0], names[1]))
    return tuple(found)


def _list(option: str, given: object) -> Sequence[object]:
    if isinstance(given, list | tuple):
        return given
    raise TinycError("InvalidOption", f"'{option}' is {given!r}; {_FORM}")


def _text(pairs: Iterable[Pair]) -> str:
    return ";".join(",".join(pair) for pair in pairs)


def _is_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping)
