"""Tests of `pprofdiff.report.html`."""
