"""The forms of the bulk and tensor copies: which words may stand together in `cp{.reduce}.async.bulk…`.

In: the modifiers of an instruction. Out: `BulkForm`, or an error that names the instruction. As in ptxas, the words of
a form may stand in any order, but for the destination, which is before the source.

Source: PTX ISA 9.1 §9.7.9.25.4, §9.7.9.27.1. Of `.tile::gather4`, `.im2col::w`, `.cta_group`, `.cp_mask` and
`.ignore_oob` there is none on sm_90.
"""

from dataclasses import dataclass

from ptxsim.copies.reduction import REDUCED_TYPES, Reduction, reduction_of
from ptxsim.machine.site import Site

MBARRIER = "mbarrier::complete_tx::bytes"
GROUP = "bulk_group"

_HINT, _MULTICAST = "L2::cache_hint", "multicast::cluster"
_SPACES = ("shared::cta", "shared::cluster", "global", "L2")
_RANKS = {f"{rank}d": rank for rank in range(1, 6)}
_MODES = ("tile", "im2col", "im2col_no_offs")
_OPERATORS = tuple(REDUCED_TYPES["global"])
_ELEMENTS = ("u32", "s32", "u64", "s64", "b32", "b64", "f16", "bf16", "f32", "f64")
#: Verb, whether it is a tensor copy, destination and source → completion mechanism, and words that may stand with it.
_FORMS: dict[tuple[str, bool, str, str], tuple[str | None, frozenset[str]]] = {
    ("copy", False, "shared::cta", "global"): (MBARRIER, frozenset({_HINT})),
    ("copy", False, "shared::cluster", "global"): (MBARRIER, frozenset({_HINT, _MULTICAST})),
    ("copy", False, "shared::cluster", "shared::cta"): (MBARRIER, frozenset()),
    ("copy", False, "global", "shared::cta"): (GROUP, frozenset({_HINT})),
    ("copy", True, "shared::cta", "global"): (MBARRIER, frozenset({_HINT, "tile", "im2col"})),
    ("copy", True, "shared::cluster", "global"): (MBARRIER, frozenset({_HINT, _MULTICAST, "tile", "im2col"})),
    ("copy", True, "global", "shared::cta"): (GROUP, frozenset({_HINT, "tile", "im2col_no_offs"})),
    ("reduce", False, "shared::cluster", "shared::cta"): (MBARRIER, frozenset()),
    ("reduce", False, "global", "shared::cta"): (GROUP, frozenset({_HINT, "noftz"})),
    ("reduce", True, "global", "shared::cta"): (GROUP, frozenset({_HINT, "tile", "im2col_no_offs"})),
    ("prefetch", False, "L2", "global"): (None, frozenset({_HINT})),
    ("prefetch", True, "L2", "global"): (None, frozenset({_HINT, "tile", "im2col"})),
}


@dataclass(frozen=True)
class BulkForm:
    """What the modifiers say; `rank` is 0 for copies of plain ranges, `mode` is that of a tensor copy.

    `verb` is "copy", "reduce" or "prefetch"; `element` is "" where the tensor map has the type.
    """

    verb: str
    rank: int
    destination: str
    source: str
    mode: str
    multicast: bool
    hinted: bool
    operator: str = ""
    element: str = ""

    @property
    def reduction(self) -> Reduction | None:
        """The function of a reduction of a plain range; None for a copy."""
        return reduction_of(self.operator, self.element, self.destination) if self.operator else None


def bulk_form(site: Site) -> BulkForm:
    """The form of a bulk or tensor copy.

    Raises: PtxError for a combination of words that is none.
    """
    words = list(site.instruction.modifiers)
    verb = "copy"
    if words[0] == "reduce":
        verb = words.pop(0)
    if words[:2] != ["async", "bulk"]:
        site.unknown()
    del words[:2]
    if verb == "copy" and words and words[0] == "prefetch":
        verb = words.pop(0)
    tensor = bool(words) and words[0] == "tensor"
    if tensor:
        del words[0]
    return _sorted(site, verb, tensor, words)


def _sorted(site: Site, verb: str, tensor: bool, words: list[str]) -> BulkForm:
    spaces = [word for word in words if word in _SPACES]
    destination, source = spaces if len(spaces) == 2 else ("", "")
    form = _FORMS.get((verb, tensor, destination, source))
    if form is None or len(set(words)) != len(words):
        site.unknown()
    mechanism, allowed = form
    rest = [word for word in words if word not in allowed and word not in spaces and word != mechanism]
    rank = _RANKS[_one(site, rest, _RANKS)] if tensor else 0
    operator = _one(site, rest, _OPERATORS) if verb == "reduce" else ""
    element = _one(site, rest, _ELEMENTS) if operator and not tensor else ""
    modes = [word for word in words if word in _MODES]
    mode = modes[0] if modes else "tile"
    if rest or len(modes) > 1 or (mechanism is not None and mechanism not in words):
        site.unknown()
    if mode != "tile" and rank < 3:
        site.fail(f"mode .{mode} is of tensors with 3 to 5 dimensions, not {rank}")
    multicast, hinted = _MULTICAST in words, _HINT in words
    found = BulkForm(verb, rank, destination, source, mode, multicast, hinted, operator, element)
    if ("noftz" in words) != (operator == "add" and element in ("f16", "bf16")):
        site.unknown()
    if element and found.reduction is None:
        site.unknown()
    return found


def _one(site: Site, words: "list[str]", choices: "tuple[str, ...] | dict[str, int]") -> str:
    """Take the one word that is among the choices out of `words`."""
    found = [word for word in words if word in choices]
    if len(found) != 1:
        site.unknown()
    words.remove(found[0])
    return found[0]
