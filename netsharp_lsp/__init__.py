"""Languages, checker, formatter, server and command line of netsharp.

This file holds the version alone, so that ``netsharp --version`` reads nothing else.
"""

__version__ = "0.1.0"
