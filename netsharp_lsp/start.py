"""The start of the installed command, which a program that imports netsharp never loads."""

from __future__ import annotations

from netsharp_lsp import leave_interrupts_to_the_system

leave_interrupts_to_the_system()

from netsharp_lsp.__main__ import main  # noqa: E402

__all__ = ["main"]
