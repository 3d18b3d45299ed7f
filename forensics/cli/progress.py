"""Progress on standard error, on a terminal only."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress(wanted: bool | None) -> Iterator[Callable[[str, int], None] | None]:
    """Yield a function that is told of each input that was read, or None when nobody watches."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield None
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    with console.status("reading") as status:

        def tick(name: str, size: int) -> None:
            status.update(Text(f"read {name} ({size / 1e6:,.1f} MB)"))

        yield tick
