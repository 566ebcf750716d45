"""Print the messages of drawn codes, to be read as a newcomer would: their examples, found.

``python -m tests.words.sample SEED [COUNT]``.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

from netsharp_lsp.cntk.rules import FOLDER as OF_CNTK
from netsharp_lsp.cntk.rules import RULES as RULES_OF_CNTK
from netsharp_lsp.diagnostics.pages import RuleBook
from netsharp_lsp.netsharp.rules import FOLDER as OF_NETSHARP
from netsharp_lsp.netsharp.rules import RULES as RULES_OF_NETSHARP
from tests.cntk.rules.examples import Example
from tests.cntk.rules.test_pages import HELD, MATCHED, READ
from tests.rules.test_pages import found

BOOKS = {"NS": RuleBook(OF_NETSHARP)} | dict.fromkeys(("CK", "BS", "ND", "ME"), RuleBook(OF_CNTK))


def codes() -> list[str]:
    """Return the codes whose examples are found without a disk."""
    left_out = (*MATCHED, *READ, *HELD)
    known = {code for book in BOOKS.values() for code in book.codes}
    return sorted(code for code in known if code[:2] in BOOKS and code not in left_out)


def messages(code: str) -> Iterator[str]:
    """Yield the messages of a code's bad example."""
    page = BOOKS[code[:2]].page(code)
    if code.startswith("NS"):
        yield from (one.message for one in found(page.bad, page.context) if one.code == code)
        return
    for listed in Example(page.bad_blocks).found().values():
        yield from (one.message for one in listed if one.code == code)


def main(seed: int, count: int) -> None:
    """Print a title and the messages for each drawn code."""
    RULES_OF_NETSHARP.load()
    RULES_OF_CNTK.load()
    for code in sorted(random.Random(seed).sample(codes(), count)):
        print(f"{code} {BOOKS[code[:2]].title(code)}")
        for message in messages(code):
            print(f"    {message}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 60)
