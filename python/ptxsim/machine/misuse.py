"""What a kernel does wrong with an asynchronous operation, found by the pure models of this package.

The engine catches it, adds the line, the threads and the address, and reports it as a finding.
"""


class Misuse(Exception):
    """An operation that the PTX ISA leaves undefined.

    `kind` is the kind of the finding it becomes ("misaligned", "out-of-bounds", "uninitialized",
    "mbarrier-tx-mismatch", "barrier-divergence"); `message` says what, with which values.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(kind, message)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


def require_aligned(name: str, address: int, alignment: int) -> None:
    """Check that an address is a multiple of `alignment` bytes.

    Raises: Misuse ("misaligned"), naming the operand, its address and the alignment.
    """
    if address % alignment:
        raise Misuse("misaligned", f"{name} address {address:#x} is not a multiple of {alignment} bytes")
