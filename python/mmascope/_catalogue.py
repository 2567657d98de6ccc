"""The catalogue, and instructions and units as objects."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _checks, _core
from ._errors import ArgumentError, UnknownNameError
from ._report import Rows

if TYPE_CHECKING:
    from ._explain import Explanation
    from ._tree import Tree

_lock = threading.Lock()
_current: _core.Catalogue | None = None
#: What :func:`load_isa` has added, as names and texts: other processes load the same.
_loaded: list[tuple[str, str]] = []


def current() -> _core.Catalogue:
    """The catalogue that is asked when no other is named."""
    global _current
    if _current is None:
        with _lock:
            if _current is None:
                _current = _core.Catalogue.built_in()
    return _current


class Instruction:
    """An instruction of the catalogue, or a :class:`Unit` of your own.

    Made by :func:`find`; compared by architecture and name.
    """

    def __init__(self, row: _core.Row, catalogue: _core.Catalogue | None = None) -> None:
        self._row = row
        #: The catalogue that it is of, where that may be another than the one in use.
        self._catalogue = catalogue
        #: What has been found to name its architecture.
        self._arch_names: set[str] = set()
        self._facts: dict[str, Any] = json.loads(row.json())
        self._kinds = row.kinds()

    @property
    def arch(self) -> str | None:
        """The architecture; ``None`` for a unit of your own."""
        value: str | None = self._facts["arch"]
        return value

    @property
    def name(self) -> str | None:
        """The canonical name; ``None`` for a unit of your own."""
        value: str | None = self._facts["inst"]
        return value

    @property
    def signature(self) -> str:
        """Operand formats and K: ``a=f16 b=f16 c=f32 d=f32 k=16``."""
        return self._row.signature()

    @property
    def k(self) -> int:
        """Products of one instruction."""
        return self._kinds[5]

    @property
    def facts(self) -> dict[str, Any]:
        """Everything that ``mmascope list --json`` says of it."""
        return dict(self._facts)

    @property
    def arithmetic(self) -> str | None:
        """The program in the catalogue's notation; ``None`` where nobody has published it."""
        value: str | None = self._facts["arithmetic"]
        return value

    @_checks.named
    def dot(self, a: Any, b: Any, c: Any = None, *, scale_a: Any = None, scale_b: Any = None,
            mods: Sequence[str] = ()) -> Any:
        """One dot product ``c + sum(a * b)`` by one instruction.

        Parameters
        ----------
        a, b : array, shape (K,)
            Floats are numbers, rounded to the operand's format where they are not in it; of integers see
            :func:`mmascope.matmul`.
        c : array, shape (), optional
            The accumulator; +0 where it is left out.
        scale_a, scale_b : array, shape (K / block,), optional
            Block scales, codes of one byte each, for instructions that take them.
        mods : sequence of str
            Operand modifiers that the instruction has: ``negA``, ``noC`` and so on.

        Returns
        -------
        array, shape ()
            In the caller's array library, in the format of d.
        """
        from ._products import dot_of

        return dot_of(self, a, b, c, scale_a=scale_a, scale_b=scale_b, mods=mods)

    def matmul(self, a: Any, b: Any, c: Any = None, **options: Any) -> Any:
        """A whole product by this instruction; see :func:`mmascope.matmul`."""
        from ._products import matmul_of

        return matmul_of(self, a, b, c, **options)

    @_checks.named
    def explain(self, a: Any, b: Any, c: Any = None, *, scale_a: Any = None, scale_b: Any = None,
                mods: Sequence[str] = (), against: str | Instruction | None = None) -> Explanation:
        """One dot product step by step; text in a terminal, a page in a notebook.

        Parameters
        ----------
        against : str or Instruction, optional
            Another instruction that is given the same operands; the explanation says where they part.
        """
        from ._explain import explain_of

        return explain_of(self, a, b, c, scale_a=scale_a, scale_b=scale_b, mods=mods, against=against)

    def show(self) -> str:
        """What ``mmascope show`` prints: types, shapes, arithmetic in words, evidence, sources."""
        return self._row.show()

    def tree(self) -> Tree:
        """The summation tree over the products and c: order and formats.

        What a unit does to operands before (rounding, flushing) and to results (integers that wrap) is the unit's:
        :meth:`dot` has it, ``run`` and ``export`` of the tree do not.

        Raises
        ------
        ArgumentError
            The unit sums parts in another grouping, so that no tree has each product once.
        """
        from ._tree import Tree

        tree = self._row.tree()
        if tree is None:
            raise ArgumentError(f"{self!r} has no tree in which each product stands once")
        operands, result = self._kinds[0], self._kinds[3]
        return Tree(tree, {"operands": operands, "format": result, "products": self.k})

    def __reduce__(self) -> tuple[Any, ...]:
        # The arithmetic goes along: another process may have another catalogue.
        return _unpickled, (self.arch, self.name, self.signature, self.arithmetic)

    def __copy__(self) -> Instruction:
        return self

    def __deepcopy__(self, memo: Any) -> Instruction:
        # Nothing of it changes.
        return self

    def __repr__(self) -> str:
        if self.name is None:
            return f"<mmascope.Unit {self.signature}: {self.arithmetic}>"
        return f"<mmascope.Instruction {self.arch}:{self.name}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.show() if self._facts['modelled'] else repr(self))}</pre>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instruction):
            return NotImplemented
        mine, theirs = self._facts, other._facts
        return (mine["arch"], mine["inst"], self.signature, mine["arithmetic"]) == (
            theirs["arch"], theirs["inst"], other.signature, theirs["arithmetic"])

    def __hash__(self) -> int:
        return hash((self._facts["arch"], self._facts["inst"], self.signature))


