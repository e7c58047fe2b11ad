"""The examples in the public docstrings run, in a folder like `tests/data`."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from pprofdiff import api
from tests.conftest import DATA

MODULES = [module.name for module in pkgutil.iter_modules(api.__path__)]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_examples(name, monkeypatch):
    monkeypatch.chdir(DATA)
    module = importlib.import_module(f"pprofdiff.api.{name}")
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failed == 0


@pytest.mark.parametrize("name", ["load", "compare", "load_many"])
def test_there_are_examples(name):
    assert ">>> " in getattr(api, name).__doc__
