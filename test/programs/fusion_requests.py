"""Random requests for edges to be fused or kept, and what may come of each.

`drawn_request` draws one for the decisions of a ledger; `assert_honoured` and `assert_refused` say whether what came of
it is right.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

#: Rules of edges that cannot be kept: what is made where it is read, and the products of a sum.
BOUND = ("leaf", "product")
#: No name of a random program.
UNKNOWN = "nothing"


@dataclass(frozen=True)
class DrawnRequest:
    """What is asked for, as `tinyc.compile(fusion=…)` takes it, and the errors that may come of it.

    `must` says what has to come of it: "be met", "be refused", or None for either.
    """

    fuse: tuple[tuple[str, str], ...]
    keep: tuple[tuple[str, str], ...]
    must: str | None
    refusal: str = "IllegalFusion"

    @property
    def fusion(self):
        return {"fuse": list(self.fuse), "no_fuse": list(self.keep)}


def drawn_request(draw, decisions):
    """Draw a request for some of the edges; now and then one for what is no edge, or both ways."""
    rules = {(each.source, each.target): each for each in decisions}
    pairs = list(rules)
    asked = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=4, unique=True))
    fuse = tuple(pair for pair in asked if draw(st.booleans()))
    keep = tuple(pair for pair in asked if pair not in fuse)
    kind = draw(st.sampled_from(["edges"] * 7 + ["unknown", "no edge", "both ways"]))
    if kind == "unknown":
        return DrawnRequest((*fuse, (asked[0][0], UNKNOWN)), keep, "be refused", "UnknownName")
    if kind == "no edge":
        return DrawnRequest(fuse, (*keep, asked[0][::-1]), "be refused")
    if kind == "both ways":
        return DrawnRequest((asked[0], *fuse), (asked[0], *keep), "be refused")
    if any(rules[pair].rule in BOUND for pair in keep):
        return DrawnRequest(fuse, keep, "be refused")
    # Each op can be a kernel of its own; what is fused without being asked for is legal.
    is_legal = not fuse or (not keep and all(rules[pair].verdict == "fused" for pair in fuse))
    return DrawnRequest(fuse, keep, "be met" if is_legal else None)


def assert_honoured(request, decisions):
    """Check that a request may be accepted, and that its edges are fused and kept."""
    assert request.must != "be refused", request
    verdicts = {(each.source, each.target): each.verdict for each in decisions}
    assert {verdicts[pair] for pair in request.fuse} <= {"fused"}, request
    assert {verdicts[pair] for pair in request.keep} <= {"kept"}, request


def assert_refused(request, error):
    """Check that a request may be refused, and that each error names an edge of it."""
    assert request.must != "be met", (request, error)
    assert error.name == request.refusal, (request, error)
    for each in error.errors:
        named = [pair for pair in (*request.fuse, *request.keep) if all(f"'{name}'" in each.message for name in pair)]
        assert named or f"'{UNKNOWN}'" in each.message, (request, each)
