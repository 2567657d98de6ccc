"""What comparisons found: data, and the program's own headlines and tables."""

from __future__ import annotations

from typing import Any

from ._report import SHOWN, Report, Rows, Table, scientific


class Difference(Rows, Report):
    """Where units part: tallies, the first input that shows it, and the smallest."""

    def svg(self) -> str:
        """Histograms of the distances."""
        return self._svg

    _svg = ""

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each pair of units: its counts."""
        return [{key: value for key, value in pair.items() if not isinstance(value, (dict, list)) and value is not None}
                for pair in self.data["pairs"]]

    def _headline(self) -> str:
        count = sum(1 for pair in self.data["pairs"] if pair["different"])
        return f"{self.data['inputs']} inputs: {count} of {len(self.data['pairs'])} pairs differ"

    def _parts(self) -> list[str | Table]:
        header = ("left", "right", "compared", "equal", "differ", "largest ULP")
        keys = ("left", "right", "compared", "equal", "different", "largest_ulp")
        parts: list[str | Table] = [Table(header, [[pair[key] for key in keys] for pair in self.data["pairs"]])]
        for pair in self.data["pairs"]:
            smallest = pair.get("smallest")
            if smallest:
                parts.append("\n".join(_smallest(pair, smallest)))
        return [*parts, *self.data["notes"]]

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self._svg


def _smallest(pair: dict[str, Any], smallest: dict[str, Any]) -> list[str]:
    """The smallest input on which two units part, in lines."""
    lines = [f"{pair['left']} and {pair['right']}", f"  smallest found, from {smallest['from']}:"]
    lines += [f"    k={it['k']}: {it['a']['value']} · {it['b']['value']}" for it in smallest["products"]]
    lines += [f"    c: {smallest['c']['value']}", f"    exact sum: {smallest['exact']}"]
    lines += [f"    {it['unit']} gives {it['d']} = {it['value']}" for it in smallest["results"]]
    if smallest.get("parting_words"):
        lines.append(f"    they part {smallest['parting_words']}")
    return lines


class Errors(Rows, Report):
    """How errors grow with K, a curve for each unit and schedule."""

    _svg = ""

    def svg(self) -> str:
        """The curves."""
        return self._svg

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each point."""
        rows = []
        for curve in self.data["curves"]:
            for point in curve["points"]:
                flat = {"arch": curve["arch"], "inst": curve["inst"], "schedule": curve["schedule"], "k": point["k"]}
                flat.update({f"{key}_{name}": point[key][name] for key in ("relative", "relative_to_products", "ulps")
                             for name in ("mean", "max")})
                flat["bias"] = point["bias"]
                rows.append(flat)
        return rows

    def plot(self, axes: Any = None) -> Any:
        """Mean errors relative to the sum of the products over K, with matplotlib."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.gca()
        for curve in self.data["curves"]:
            points = [point for point in curve["points"] if point["relative_to_products"]["mean"] is not None]
            axes.plot([point["k"] for point in points], [point["relative_to_products"]["mean"] for point in points],
                      marker="o", label=f"{curve['arch']}:{curve['inst']} {curve['schedule']}")
        axes.set(xscale="log", yscale="log", xlabel="K", ylabel="mean error / sum of |a*b|")
        axes.legend(fontsize="small")
        return axes

    def _headline(self) -> str:
        return (f"Errors on {self.data['source']}; relative to Σ|a·b| (Σ|a| + |b| where a unit adds a and b), bias with "
                "its sign")

    def _parts(self) -> list[str | Table]:
        parts: list[str | Table] = []
        for curve in self.data["curves"]:
            name = f"{curve['arch']}:{curve['inst']}"
            title = name if curve["schedule"] == "chain" else f"{name} [{curve['schedule']}]"
            rows = [_error_row(point) for point in curve["points"]]
            parts.append(Table(_ERROR_HEADER, rows, title, most=200))
            parts += [note for point in curve["points"] for note in _error_notes(point)]
        return parts

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self._svg


_ERROR_HEADER = ("K", "mean", "max", "bias", "±", "mean ULP", "vanished", "not finite")


def _error_row(point: dict[str, Any]) -> list[str]:
    """A point of a curve. No error is not an error of 0."""
    products, ulps = point["relative_to_products"], point["ulps"]
    some, several = products["count"] > 0, products["count"] > 1
    return [
        str(point["k"]),
        scientific(products["mean"] if some else None, ".3e"),
        scientific(products["max"] if some else None, ".3e"),
        scientific(point["bias"] if some else None, "+.2e"),
        scientific(point["bias_error"] if several else None, ".0e"),
        f"{ulps['mean']:.3f}" if ulps["count"] else "–",
        str(point["vanished"]),
        str(point["result_not_finite"]),
    ]


def _error_notes(point: dict[str, Any]) -> list[str]:
    """Outputs that count in no error."""
    sampled, outside = point["sampled"], point["exact_not_finite"] + point["result_not_finite"]
    without = max(0, sampled - point["relative_to_products"]["count"] - outside)
    notes = []
    if without:
        notes.append(f"K = {point['k']}: every product of {without} of {sampled} outputs is 0; they count in no error")
    if point["exact_not_finite"]:
        notes.append(f"K = {point['k']}: the exact result of {point['exact_not_finite']} of {sampled} outputs is not "
                     "finite; they count in no error")
    return notes


class Identification(Rows, Report):
    """Which instructions and schedules gave a matrix, and which came near."""

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each candidate; ``rows`` are the instructions with its arithmetic."""
        found = [(item, True) for item in self.data["identified"]] + [(item, False) for item in self.data["runners_up"]]
        return [{"identified": fits, "instruction": item["rows"][0], "instructions": len(item["rows"]),
                 "schedule": item["schedule"], "agreeing": item["agreeing"], "compared": item["compared"],
                 "arithmetic": item["arithmetic"]} for item, fits in found]

    def _headline(self) -> str:
        headline: str = self.data["headline"]
        return headline

    def _parts(self) -> list[str | Table]:
        data = self.data
        parts: list[str | Table] = [
            f"M={data['m']} N={data['n']} K={data['k']}; {data['tried']} pairs of a unit and a schedule tried"
        ]
        parts += data["answers"]
        if data["runners_up"]:
            rows = []
            for item in data["runners_up"]:
                first = item["first_disagreeing"] or {}
                place = f"({first['i']}, {first['j']})" if first else ""
                rows.append([item["rows"][0], item["schedule"], _share(item), place, first.get("given", ""),
                             first.get("computed", "")])
            header = ("runner-up", "schedule", "agrees", "first other element", "given", "computed")
            parts += ["", Table(header, rows, most=8)]
        return parts


