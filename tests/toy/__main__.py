"""The command line with the toy language: what a user's own program would be."""

from __future__ import annotations

import sys

from netsharp_lsp.__main__ import main
from netsharp_lsp.language import register
from tests.toy.language import FAMILY

if __name__ == "__main__":
    register(FAMILY)
    if "--spawn" in sys.argv:
        import multiprocessing

        sys.argv.remove("--spawn")
        multiprocessing.set_start_method("spawn")
    sys.exit(main(sys.argv[1:]))
