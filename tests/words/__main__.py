"""Print where texts do not follow the glossary: ``python -m tests.words [PATH ...]``."""

from __future__ import annotations

import sys

from tests.words.glossary import faults

count = 0
for below in sys.argv[1:] or [""]:
    for fault in faults(below):
        print(fault)
        count += 1
print(f"{count} places")
