"""Our library and its public functions, for the tests that hold something of every one of them."""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.analysis.program import library_of
from netsharp_lsp.cntk.library import own_library
from tests.cntk.functions import BRAINSCRIPT
from tests.cntk.functions import LIBRARY as RECORDS

LIBRARY = library_of(own_library())


def _public(name: str) -> bool:
    record, _, own = name.rpartition(".")
    return record in RECORDS and not own.startswith("_")


#: What CNTK's own library has, by a list that knows nothing of ours, and what ours has beside it.
FUNCTIONS = tuple(
    dict.fromkeys(
        (
            *BRAINSCRIPT,
            *(
                one.qualified
                for one in LIBRARY.declarations
                if one.parameters is not None and _public(one.qualified)
            ),
        )
    )
)
