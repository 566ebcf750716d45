"""The files around a specification on disk: run file, data, settings, neighbours; no language."""
