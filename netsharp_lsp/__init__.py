"""Languages, checker, formatter, server and command line of netsharp.

This file holds the version and what a process does first, so that ``netsharp --version`` reads
nothing else.
"""

import sys

__version__ = "0.1.0"


def leave_interrupts_to_the_system() -> None:
    """Let Ctrl-C end the process silently, where Python would print how far imports were.

    `main` takes them over. Imports nothing that has to be read: `signal` is written in Python.
    """
    import _signal  # type: ignore[import-not-found]

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


if sys.argv[:1] == ["-m"]:
    # `python -m netsharp_lsp` is looked for, and this is the first line of ours that it runs.
    leave_interrupts_to_the_system()
