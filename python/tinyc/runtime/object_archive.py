"""Several relocatable objects as one image: an archive as `ar` writes it, which `ar`, `nm` and `objdump` read.

In: the images of objects. Out: the image of the archive, and of one its members. Source: System V ABI, "Archive File".
"""

import struct
from collections.abc import Sequence

_MAGIC, _END = b"!<arch>\n", b"`\n"
#: The name; when the file was changed, its owner, group and permissions, of which nothing is said; its size in bytes.
_HEADER = struct.Struct("16s12s6s6s8s10s2s")


def archive_of(images: Sequence[bytes]) -> bytes:
    """The archive of objects, which are called by their numbers."""
    parts = [_MAGIC]
    for number, image in enumerate(images):
        fields = (f"{number}.o/", 0, 0, 0, 644, len(image))
        widths = (16, 12, 6, 6, 8, 10)
        header = "".join(f"{field:<{width}}" for field, width in zip(fields, widths, strict=True))
        parts += [header.encode(), _END, image, b"\n" * (len(image) % 2)]
    return b"".join(parts)


def objects_in(image: bytes) -> list[bytes]:
    """The objects of an archive; what is none is an object by itself.

    Raises:
        ValueError: it is cut off, or damaged.
    """
    if not image.startswith(_MAGIC):
        return [image]
    found: list[bytes] = []
    at = len(_MAGIC)
    while at < len(image):
        *_, size, mark = _HEADER.unpack_from(image.ljust(at + _HEADER.size), at)
        start, size_bytes = at + _HEADER.size, int(size) if size.rstrip().isdigit() else len(image)
        end = start + size_bytes + size_bytes % 2
        if mark != _END or end > len(image):
            raise ValueError(f"the archive of its objects is damaged, or cut off, at byte {at} of {len(image)}")
        found.append(image[start : start + size_bytes])
        at = end
    return found
