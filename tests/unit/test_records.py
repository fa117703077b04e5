"""The cheap decorator means what the standard one means: the same class made both ways behaves the same."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper import records


@records.dataclass(frozen=True)
class Plain:
    """A plain one."""

    name: str
    number: int = 3
    many: tuple[str, ...] = ()
    box: list[int] = records.field(default_factory=list, compare=False, repr=False)


@records.dataclass(frozen=True, slots=True)
class Slotted:
    name: str
    box: dict[str, int] = records.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("name is empty")


@records.dataclass(frozen=True)
class Longer(Plain):
    more: str = "m"


@records.dataclass(frozen=True)
class Own:
    name: str

    def __repr__(self) -> str:
        return "own"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __hash__(self) -> int:
        return 7


@records.dataclass(frozen=True)
class Empty:
    pass


def standard(cls: type, **options: Any) -> type:
    """The same class by the standard decorator."""
    body = {
        part.name: part.default if part.default is not dataclasses.MISSING else dataclasses.field(
            default_factory=part.default_factory, compare=part.compare, repr=part.repr
        )
        for part in dataclasses.fields(cls)
        if part.default is not dataclasses.MISSING or part.default_factory is not dataclasses.MISSING
    }  # fmt: skip
    body["__annotations__"] = {part.name: part.type for part in dataclasses.fields(cls)}
    body["__qualname__"] = cls.__qualname__
    return dataclasses.dataclass(frozen=True, **options)(type(cls.__name__, (), body))


@given(st.text(), st.integers(), st.lists(st.text()).map(tuple), st.lists(st.integers()))
def test_same_as_the_standard_one(name, number, many, box):
    for cls, options in ((Plain, {}), (Longer, {})):
        other = standard(cls, **options)
        one, two = cls(name, number, many=many, box=box), other(name, number, many=many, box=box)
        assert repr(one) == repr(two)
        assert hash(one) == hash(two)
        assert dataclasses.asdict(one) == dataclasses.asdict(two)
        assert one == cls(name, number, many)
        assert one != two
        assert one != cls(name, number, (*many, "x"))
        assert dataclasses.replace(one, number=number + 1) == cls(name, number + 1, many)
        assert dataclasses.replace(one, number=number + 1) != one


@pytest.mark.parametrize("cls", [Plain, Longer, Slotted, Empty])
def test_initialiser_is_the_standard_one_in_every_call(cls):
    other = standard(cls) if cls is not Slotted else standard(cls, slots=True)
    for args, kwargs in (
        ((), {}),
        (("a",), {}),
        ((), {"name": "b"}),
        (("a",), {"name": "b"}),
        (("a",), {"unknown": 1}),
        (range(9), {}),
    ):
        told = []
        for made in (cls, other):
            try:
                told.append(repr(made(*args, **kwargs)))
            except TypeError as error:
                told.append(str(error))
        assert told[0] == told[1]
    cls(*(("a",) if cls is not Empty else ()))
    names = [p.name for p in inspect.signature(cls).parameters.values()]
    assert names == [part.name for part in dataclasses.fields(cls)]
    assert cls.__match_args__ == tuple(names)


def test_factories_make_a_new_one_each_time():
    assert Plain("a").box is not Plain("b").box
    assert Slotted("a").box is not Slotted("b").box


def test_what_is_checked_after_making_is_checked_each_time():
    for _ in range(2):
        with pytest.raises(ValueError, match="empty"):
            Slotted("")


@pytest.mark.parametrize("one", [Plain("a"), Longer("a"), Slotted("a"), Own("a")])
def test_nothing_can_be_set_or_deleted(one):
    for name in ("name", "unknown"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, name, "x")
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(one, name)
    assert one.name == "a"


@pytest.mark.parametrize("one", [Plain("a", box=[1]), Longer("a", more="x"), Slotted("a", {"k": 1}), Empty()])
def test_copied_and_pickled(one):
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert other == one
        assert repr(other) == repr(one)
        assert dataclasses.is_dataclass(other)


def test_slots_have_no_dictionary():
    assert not hasattr(Slotted("a"), "__dict__")
    assert Slotted.__slots__ == ("name", "box")


def test_what_a_class_writes_itself_stays():
    assert repr(Own("a")) == "own"
    assert Own("a") == Own("b")
    assert hash(Own("a")) == 7


def test_a_subclass_that_is_no_record_and_makes_the_first_object():
    @records.dataclass(frozen=True)
    class Base:
        name: str

    class Below(Base):
        def __init__(self) -> None:
            super().__init__("below")

    assert Below().name == "below"
    assert Base("x").name == "x"
    assert Below().name == "below"


def test_fields_that_are_not_built_here_are_refused_when_the_class_is_made():
    with pytest.raises(TypeError, match="standard decorator"):

        @records.dataclass(frozen=True)
        class Odd:
            name: str = records.field(init=False, default="x")


def test_a_class_that_is_not_frozen_is_the_standard_one():
    @records.dataclass
    class Open:
        name: str = "a"

    one = Open()
    one.name = "b"
    assert one == Open("b")
    assert Open.__hash__ is None


def test_no_method_is_compiled_before_an_object_is_made():
    """What the module exists for, told by the number of compilations."""
    program = """
import builtins
from gatekeeper import records
ran, real = [], builtins.exec
builtins.exec = lambda *a: ran.append(a[0]) or real(*a)
@records.dataclass(frozen=True)
class Some:
    'doc'
    name: str
    number: int = 1
assert ran == [], ran
Some('a'), Some('b')
assert len(ran) == 1, ran
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
