"""Checks of arguments, and messages of the program in Python's words."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy

from ._errors import ArgumentError, Error, TextError, UnknownNameError

#: What messages call a thing -> arguments that name one, beside those of a like name.
TAKEN = {
    "instruction": ("against", "like", "units"), "architecture": ("arch", "archs", "units", "against", "like"),
    "format": ("to", "source", "dtype", "signature"), "algorithm": ("program",),
}

#: What messages advise, for functions that take it.
SATURATE = "; saturate=True clamps such numbers"

P = ParamSpec("P")
R = TypeVar("R")


def named(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose messages about a wrong name begin with the argument that has the name."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (ArgumentError, TextError, UnknownNameError) as error:
            signature = inspect.signature(function)
            given = signature.bind(*args, **kwargs).arguments
            # A function of ours that this one called may have named an argument of its own.
            error.unnamed = getattr(error, "unnamed", str(error))
            argument = _whose(error.unnamed, given)
            if argument is not None:
                error.args = (f"{argument}: {error.unnamed}",)
            if "saturate" not in signature.parameters:
                error.args = (str(error).replace(SATURATE, ""),)
            raise

    return call


def _whose(message: str, given: Mapping[str, Any]) -> str | None:
    """The argument that has the name which a message quotes; ``None`` where the message names it, or none has it."""
    # What comes after is what is allowed.
    quoted = re.search(r"(?:^|[ :])'([^']+)'", re.split("; (?:nearest|allowed|expected)", message)[0])
    name = quoted[1].casefold() if quoted else ""
    leads = next((argument for argument in given if re.match(rf"{re.escape(argument)}\b", message)), None)
    kind = re.search(r"unknown ([a-z ]+?) '", message)
    noun = kind[1].split()[-1] if kind else ""
    exact: list[str] = []
    within: list[str] = []
    for argument, value in given.items():
        items = [value] if isinstance(value, str) else value if isinstance(value, (tuple, list)) else []
        texts = [item.casefold() for item in items if isinstance(item, str)]
        if name and name in texts:
            exact.append(argument)
        elif name and any(name in re.split(r"[:,\s=]+", text) for text in texts):
            within.append(argument)

    def fitting(arguments: list[str]) -> list[str]:
        return [it for it in arguments if it in TAKEN.get(noun, ()) or noun and noun.startswith(it[:5])]

    for found in (fitting(exact), fitting(within), exact):
        if len(found) == 1 and (found is not within or leads is None):
            return None if found[0] == leads else found[0]
    if leads is not None:
        return None
    if len(within) == 1:
        return within[0]
    if message.startswith("unknown operand types") and "a" in given:
        return "a, b and c" if given.get("c") is not None else "a and b"
    return None


def text(value: Any, argument: str, example: str, optional: bool = True) -> None:
    """Refuses what is no text."""
    if not isinstance(value, str) and not (optional and value is None):
        raise ArgumentError(f"{argument}: {value!r} is no text, such as {example!r}")


def whole(value: Any, argument: str, least: int = 0, optional: bool = False, most: int = (1 << 64) - 1) -> None:
    """Refuses what is no whole number of a range."""
    if optional and value is None:
        return
    is_whole = isinstance(value, (int, numpy.integer)) and not isinstance(value, bool)
    if not is_whole or not least <= int(value) <= most:
        limit = f"{least} or more is needed" if most >= (1 << 63) - 1 else f"{least} to {most} are possible"
        raise ArgumentError(f"{argument} = {value!r}: {limit}")


def number(value: Any, argument: str) -> float:
    """A number as a float."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{argument}: {value!r} is no number") from error


def flag(value: Any, argument: str) -> bool:
    """A yes or no."""
    if value is True or value is False:
        return bool(value)
    if isinstance(value, (bool, numpy.bool_)):
        return bool(value)
    raise ArgumentError(f"{argument}: {value!r} is neither True nor False")


def texts(value: Any, argument: str, example: str) -> list[str]:
    """One text or several, as a list."""
    items = [value] if isinstance(value, str) else list(value) if isinstance(value, Sequence) else None
    if items is None or not all(isinstance(item, str) for item in items):
        raise ArgumentError(f"{argument}: {value!r} is no text and no sequence of texts, such as {example!r}")
    return items


#: Options of the program, and the arguments that give them here where they have another name.
NAMES = {
    "arch": "units", "inst": "instruction", "dist": "distribution", "schedule": "schedules", "as": "against",
}


def in_python(message: str, names: Mapping[str, str] = NAMES) -> str:
    """A message of the program without its options."""
    message = re.split(r"\n\s*(?:tip:|Usage:|For more information)", message)[0].strip().removeprefix("error: ")
    message = message.replace("saturate (--saturate) to clamp", "saturate=True to clamp")
    message = message.replace("`mmascope list ARCH` has all of an architecture", "mmascope.catalogue() has all")
    message = message.replace("`mmascope list` has all", "mmascope.catalogue().architectures has all")
    message = message.replace("OPERATION:", "operation:")

    def name(option: str) -> str:
        return names.get(option, option.replace("-", "_"))

    # --types f16,f16,f32 and --arch a100: are a name with its value.
    message = re.sub(r"--([a-z-]+) ([a-z0-9]+(?:,[a-z0-9/-]+)+)", lambda it: f"{name(it[1])}={it[2]!r}", message)
    message = re.sub(r"--([a-z-]+) ([^\s:'<>-][^\s'<>]*):(?=\s)", lambda it: f"{name(it[1])}={it[2]!r}:", message)
    return re.sub(r"'?--([a-z][a-z-]*)(?: <[^>]*>)?'?", lambda it: name(it[1]), message)


def translated(error: Error, names: Mapping[str, str] = NAMES) -> Error:
    """An exception of the program with arguments of Python; names that are not known have a class of their own."""
    message = in_python(str(error), names)
    is_unknown = type(error) is ArgumentError and re.search(r"(^|: )unknown ", message)
    return UnknownNameError(message) if is_unknown else type(error)(message)
