"""Identifiers of PTX and C++: which texts are, and the user's names made into them.

What a language reserves is left to who writes it.
"""

import re
from collections.abc import Iterable

#: PTX ISA, "Identifiers", without those that LLVM makes up ($L__…), and without what it takes for a number everywhere.
PTX_IDENTIFIER = re.compile(r"(?!WARP_SZ$)([A-Za-z]\w*|_\w+)", re.ASCII)


def legal_identifier(text: str, taken: Iterable[str] = ()) -> str:
    """`text` as an identifier that is none of `taken`: other characters become `_`, a number makes it new.

    It begins with a letter, since C++ reserves most names that begin with `_`.
    """
    stem = re.sub(r"[^A-Za-z0-9_]", "_", text)
    if not stem[:1].isalpha():
        stem = f"n{stem}"
    name, number = stem, 0
    while name in taken or not PTX_IDENTIFIER.fullmatch(name):
        number += 1
        name = f"{stem}_{number}"
    return name
