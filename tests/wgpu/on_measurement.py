"""The whole measurement of a device on the software driver: it runs, and claims no figure."""

from __future__ import annotations

import sys

from tests.wgpu.bench_path import bench

with bench():
    import graphics.__main__ as command
    from graphics.networks import WORKLOADS


def test_the_whole_path_runs_and_its_report_is_marked(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "WORKLOADS", WORKLOADS[:2])
    report = tmp_path / "software.md"
    flags = ["--software", "--report", str(report), "--rounds", "1", "--seconds", "0"]
    monkeypatch.setattr(sys, "argv", ["graphics", *flags])
    assert command.main() == 0
    text = report.read_text(encoding="utf-8")
    assert "**Software that plays a device: times mean nothing and are left out.**" in text
    assert "| Puri/Simard | 2 | ran | ran | - | - | - |" in text
    assert text.count("| met |") == 2 * 9
    assert "NOT MET" not in text
    assert f"report: {report}" in capsys.readouterr().out
