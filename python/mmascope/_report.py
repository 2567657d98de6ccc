"""Results that are data, text and HTML at once."""

from __future__ import annotations

import json
import re
from collections.abc import ItemsView, Iterator, KeysView, Sequence
from html import escape
from typing import Any

#: Rows of a table that are shown.
SHOWN = 20


class Table:
    """A table of texts, with a line above it."""

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "", most: int = SHOWN) -> None:
        self.title, self.header = title, list(header)
        self.rows = [[str(cell) for cell in row] for row in rows[:most]]
        self.more = max(0, len(rows) - most)

    def __str__(self) -> str:
        lines = [self.header, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        texts = ["   ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        if any(self.header):
            texts.insert(1, "─" * (sum(widths) + 3 * len(widths) - 3))
        else:
            del texts[0]
        more = [f"and {self.more} more"] if self.more else []
        return "\n".join([*([self.title] if self.title else []), *(f" {text}" for text in texts), *more])

    def html(self) -> str:
        """The same as a table of HTML."""
        def row(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        head = f"<thead>{row(self.header, 'th')}</thead>" if any(self.header) else ""
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        more = f"<p>and {self.more} more</p>" if self.more else ""
        return f"<table>{caption}{head}<tbody>{''.join(row(cells, 'td') for cells in self.rows)}</tbody></table>{more}"


def scientific(value: float | None, form: str) -> str:
    """A number as the program prints it: ``1.3e-8``; a dash where there is none."""
    if value is None:
        return "–"
    return re.sub(r"e([+-]?)0*(\d+)$", lambda it: f"e{'-' if it[1] == '-' else ''}{it[2]}", format(value, form))


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _plain(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


class Report:
    """What an experiment found. ``data`` is what the program prints with ``--json``."""

    def __init__(self, data: dict[str, Any], holds: bool = True) -> None:
        self.data = data
        self.holds = holds

    def __bool__(self) -> bool:
        return self.holds

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __contains__(self, key: object) -> bool:
        return key in self.data

    def keys(self) -> KeysView[str]:
        """The names of ``data``, so that ``dict(report)`` and ``**report`` work."""
        return self.data.keys()

    def items(self) -> ItemsView[str, Any]:
        """The names of ``data`` with their values."""
        return self.data.items()

    def get(self, key: str, default: Any = None) -> Any:
        """A value of ``data``; ``default`` where there is none."""
        return self.data.get(key, default)

    def _headline(self) -> str:
        """What was found, in a line."""
        return ""

    def _lines(self) -> list[tuple[str, str]]:
        """Names and values, where that is all there is to show."""
        lines = []
        for key, value in self.data.items():
            if _is_plain(value):
                lines.append((key, _plain(value)))
            elif isinstance(value, list) and value and all(_is_plain(item) for item in value):
                lines += [("" if place else key, _plain(item)) for place, item in enumerate(value)]
            elif isinstance(value, dict) and value and all(_is_plain(item) for item in value.values()):
                lines.append((key, ", ".join(f"{name}={_plain(item)}" for name, item in value.items())))
        return lines

    def _parts(self) -> list[str | Table]:
        """What is shown below the headline: lines and tables."""
        parts: list[str | Table] = [Table(("", ""), self._lines(), most=200)]
        for key, value in self.data.items():
            if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
                names = [name for name in value[0] if all(_is_plain(item.get(name)) for item in value)]
                parts.append(Table(names, [[_plain(item.get(name)) for name in names] for item in value], key))
        return parts

    def __str__(self) -> str:
        headline = self._headline()
        lines = [headline] if headline else []
        for part in self._parts():
            # A line stands free above each title.
            lines += ["", str(part)] if lines and isinstance(part, Table) and part.title else [str(part)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<mmascope.{type(self).__name__}>\n{self}"

    def _repr_html_(self) -> str:
        parts = [part.html() if isinstance(part, Table) else f"<pre>{escape(part)}</pre>" for part in self._parts()]
        headline = self._headline()
        return (f"<p><b>{escape(headline)}</b></p>" if headline else "") + "".join(parts)

    def to_json(self) -> str:
        """The data as JSON text."""
        return json.dumps(self.data)


def page(html: str) -> str:
    """A whole page in a frame of its own, so that its styles do not reach the notebook's."""
    return (
        f'<iframe srcdoc="{escape(html, quote=True)}" style="width:100%;height:40em;border:0" '
        'sandbox="allow-scripts"></iframe>'
    )


class Rows:
    """What is a table as well: a dictionary a row."""

    def _rows(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The rows as a pandas ``DataFrame``.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas

        return pandas.DataFrame(self._rows())

    def to_polars(self) -> Any:
        """The rows as a polars ``DataFrame``.

        Returns
        -------
        polars.DataFrame
        """
        import polars

        # Every row has a say in what a column holds: the first ones may have nothing there.
        return polars.DataFrame(self._rows(), strict=False, infer_schema_length=None)