class Unit(Instruction):
    """A unit that is in no catalogue, from its notation.

    Parameters
    ----------
    signature : str
        Operand formats and K, ``a=f16 b=f16 c=f32 d=f32 k=16 [scale=ue8m0 block=32]``.
    program : str
        The arithmetic in the catalogue's notation, ``t-fdpa L=16 F=25 e0=-133 -> rz f32``.

    Examples
    --------
    >>> unit = mmascope.Unit("a=bf16 b=bf16 c=f32 d=f32 k=2", "t-fdpa L=2 F=12 e0=-126 -> rne f32")
    >>> float(unit.dot([1.0, 1.0], [1.0, 1.0]))
    2.0
    """

    @_checks.named
    def __init__(self, signature: str, program: str) -> None:
        _checks.text(signature, "signature", "a=f16 b=f16 c=f32 d=f32 k=16", optional=False)
        _checks.text(program, "program", "t-fdpa L=16 F=25 e0=-133 -> rz f32", optional=False)
        super().__init__(_core.Row.from_notation(signature, program))


def _unpickled(arch: str | None, name: str | None, signature: str, arithmetic: str | None) -> Instruction:
    """The instruction that another process had, or an error where this one's catalogue has another of that name."""
    if arch is None or name is None:
        return Unit(signature, arithmetic or "")
    found = Instruction(current().find(arch, name))
    if (found.signature, found.arithmetic) != (signature, arithmetic):
        raise ArgumentError(f"{arch}:{name}: the catalogue of this process has other arithmetic of that name")
    return found


class Catalogue(Rows, Sequence[Instruction]):
    """Every instruction of every architecture, as a sequence."""

    def __init__(self, inner: _core.Catalogue, texts: Sequence[tuple[str, str]] = ()) -> None:
        self._inner = inner
        #: Names and texts of files beyond the shipped catalogue.
        self._texts = tuple(texts)
        self._made: list[Instruction] | None = None

    def _all(self) -> list[Instruction]:
        if self._made is None:
            self._made = [Instruction(row, self._inner) for row in self._inner.rows()]
        return self._made

    @property
    def hash(self) -> str:
        """Hash of the text in use, as every report has it."""
        return self._inner.hash()

    @property
    def architectures(self) -> list[dict[str, Any]]:
        """The architectures with their names, notes, sources and instructions."""
        value: list[dict[str, Any]] = json.loads(self._inner.architectures())
        return value

    @_checks.named
    def find(self, arch: str, instruction: str) -> Instruction:
        """The instruction of that name; see :func:`mmascope.find`."""
        return Instruction(self._inner.find(arch, instruction), self._inner)

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dictionary a row."""
        return [row.facts for row in self._all()]

    def _rows(self) -> list[dict[str, Any]]:
        return self.to_dicts()

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self._all())

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return _catalogue_unpickled, (self._texts, self.hash)

    def __repr__(self) -> str:
        return f"<mmascope.Catalogue of {len(self)} instructions, {self.hash}>"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(str(row.arch))}</td><td>{escape(str(row.name))}</td>"
            f"<td>{escape(row.arithmetic or 'unmodelled')}</td></tr>"
            for row in self._all()
        )
        return (
            "<details><summary>" + escape(repr(self)) + "</summary><table>"
            "<tr><th>arch</th><th>instruction</th><th>arithmetic</th></tr>" + rows + "</table></details>"
        )


def _catalogue_unpickled(texts: Sequence[tuple[str, str]], hash: str) -> Catalogue:
    """The catalogue that another process had, or an error where this one's version ships another."""
    inner = _core.Catalogue.built_in()
    for name, text in texts:
        inner = inner.extended(name, text)
    if inner.hash() != hash:
        raise ArgumentError("this process has another shipped catalogue than the one that pickled this")
    return Catalogue(inner, texts)


