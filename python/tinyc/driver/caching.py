"""What `tinyc cache` does: it lists what is kept of earlier compilations, bounds it, and clears it.

In: the arguments as `arguments` reads them. Out: a table on stdout, or how much was dropped.
"""

import argparse
from datetime import datetime

from tinyc.cache.folder import FOLDER_VARIABLE, CacheFolder, cache_path, open_cache
from tinyc.driver.running import print_line
from tinyc.text.table import Table, print_table


def cache_command(arguments: argparse.Namespace) -> int:
    """List the cache, or drop what is asked for.

    Raises:
        TinycError: `UnreadableFile`: its folder is not one of the user alone.
    """
    folder = cache_path()
    if folder is None:
        print_line("cache", f"none: {FOLDER_VARIABLE} is empty")
        return 0
    store = open_cache(folder)
    if arguments.clear or arguments.bound is not None:
        dropped = store.shrink(0 if arguments.clear else arguments.bound)
        print_line("cache", f"{folder}: {_entries(dropped)} dropped; {_held(store)}")
    else:
        entries = store.entries()
        if entries:
            rows = tuple((each.title, f"{each.size_bytes}", _shown_time(each.used)) for each in entries)
            print_table(Table(str(folder), ("entry", "bytes", "last used"), rows))
        print_line("cache", f"{folder}: {_held(store)}")
    return 0


def _held(store: CacheFolder) -> str:
    entries = store.entries()
    size_bytes = sum(each.size_bytes for each in entries)
    return f"{_entries(len(entries))}, {size_bytes} bytes of at most {store.limit_bytes}"


def _shown_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"
