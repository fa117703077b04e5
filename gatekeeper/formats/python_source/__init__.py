"""Test modules as source: which tests they define, what a test is made of, what hides or silences it."""

from gatekeeper.formats.python_source.additions import new_or_changed
from gatekeeper.formats.python_source.inventory import TestFunction, TestModule, read_module
from gatekeeper.formats.python_source.material import Material, material, proves_nothing

__all__ = ["Material", "TestFunction", "TestModule", "material", "new_or_changed", "proves_nothing", "read_module"]