def _texts(isa: Any) -> list[tuple[str, str]]:
    """Names and texts of what the user calls a catalogue: paths, or text itself."""
    if isinstance(isa, (str, os.PathLike)):
        isa = [isa]
    if not isinstance(isa, Sequence):
        raise ArgumentError(f"isa: {isa!r} is no path, no text and no sequence of them")
    found = []
    for item in isa:
        if not isinstance(item, (str, os.PathLike)):
            raise ArgumentError(f"isa: {item!r} is no path and no text")
        if isinstance(item, str) and "\n" in item:
            found.append(("(text)", item))
            continue
        try:
            with open(item, encoding="utf-8") as file:
                found.append((os.fspath(item), file.read()))
        except (OSError, UnicodeDecodeError) as error:
            from ._errors import FileError

            raise FileError(f"isa: {os.fspath(item)}: {error}") from error
    return found


def catalogue(isa: Any = None) -> Catalogue:
    """The catalogue, with further files on top.

    Parameters
    ----------
    isa : path, text, or sequence of them, optional
        Files in the catalogue's notation. They hold for the returned catalogue alone.

    Returns
    -------
    Catalogue

    Raises
    ------
    TextError
        With file, line and column.
    """
    with _lock:
        inner, texts = _current, [*_loaded]
    inner = inner or current()
    for name, text in _texts(isa if isa is not None else ()):
        inner = inner.extended(name, text)
        texts.append((name, text))
    return Catalogue(inner, texts)


def load_isa(isa: Any) -> Catalogue:
    """Adds files in the catalogue's notation to the catalogue of this process.

    Parameters
    ----------
    isa : path, text, or sequence of them

    Returns
    -------
    Catalogue
        What is in use from now on.

    Raises
    ------
    TextError
        With file, line and column; nothing is added then.
    """
    global _current
    texts = _texts(isa)
    base = current()
    with _lock:
        inner = _current or base
        for name, text in texts:
            inner = inner.extended(name, text)
        _current = inner
        _loaded.extend(texts)
        return Catalogue(inner, _loaded)


def loaded() -> list[tuple[str, str]]:
    """Names and texts of what :func:`load_isa` has added in this process."""
    return list(_loaded)


@_checks.named
def find(arch: str, instruction: str | None = None) -> Instruction:
    """An instruction by its name.

    Parameters
    ----------
    arch : str
        Architecture or chip: ``hopper``, ``sm_90``, ``H100``.
    instruction : str
        Its name in any accepted spelling, operand types whose default is meant (``f16``, ``e4m3,e4m3,f32``), or
        nothing when ``arch`` is ``ARCH:INST``.

    Returns
    -------
    Instruction

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> mmascope.find("h100", "mma.m16n8k8.f32.f16.f16.f32").k
    8
    """
    if not isinstance(arch, str):
        raise ArgumentError(f"arch: {arch!r} is no name of an architecture")
    if instruction is None:
        if ":" not in arch:
            raise ArgumentError(f"instruction: none is named; find({arch!r}, 'f16') names the default of f16 operands")
        arch, instruction = arch.split(":", 1)
    if not isinstance(instruction, str):
        raise ArgumentError(f"instruction: {instruction!r} is no name of an instruction")
    return Instruction(current().find(arch, instruction))


def instruction_of(value: Any, argument: str) -> Instruction:
    """An instruction, or the one of that name."""
    if isinstance(value, str) and ":" in value:
        return find(value)
    if not isinstance(value, Instruction):
        raise ArgumentError(f"{argument}: {value!r} is no instruction and no name ARCH:INST")
    return value


__all__ = ["Catalogue", "Instruction", "Unit", "UnknownNameError", "catalogue", "current", "find", "instruction_of", "load_isa"]
