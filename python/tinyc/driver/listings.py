"""The listings of a program, the texts that it has on its way to a target: their names in walk order, and their files.

Plain data: the command line reads it for its help and its checks without loading MLIR. `lowering` makes them.
"""

#: `indexbook` and `poly_view` are side tables beside the Tiny module.
_SHARED = ("frontend", "tiny", "indexbook", "poly_view", "region")
_CPU = (*_SHARED, "plan", "exec", "loops", "llvm", "asm")
#: The launch contract says grid and CTA, which the GPU kernels have: here `exec` is made from `gpu`.
_GPU = (*_SHARED, "plan", "gpu", "exec", "nvvm", "ptx", "cu")

#: The listings that are the same for every architecture: regions are formed for one.
FOR_EVERY_ARCH = _SHARED[: _SHARED.index("region")]

#: What `tinyc.compile` compiles for → its listings. The reference runs what it is given, and shows what the CPU would
#: make of it.
LISTINGS: dict[str, tuple[str, ...]] = {"cpu": _CPU, "sim": _GPU, "cuda": _GPU, "reference": _CPU}
#: Target → the listing that it runs.
LAST_LISTING = {"cpu": "llvm", "sim": "ptx", "cuda": "ptx"}

_SUFFIXES = {"llvm": ".ll", "asm": ".s", "ptx": ".ptx", "cu": ".cu"}


def listing_suffix(name: str) -> str:
    """The suffix of the file of a listing: that of its language."""
    return _SUFFIXES.get(name, ".mlir")


def listing_file(target: str, name: str) -> str:
    """The file name of a listing: its place in the walk, its name, and the suffix of its language."""
    return f"{LISTINGS[target].index(name):02d}_{name}{listing_suffix(name)}"
