"""Rules that are found by being there: modules and pages in a folder a subject; knows no rule."""

from __future__ import annotations

import os
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def subjects_in(folder: str) -> Iterator[str]:
    """The folders of a folder, by their names in order."""
    for name in sorted(os.listdir(folder)):
        if "." not in name and not name.startswith("_"):
            yield name


def import_rules(package: str, folder: str) -> None:
    """Import every module in the folders of a package, which stands in `folder`."""
    for subject in subjects_in(folder):
        for name in sorted(os.listdir(os.path.join(folder, subject))):
            if name.endswith(".py") and not name.startswith("_"):
                import_module(f"{package}.{subject}.{name.removesuffix('.py')}")
