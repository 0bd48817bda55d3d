"""Damage to a file of the cache: it ends early, or one bit of it is another."""

#: "cut off", or the bit of a byte that is changed.
WAYS = ("cut off", *range(8))


def damaged_at(content: bytes, byte: int, how: str | int) -> bytes:
    """Return a content that is damaged at a byte in one of `WAYS`."""
    changed = b"" if isinstance(how, str) else bytes((content[byte] ^ 1 << how,)) + content[byte + 1 :]
    return content[:byte] + changed
