"""What the tests of a Python module assert, read from the source and never run.

`read(source)` gives a `ModuleAssertions`, or None where the text is no Python that can be read.
"""

from gatekeeper.formats.python_assertions.doubles import Double
from gatekeeper.formats.python_assertions.expression import Assertion, Kind, State
from gatekeeper.formats.python_assertions.reading import Body, ModuleAssertions, read

__all__ = ["Assertion", "Body", "Double", "Kind", "ModuleAssertions", "State", "read"]
