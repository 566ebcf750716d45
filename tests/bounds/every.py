"""All bombs in one table, for tests and campaigns."""

from __future__ import annotations

from tests.bounds.table import (
    configurations,
    everywhere,
    files,
    hosts,
    models,
    netsharp,
    networks,
    reports,
    scripts,
    stored,
    tables,
)

EVERY = (
    *everywhere.BOMBS,
    *netsharp.BOMBS,
    *configurations.BOMBS,
    *scripts.BOMBS,
    *hosts.BOMBS,
    *files.BOMBS,
    *tables.BOMBS,
    *models.BOMBS,
    *networks.BOMBS,
    *reports.BOMBS,
    *stored.BOMBS,
)
