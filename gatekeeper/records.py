"""Frozen dataclasses that cost little to define: `@dataclass` as in the standard library, to types and to readers the same.

The standard decorator compiles six methods for every class when its module is imported. A check defines some two hundred
such classes and ends in a second, and a fifth of its own time went into that. Here the methods that are alike in every
class are shared, and the initialiser is compiled when the first object is made. `dataclasses.fields`, `replace`, `asdict`
and `is_dataclass` work as ever.
"""

from __future__ import annotations

import dataclasses
from dataclasses import field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass
    from typing import NoReturn

__all__ = ["dataclass", "field", "replace"]

_T = TypeVar("_T")
_UNSET = object()


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Gives what these fields of an object hold, as a tuple whatever their number."""
    several = attrgetter(*names) if len(names) > 1 else None

    def values(one: Any) -> tuple[Any, ...]:
        return several(one) if several else tuple(getattr(one, name) for name in names)

    return values


def _initialiser(cls: type, parts: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    """`__init__` for these fields, in the standard library's meaning (defaults, factories, `__post_init__`)."""
    known: dict[str, Any] = {"_put": object.__setattr__, "_unset": _UNSET}
    takes, lines = ["self"], []
    for part in parts:
        value = part.name
        if part.default is not dataclasses.MISSING:
            known[f"_default_{part.name}"] = part.default
            takes.append(f"{part.name}=_default_{part.name}")
        elif part.default_factory is not dataclasses.MISSING:
            known[f"_make_{part.name}"] = part.default_factory
            takes.append(f"{part.name}=_unset")
            value = f"_make_{part.name}() if {part.name} is _unset else {part.name}"
        else:
            takes.append(part.name)
        lines.append(f" _put(self, {part.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec(f"def __init__({', '.join(takes)}):\n" + "\n".join(lines or [" pass"]), known)  # noqa: S102 - field names only
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _refuse_set(_self: object, name: str, _value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(_self: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _methods(made: type, parts: tuple[dataclasses.Field[Any], ...]) -> dict[str, Callable[..., Any]]:
    """The methods of a frozen class of these fields, by name. None of them is compiled here."""
    compared = _values([part.name for part in parts if part.compare])
    hashed = _values([part.name for part in parts if (part.compare if part.hash is None else part.hash)])
    shown = [part.name for part in parts if part.repr]

    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        real = _initialiser(made, parts)
        type.__setattr__(made, "__init__", real)
        real(self, *args, **kwargs)

    def equal(self: Any, other: object) -> bool:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def hashing(self: Any) -> int:
        return hash(hashed(self))

    def show(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    return {"__init__": initialise, "__eq__": equal, "__hash__": hashing, "__repr__": show}


def _stored(parts: tuple[dataclasses.Field[Any], ...]) -> dict[str, Callable[..., Any]]:
    """How a frozen object without a dictionary is pickled and copied: setting names is refused, so values are put."""
    values = _values([part.name for part in parts])

    def put(self: Any, state: tuple[Any, ...]) -> None:
        for part, value in zip(parts, state, strict=True):
            object.__setattr__(self, part.name, value)

    return {"__getstate__": values, "__setstate__": put}


def _frozen(cls: type[_T], slots: bool) -> type[_T]:
    own = vars(cls)
    written = set(own) - ({"__hash__"} if "__eq__" not in own and own.get("__hash__", "") is None else set())
    cls.__doc__ = cls.__doc__ or cls.__name__  # the standard one would write the signature, which is not known yet
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    parts = dataclasses.fields(made)  # type: ignore[arg-type]
    if odd := [part.name for part in parts if not part.init or part.kw_only]:
        raise TypeError(
            f"{cls.__qualname__}: {odd} need the standard decorator (init=False and kw_only are not built here)"
        )
    methods = {**_methods(made, parts), **(_stored(parts) if slots else {})}
    for name in methods.keys() - written:
        setattr(made, name, methods[name])
    type.__setattr__(made, "__setattr__", _refuse_set)
    type.__setattr__(made, "__delattr__", _refuse_delete)
    return made


if not TYPE_CHECKING:

    def dataclass(cls=None, /, *, frozen=False, slots=False, **others):  # noqa: ANN001, ANN003, ANN201 - typed above
        """The standard decorator; a frozen class with no other options is made the cheap way."""
        if not frozen or others:
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, **others)
        if cls is None:
            return lambda found: _frozen(found, slots)
        return _frozen(cls, slots)