def _share(item: dict[str, Any]) -> str:
    return f"{item['agreeing']} of {item['compared']}"


class Specials(Rows, Report):
    """What units make of special operands."""

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each unit and case: arch, inst, case, d, value."""
        return [{"arch": unit["arch"], "inst": unit["inst"], "case": case["case"], "d": case["d"], "value": case["value"]}
                for unit in self.data["units"] for case in unit["cases"]]

    def _headline(self) -> str:
        count = len(self.data["units"])
        return f"{count} {'unit' if count == 1 else 'units'}; a dash: the formats have no such operands"

    def _parts(self) -> list[str | Table]:
        units = self.data["units"]
        parts: list[str | Table] = [
            Table(("case", "d", "value"), [[case["case"], case["d"] or "–", case["value"] or "–"] for case in unit["cases"]],
                  f"{unit['arch']}:{unit['inst']}")
            for unit in units[:SHOWN]
        ]
        return [*parts, f"and {len(units) - SHOWN} more units"] if len(units) > SHOWN else parts


class Checked(Rows, Report):
    """Recorded results against models: how many passed, and which did not."""

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each mismatch."""
        rows: list[dict[str, Any]] = self.data["mismatches"]
        return rows

    def _headline(self) -> str:
        bad = f", {self.data['bad']} bad" if self.data["bad"] else ""
        return f"{self.data['passed']} passed, {self.data['failed']} failed{bad}"
