"""The key of a run: what makes the random numbers of one run others than those of the next.

It is a number of 63 bits that goes into the key of every RAND beside the node's own seed, by exclusive or; 0 leaves the
seeds as they are. Kernels with random numbers take it as the last of their extents, under a name that no size has.
"""

#: The symbol under which kernels, and the host program, have it.
RUN_KEY = "rand.key"
