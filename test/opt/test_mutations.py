"""A layer's text with something changed is compiled on or refused with a clear error: no defect, crash or hang."""

import random

from opt.mutations import WAYS, listing, mutated, outcome
from programs.example_bindings import BIND


def test_mutated_layers(request):
    wrong, seen = {}, set()
    for seed in range(request.config.getoption("--random-examples") or 500):
        chance = random.Random(seed)
        layer, example, bound = chance.choice(list(WAYS)), chance.choice(list(BIND)), chance.random() < 0.5
        found = outcome(layer, mutated(listing(example, layer, bound), seed))
        seen.add(found)
        if found not in ("compiled", "refused"):
            wrong[layer, example, bound, seed] = found
    assert not wrong
    assert seen == {"compiled", "refused"}
