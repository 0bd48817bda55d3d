"""Estimates that are kept in a folder, a JSON file for each launch, so that no process predicts it again.

In: digests and what was predicted. Out: the same later, or nothing: a file that is damaged, or of something else, is as
if it were not there, and is written anew. Files come whole: they are written beside and renamed.
"""

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ptxsim.clock.estimate import Estimate
from ptxsim.clock.ranking.estimate_json import MalformedEstimate, estimate_from_json, estimate_to_json
from ptxsim.errors import FileError


@dataclass(frozen=True)
class Predicted:
    """What became of a launch: its estimate, or why there is none.

    `lasts` says that it would be the same once more, which the lack of memory would not.
    """

    estimate: Estimate | None
    error: str = ""
    lasts: bool = True


@dataclass(frozen=True)
class _Entry:
    """What a file holds: the digest that it is called by, so that a file of another name is not taken."""

    digest: str
    predicted: Predicted


class EstimateStore:
    """The estimates of a folder, which is made if it is not there.

    Raises:
        FileError: it cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"estimates cannot be kept here: {error.strerror}", str(folder)) from None

    def find(self, digest: str) -> Predicted | None:
        """What is kept of the launch of this digest."""
        try:
            data = json.loads(self._file(digest).read_text(encoding="utf-8"))
            entry = estimate_from_json(_Entry, data)
        except (OSError, ValueError, RecursionError, MalformedEstimate):
            return None
        return entry.predicted if entry.digest == digest else None

    def keep(self, digest: str, predicted: Predicted) -> None:
        """Keep it; where nothing can be written, it is predicted again the next time."""
        text = json.dumps(estimate_to_json(_Entry(digest, predicted)))
        name = ""
        try:
            with tempfile.NamedTemporaryFile(
                "w", dir=self._folder, prefix=".", suffix=".tmp", delete=False, encoding="utf-8"
            ) as file:
                name = file.name
                file.write(text)
            os.replace(name, self._file(digest))
        except OSError:
            if name:
                Path(name).unlink(missing_ok=True)

    def _file(self, digest: str) -> Path:
        return self._folder / f"{digest}.json"
