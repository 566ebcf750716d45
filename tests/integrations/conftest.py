"""Registers the mark of tests that build and install."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: builds or installs; takes longer than a second")
