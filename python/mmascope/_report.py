"""Results that are data, text and HTML at once."""

from __future__ import annotations

import json
from html import escape
from typing import Any


class Report:
    """What an experiment found. ``data`` is what the program prints with ``--json``."""

    def __init__(self, data: dict[str, Any], holds: bool = True) -> None:
        self.data = data
        self.holds = holds

    def __bool__(self) -> bool:
        return self.holds

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def _lines(self) -> list[tuple[str, str]]:
        lines = []
        for key, value in self.data.items():
            text = value if isinstance(value, str) else json.dumps(value)
            lines.append((key, text if len(text) <= 120 else text[:117] + "..."))
        return lines

    def __str__(self) -> str:
        width = max((len(key) for key, _ in self._lines()), default=0)
        return "\n".join(f"{key:<{width}}  {text}" for key, text in self._lines())

    def __repr__(self) -> str:
        return f"<mmascope.{type(self).__name__}>\n{self}"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(key)}</th><td>{escape(text)}</td></tr>" for key, text in self._lines())
        return f"<table>{rows}</table>"

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
