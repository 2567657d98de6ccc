"""One dot product step by step, for terminals and notebooks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from . import _checks
from ._catalogue import Instruction, instruction_of
from ._products import given_of, modifiers


class Explanation:
    """How one output is computed: text, a page, and every number as data."""

    def __init__(self, text: str, html: str, data: str) -> None:
        self._text, self.html, self._data = text, html, data

    @property
    def data(self) -> dict[str, Any]:
        """Every step with its bits, as ``mmascope explain --json`` gives it."""
        value: dict[str, Any] = json.loads(self._data)
        return value

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        # The page has styles of its own, which must not reach the notebook's.
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" style="width:100%;height:40em;border:0" '
            'sandbox="allow-scripts"></iframe>'
        )


def explain_of(
    row: Instruction,
    a: Any,
    b: Any,
    c: Any,
    *,
    scale_a: Any,
    scale_b: Any,
    mods: Sequence[str],
    against: str | Instruction | None,
) -> Explanation:
    """:meth:`Instruction.explain`."""
    names = modifiers(mods)
    given, _ = given_of(row, a, b, c, scale_a, scale_b, names)
    if against is None:
        return Explanation(*row._row.explain(given, names))
    other = instruction_of(against, "against")
    others, _ = given_of(other, a, b, c, scale_a, scale_b, names)
    return Explanation(*row._row.explain_against(given, other._row, others, names))


@_checks.named
def explain(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    arch: str,
    instruction: str | Instruction | None = None,
    scale_a: Any = None,
    scale_b: Any = None,
    mods: Sequence[str] = (),
    against: str | Instruction | None = None,
) -> Explanation:
    """One dot product step by step; see :meth:`Instruction.explain`.

    Parameters
    ----------
    a, b, c, arch, instruction, scale_a, scale_b, mods
        As in :func:`mmascope.dot`.
    against : str or Instruction, optional
        ``ARCH:INST`` or an instruction that is given the same operands.

    Returns
    -------
    Explanation
        Text in a terminal, a page in a notebook.

    Raises
    ------
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.
    DtypeError
        An array's elements mean nothing here.

    References
    ----------
    MMA-Sim (arXiv 2511.10909v2) for the steps; docs/explain.md.
    """
    from ._arrays import operand
    from ._products import _row, type_of

    kinds = [type_of(operand(value, name)[0]) for value, name in ((a, "a"), (b, "b"))]
    addend = None if c is None or isinstance(c, (int, float)) else type_of(operand(c, "c")[0])
    row = _row(arch, instruction, kinds[0], kinds[1], addend, scale_a is not None)
    return explain_of(row, a, b, c, scale_a=scale_a, scale_b=scale_b, mods=mods, against=against)
