"""What a command is doing and how far it is: one line on a terminal while something takes longer than two seconds.

In: what is done inside of a `with shown_progress(title)`, which tells by `diagnostics.progress`. Out: a line on stderr
that is gone at the end; nothing where stderr is no terminal. A thread draws it, since the work may be in machine code.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator

from tinyc.diagnostics import printable, watch_progress

#: How long work may take before a line is shown for it, and after how long the line is drawn anew.
_PATIENCE_SECONDS = 2.0
_PERIOD_SECONDS = 0.2
#: The width of a terminal that does not tell its own.
_COLUMNS = 80


@contextlib.contextmanager
def shown_progress(title: str) -> Iterator[None]:
    """Show what goes on inside of the `with`, called `title`; nothing else may be written to the terminal there."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    line = _Line(title)
    line.start()
    try:
        with watch_progress(line.tell):
            yield
    finally:
        line.end()


class _Line(threading.Thread):
    """The line, and the thread that draws it."""

    def __init__(self, title: str) -> None:
        super().__init__(name=f"progress of {title}", daemon=True)
        self._title, self._since, self._ended = title, time.monotonic(), threading.Event()
        self._told: tuple[str, int, int] | None = None

    def tell(self, what: str, done: int, total: int) -> None:
        """Note how far the work is; the line shows it the next time that it is drawn."""
        self._told = what, done, total

    def end(self) -> None:
        """Stop drawing; the line is gone then."""
        self._ended.set()
        self.join()

    def run(self) -> None:
        """Wait, then draw until the end, and clear the line."""
        if self._ended.wait(_PATIENCE_SECONDS):
            return
        with contextlib.suppress(OSError):  # the terminal is gone
            while True:
                self._draw(self._text())
                if self._ended.wait(_PERIOD_SECONDS):
                    break
            self._draw("", end="\r")

    def _text(self) -> str:
        far = "" if self._told is None else "{} {} of {}  ".format(*self._told)
        return printable(f"{self._title:<9}{far}({time.monotonic() - self._since:.0f} s)")

    @staticmethod
    def _draw(text: str, end: str = "") -> None:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
        sys.stderr.write(f"\r{text[: columns - 1]:<{columns - 1}}{end}")
        sys.stderr.flush()
