"""Progress of long calls: tqdm where it is there and standard error is a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class Progress:
    """A bar that is told how much is done."""

    def __init__(self, total: int | None, what: str, asked: bool | None) -> None:
        self._bar: Any = None
        self._done = 0
        if asked is False or (asked is None and not sys.stderr.isatty()):
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=total, desc=what, unit="", unit_scale=True, leave=False)

    @property
    def is_shown(self) -> bool:
        """Whether anybody sees it."""
        return self._bar is not None

    def tell(self, done: int) -> None:
        """So much is done in all."""
        if self._bar is not None:
            self._bar.update(done - self._done)
            self._done = done

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
