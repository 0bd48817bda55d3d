"""What is checked of foreign IR text before MLIR's parser sees it.

The parser recurses and trusts its input: some thousand nested brackets or prefix minuses end the process, a literal of
10^5 digits or forty aliases that double each other keep it busy for hours. In: bytes or text from outside. Out: the
text, or a `TinycError` (`InvalidIr`) that says where.
"""

import re

from tinyc.diagnostics import TinycError, Where

MAX_NESTING = 256
MAX_DIGITS = 1000
MAX_EXPANDED_TOKENS = 10_000_000

_CLOSING = {")": "(", "]": "[", "}": "{", ">": "<"}
# Strings and comments hide brackets; an unterminated string is the parser's to report. Of the comparison signs and
# arrows only those are tokens of their own that hold an angle bracket.
_TOKEN = re.compile(
    r"""//[^\n]*
    | "(?:[^"\\\n]|\\.)*"?
    | ->|>=|<=|==
    | -(?:\s*-)+(?!>)
    | [()\[\]{}<>]
    | [0-9]+
    """,
    re.VERBOSE,
)
_ALIAS = re.compile(r"^([#!][A-Za-z_][\w$.]*)[ \t]*=", re.MULTILINE)
# Attributes that MLIR reads without having looked what they are. A string may be a name, and blanks hold comments.
_BLANK = r"(?:\s|//[^\n]*\n)*"
_FRAGILE = re.compile(
    rf"""//[^\n]*
    | (?P<empty>\bres_attrs\b"?{_BLANK}={_BLANK}(?:\[{_BLANK}\]|\#))
    | (?P<number>\baddr_space\b"?{_BLANK}={_BLANK}(?!-?[0-9]|\s|/))
    | "(?!res_attrs"|addr_space")(?:[^"\\\n]|\\.)*"?
    """,
    re.VERBOSE,
)
_MEANT = {
    "empty": "'res_attrs' has no entries, and needs one for each result; leave it out where there is nothing to say",
    "number": "'addr_space' is no number; write one, 3 : i32",
}
_REFERENCE = re.compile(r"[#!][A-Za-z_][\w$]*")


def decode_text(raw: bytes, filename: str) -> str:
    """`raw` as text.

    Raises:
        TinycError: it is not UTF-8, or it holds a NUL byte, at which MLIR would stop reading.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"the file is not UTF-8 text (byte 0x{raw[error.start]:02x} at offset {error.start}); give IR as text"
        raise TinycError("InvalidIr", message, Where(file=filename, line=line)) from None
    return text


def check(text: str, filename: str) -> None:
    """Refuse text that MLIR's parser or printer would not survive.

    Raises:
        TinycError: a NUL byte, too deep nesting, too long a literal, aliases that expand beyond measure, or an
            attribute of another kind than MLIR takes for granted.
    """
    if "\0" in text:
        raise _refusal("the text holds a NUL byte; give IR as text", text, text.index("\0"), filename)
    _check_tokens(text, filename)
    _check_aliases(text, filename)
    for match in _FRAGILE.finditer(text):
        if match.lastgroup is not None:
            raise _refusal(_MEANT[match.lastgroup], text, match.start(), filename)


def _check_tokens(text: str, filename: str) -> None:
    open_brackets: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "([{<":
            open_brackets.append(token)
            if len(open_brackets) > MAX_NESTING:
                raise _refusal(f"brackets are nested more than {MAX_NESTING} deep", text, match.start(), filename)
        elif token in _CLOSING:
            if open_brackets and open_brackets[-1] == _CLOSING[token]:
                open_brackets.pop()
        elif token[0] == "-" and token.count("-") > MAX_NESTING:
            raise _refusal(f"more than {MAX_NESTING} minus signs stand in a row", text, match.start(), filename)
        elif token[0].isdigit() and len(token) > MAX_DIGITS:
            raise _refusal(f"a number has more than {MAX_DIGITS} digits", text, match.start(), filename)


def _check_aliases(text: str, filename: str) -> None:
    """Refuse aliases whose definitions, written out, are huge: MLIR prints an attribute in full wherever it stands."""
    sizes: dict[str, int] = {}
    definitions = list(_ALIAS.finditer(text))
    ends = [*(each.start() for each in definitions), len(text)][1:]
    for match, end in zip(definitions, ends, strict=True):
        # Up to the next definition, so that one of several lines is seen whole; what else stands there is printed too.
        size = 1 + sum(sizes.get(name, 1) for name in _REFERENCE.findall(text, match.end(), end))
        if size > MAX_EXPANDED_TOKENS:
            message = f"alias {match.group(1)} stands for more than {MAX_EXPANDED_TOKENS} attributes when written out"
            raise _refusal(message, text, match.start(), filename)
        sizes[match.group(1)] = size


def _refusal(message: str, text: str, offset: int, filename: str) -> TinycError:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return TinycError("InvalidIr", message, Where(file=filename, line=line, column=column))
