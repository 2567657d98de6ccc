"""Summation trees as values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy

from . import _checks, _core
from ._errors import ArgumentError


class Tree:
    """A summation tree: which terms are added in which order, and how.

    Two trees are equal when they sum the same leaves in the same order with the same operations. What is known beside
    that (names of leaves, which leaves are products, ``report``) does not count.
    """

    def __init__(self, inner: _core.Tree, report: dict[str, Any] | None = None) -> None:
        self._inner = inner
        self.report: dict[str, Any] = report or {}

    @staticmethod
    def from_json(value: str | dict[str, Any] | int | Any) -> Tree:
        """Reads a tree: NODE, the flat form, or what ``mmascope reveal --json`` prints.

        What a file says beside the tree (names of leaves, products, formats, fused bits, verification) is kept as
        ``report``, which :meth:`run` and :meth:`export` follow.

        Parameters
        ----------
        value : str, dict or int
            JSON text, what ``json.loads`` makes of it, or another :class:`Tree`'s :meth:`to_json`. The canonical text
            is read too.

        Raises
        ------
        ArgumentError
            Saying what is wrong, and where.
        """
        if not isinstance(value, str):
            try:
                value = json.dumps(value)
            except RecursionError as error:
                raise ArgumentError("the tree nests too deep for JSON; give its text or the flat form") from error
            except TypeError as error:
                raise ArgumentError(f"value: {error}") from error
        inner, facts = _core.Tree.read(value)
        report: dict[str, Any] = json.loads(facts)
        # The flat form always has the leaves, whose names the tree has.
        return Tree(inner, report if set(report) - {"leaves", "n"} else None)

    def to_json(self, flat: bool | None = None) -> Any:
        """The tree as data for ``json.dumps``: a tree file, which ``mmascope tree`` reads as well.

        It has ``report`` and the names of leaves beside the tree (``tree``, or ``nodes`` and ``root``). A tree without
        either is NODE alone.

        Parameters
        ----------
        flat : bool, optional
            The flat form. By default nodes in nodes up to 1,000 levels, and the flat form above, because JSON readers do not
            follow deeper nesting.

        Returns
        -------
        dict or int
        """
        text = self.to_text(flat)
        return json.loads(text) if flat or self.depth < 400 else _loads_deep(text)

    def to_text(self, flat: bool | None = None) -> str:
        """The same as JSON text."""
        try:
            facts = json.dumps(self.report, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ArgumentError(f"report: {error}") from error
        return self._inner.json(flat is not None and _checks.flag(flat, "flat"), facts)

    @property
    def leaves(self) -> int:
        """Number of summands."""
        return self._inner.leaves()

    @property
    def names(self) -> list[str]:
        """Names of the summands, where they have some."""
        return self._inner.names()

    @property
    def depth(self) -> int:
        """Nodes on the longest way from a leaf to the root."""
        return self._inner.statistics()[1]

    @property
    def pattern(self) -> str:
        """One line that describes it: ``sequential``, ``8-way strided, pairwise combine``."""
        return self._inner.pattern()

    @property
    def verified(self) -> dict[str, Any]:
        """Trials and mismatches of the comparison with the subject; empty for a tree that was not revealed."""
        value = self.report.get("verified")
        return value if isinstance(value, dict) else {}

    def difference(self, other: Tree) -> str | None:
        """What differs from another tree, in words; ``None`` when nothing does."""
        if not isinstance(other, Tree):
            raise ArgumentError(f"other: {type(other).__name__} is no tree")
        return self._inner.difference(other._inner)

    @_checks.named
    def run(self, values: Any, dtype: str | None = None, *, others: Any = None, fused_bits: int | None = None,
            rounding: str | None = None, fused_rounding: str | None = None) -> float:
        """Sums numbers in the order and the formats of the tree, and rounds the sum to the format of the results.

        That is the format of what the subject returned, where ``report`` says it; a sum in a wider format is rounded to
        it, as the subject does.

        Parameters
        ----------
        values : array, shape (leaves,)
            Numbers, or first factors of products.
        dtype : str, optional
            Format of the operands; what ``reveal`` found, else f32. Where one of the two says it, numbers that are none of
            the format raise an error; decimals are taken as the nearest number of f32 and f64.
        others : array, shape (products,), optional
            Second factors; leaves without one are numbers.
        fused_bits : int, optional
            Fraction bits that fused nodes keep; what ``reveal`` found.
        rounding, fused_rounding : str, optional
            What ``reveal`` found, else rne.

        Returns
        -------
        float

        Raises
        ------
        ArgumentError
            Another number of values than of leaves, values that are no numbers of the operands' format, a node without
            known arithmetic, or nodes ``fma`` without ``others``: they multiply.
        """
        report = self.report
        numbers = _numbers(values, "values")
        if len(numbers) != self.leaves:
            raise ArgumentError(f"values: {len(numbers)} numbers for a tree of {self.leaves} leaves")
        factors = None if others is None else _numbers(others, "others")
        for name, argument in ((dtype, "dtype"), (rounding, "rounding"), (fused_rounding, "fused_rounding")):
            _checks.text(name, argument, "f32" if argument == "dtype" else "rne")
        _checks.whole(fused_bits, "fused_bits", optional=True, most=1 << 16)
        return self._inner.run(
            numbers,
            factors,
            dtype if dtype is not None else report.get("operands"),
            fused_bits if fused_bits is not None else report.get("fused_bits"),
            fused_rounding if fused_rounding is not None else report.get("fused_rounding"),
            rounding if rounding is not None else report.get("rounding"),
            report.get("format"),
            report.get("products"),
        )

    @_checks.named
    def export(self, language: str, products: int | None = None, dtype: str | None = None) -> str:
        """Code that sums in this order with these bits, and returns the format of the results that ``report`` says.

        Parameters
        ----------
        language : {"rust", "c", "python", "cuda"}
        products : int, optional
            How many leaves, the first ones, are products; what ``report`` says, else none.
        dtype : str, optional
            Format of the operands; what ``report`` says, else f32.

        Raises
        ------
        ArgumentError
            A node has no counterpart in the language, or nodes are ``fma`` and ``products`` is 0: they multiply.
        """
        report = self.report
        _checks.text(language, "language", "python", optional=False)
        _checks.text(dtype, "dtype", "f32")
        _checks.whole(products, "products", optional=True, most=self.leaves)
        return self._inner.export(
            language,
            products if products is not None else report.get("products") or 0,
            dtype if dtype is not None else report.get("operands"),
            report.get("fused_bits"),
            report.get("fused_rounding"),
            report.get("rounding"),
            report.get("format"),
        )

    def svg(self, title: str = "") -> str:
        """A drawing; more than a few dozen leaves are folded by pattern."""
        _checks.text(title, "title", "my sum", optional=False)
        return self._inner.svg(title)

    def dot(self) -> str:
        """Graphviz text."""
        return self._inner.dot()

    def renamed(self, names: Sequence[str]) -> Tree:
        """The same tree with these names of leaves."""
        own = _checks.texts(names, "names", "p0")
        if len(own) not in (0, self.leaves):
            raise ArgumentError(f"names: {len(own)} names for {self.leaves} leaves")
        report = {**self.report, "leaves": own} if "leaves" in self.report else self.report
        return Tree(self._inner.renamed(own), report)

    def _repr_svg_(self) -> str:
        return self._inner.svg(str(self.report.get("subject", "")))

    def _repr_html_(self) -> str:
        from html import escape

        subject = str(self.report.get("subject", ""))
        facts = [self.pattern]
        if {"mismatches", "trials"} <= set(self.verified):
            facts.append(f"{self.verified['mismatches']} of {self.verified['trials']} trials differ")
        return f"<figure>{self._inner.svg(subject)}<figcaption>{escape('; '.join(facts))}</figcaption></figure>"

    def __str__(self) -> str:
        return self._inner.text()

    def __repr__(self) -> str:
        return f"<mmascope.Tree of {self.leaves} leaves: {self.pattern}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self._inner.equals(other._inner)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # The flat form has no depth that a reader could not follow.
        return _unpickled, (self._inner.json(True), self.names, self.report)


def _numbers(values: Any, argument: str) -> list[float]:
    try:
        found: list[float] = numpy.asarray(values, dtype=numpy.float64).ravel().tolist()
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{argument}: {error}") from error
    return found


def _unpickled(text: str, names: list[str], report: dict[str, Any]) -> Tree:
    """The tree that another process had."""
    return Tree(_core.Tree.read(text)[0].renamed(names), report)


def _loads_deep(text: str) -> Any:
    """JSON that may nest up to 1,000 levels."""
    import sys

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 8000))
    try:
        return json.loads(text)
    finally:
        sys.setrecursionlimit(limit)
