"""Exceptions. All derive from :class:`Error`, and from what Python people catch."""

from __future__ import annotations


class Error(Exception):
    """Everything that mmascope raises."""

    #: The message without the name of an argument before it.
    unnamed: str

    def __str__(self) -> str:
        # KeyError would show the message in quotation marks.
        return str(self.args[0]) if self.args else ""


class ArgumentError(Error, ValueError):
    """An argument has a wrong value, length or shape."""


class DtypeError(ArgumentError, TypeError):
    """An array has elements that mean nothing here, or lies where they cannot be read."""


class UnknownNameError(Error, KeyError, ValueError):
    """A name (architecture, instruction, format, algorithm) is not known; the message has the nearest ones."""


class UnmodelledError(Error, NotImplementedError):
    """The instruction exists, but nobody has published its arithmetic."""


class TextError(Error, ValueError):
    """A text of the catalogue has an error; the message has file, line and column."""


class DeviceError(Error, RuntimeError):
    """A device under test or a callable failed, or answered nonsense."""


class FileError(Error, OSError):
    """A file could not be read or written."""
