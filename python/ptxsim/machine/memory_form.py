"""The modifiers of an instruction that accesses memory: its order, scope and space, how many words, and cache hints.

In: modifiers, which may stand in any order. Out: `MemoryForm`, or PtxError for a combination that the ISA does not
have. Hints change no value, yet they do not go with every order and space. Source: PTX ISA, `ld`, `ldu`, `st`, `atom`,
`red`.
"""

from dataclasses import dataclass

from ptxsim.machine.addresses import ADDRESSED_SPACES, VECTORS
from ptxsim.machine.site import Site

#: The scopes of strong operations and of fences.
SCOPES = frozenset({"cta", "cluster", "gpu", "sys"})
#: A group has words of which an instruction may have one.
_GROUPS: dict[str, frozenset[str]] = {
    "order": frozenset({"weak", "relaxed", "acquire", "release", "acq_rel", "volatile"}),
    "mmio": frozenset({"mmio"}),
    "scope": SCOPES,
    "space": frozenset(ADDRESSED_SPACES),
    "count": frozenset(VECTORS),
    "read-only": frozenset({"nc"}),
    "cache": frozenset({"ca", "cg", "cs", "lu", "cv", "wb", "wt"}),
    "priority": frozenset({f"L1::evict_{rule}" for rule in ("first", "last", "normal", "unchanged")})
    | {"L1::no_allocate"},
    "policy": frozenset({"L2::cache_hint"}),
    "prefetch": frozenset({"L2::64B", "L2::128B", "L2::256B"}),
}
_SCOPED = frozenset({"relaxed", "acquire", "release", "acq_rel"})
#: Hints that only global memory has.
_GLOBAL_HINTS = ("priority", "policy", "prefetch")


@dataclass(frozen=True)
class Grammar:
    """What an opcode takes: its orders, whether each but `weak` has a scope, its hints and cache operators."""

    orders: frozenset[str]
    needs_scope: bool
    hints: frozenset[str]
    caches: frozenset[str] = frozenset()


LOAD = Grammar(
    frozenset({"weak", "relaxed", "acquire", "volatile"}),
    needs_scope=True,
    hints=frozenset({"mmio", "read-only", "cache", *_GLOBAL_HINTS}),
    caches=frozenset({"ca", "cg", "cs", "lu", "cv"}),
)
STORE = Grammar(
    frozenset({"weak", "relaxed", "release", "volatile"}),
    needs_scope=True,
    hints=frozenset({"mmio", "cache", "priority", "policy"}),
    caches=frozenset({"wb", "cg", "cs", "wt"}),
)
UNIFORM_LOAD = Grammar(frozenset(), needs_scope=True, hints=frozenset())
ATOMIC = Grammar(_SCOPED, needs_scope=False, hints=frozenset({"policy"}))
REDUCTION = Grammar(frozenset({"relaxed", "release"}), needs_scope=False, hints=frozenset({"policy"}))


@dataclass(frozen=True)
class MemoryForm:
    """The modifiers of a load, store or atomic: what is left of them are `words`, in order (operation and type).

    `order` is "weak" and `scope` is "sys" where nothing is written.
    """

    space: str
    order: str
    scope: str
    count: int
    words: tuple[str, ...]
    cached: bool


def memory_form(site: Site, grammar: Grammar) -> MemoryForm:
    """The modifiers of the instruction, sorted.

    Raises: PtxError where two are of one group, or where the opcode, the order or the space does not have one.
    """
    found: dict[str, str] = {}
    words = []
    for modifier in site.instruction.modifiers:
        group = next((name for name, members in _GROUPS.items() if modifier in members), None)
        if group is None:
            words.append(modifier)
        elif group in found:
            site.unknown()
        else:
            found[group] = modifier
    space = ADDRESSED_SPACES[found["space"]] if "space" in found else "generic"
    if not (_has_words(found, grammar) and _order_allows(found, grammar, space) and _space_allows(found, space)):
        site.unknown()
    return MemoryForm(
        space,
        "mmio" if "mmio" in found else found.get("order", "weak"),
        found.get("scope", "sys"),
        VECTORS[found["count"]] if "count" in found else 1,
        tuple(words),
        "policy" in found,
    )


def _has_words(found: dict[str, str], grammar: Grammar) -> bool:
    """Whether the opcode has these groups, this order and this cache operator."""
    return (
        found.keys() <= {"order", "scope", "space", "count", *grammar.hints}
        and ("order" not in found or found["order"] in grammar.orders)
        and ("cache" not in found or found["cache"] in grammar.caches)
    )


def _order_allows(found: dict[str, str], grammar: Grammar, space: str) -> bool:
    """Whether the scope and the hints go with the order."""
    order = found.get("order")
    if grammar.needs_scope and ("scope" in found) != (order in _SCOPED):
        return False
    if "mmio" in found:
        plain = found.keys() <= {"order", "mmio", "scope", "space"} and space in ("generic", "global")
        return plain and order == "relaxed" and found["scope"] == "sys"
    if "read-only" in found and order is not None:
        return False
    if order == "volatile":
        return not {"cache", "priority", "policy"} & found.keys()
    return not (order in _SCOPED and "cache" in found)


def _space_allows(found: dict[str, str], space: str) -> bool:
    """Whether the order and the hints go with the space, and the hints with each other."""
    if space not in ("generic", "global") and not found.keys().isdisjoint(_GLOBAL_HINTS):
        return False
    if "read-only" in found and (space != "global" or found.get("cache") in ("lu", "cv")):
        return False
    if space in ("local", "const") or space.startswith("param"):
        return found.get("order", "weak") == "weak"
    return not ("cache" in found and "priority" in found)
