"""A model under several architectures: which layers and outputs differ, and where they part first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .. import _checks
from .._arrays import kind_of_torch
from .._errors import ArgumentError
from .._report import Rows
from ._runs import MODEL, Call, bits_differ, run, tensors
from ._simulate import SimulationReport


class Comparison(Rows):
    """Layers and outputs of a model under several architectures."""

    def __init__(self, archs: list[str], layers: list[dict[str, Any]], first: dict[str, Any] | None,
                 outputs: dict[str, Any], reports: dict[str, SimulationReport], unmatched: list[str]) -> None:
        self.archs = archs
        #: A dictionary for each layer and architecture: layer, arch, elements, differing, max, mean. The model itself
        #: is the layer ``""``; a module that hands on what its last layer gave is none.
        self.layers = layers
        #: Where they part first: layer, index, arch and the values, and ``of``: the layer's ``"output"``, or its
        #: ``"input"`` where they parted between layers. ``None`` where nothing differs.
        self.first = first
        #: What was not compared, in words: layers that one architecture calls more often, or gives another shape, inputs
        #: that cannot be copied for each run, tensors that are not dense.
        self.unmatched = unmatched
        #: What the model gave under each architecture.
        self.outputs = outputs
        #: What was routed.
        self.reports = reports

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each layer and architecture."""
        return self.layers

    def plot(self, axes: Any = None) -> Any:
        """Largest difference of each layer from the first architecture, with matplotlib."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.gca()
        for arch in self.archs[1:]:
            rows = [row for row in self.layers if row["arch"] == arch]
            axes.plot(range(len(rows)), [row["max"] for row in rows], marker="o", label=arch)
        axes.set(xlabel="layer", ylabel=f"largest difference from {self.archs[0]}")
        axes.legend()
        return axes

    def _unsimulated(self) -> list[str]:
        """A line for each architecture some products of which were not simulated."""
        return [f"{arch}: {text}" for arch in dict.fromkeys(self.archs) if (text := _unsimulated(self.reports[arch]))]

    def __str__(self) -> str:
        # What was not simulated is this processor's arithmetic under every architecture, and says nothing of them.
        lines = self._unsimulated()
        lines += [f"{'layer':<40} {'arch':<10} {'differing':>20} {'max':>12} {'mean':>12}"]
        for row in self.layers:
            share = f"{row['differing']} of {row['elements']}"
            lines.append(f"{row['layer'] or MODEL:<40} {row['arch']:<10} {share:>20} {row['max']:>12.4e} {row['mean']:>12.4e}")
        lines += self.unmatched
        if self.first is None:
            lines.append("no layer that was compared differs" if self.unmatched else "no layer differs")
        else:
            it = self.first
            place = "" if it["of"] == "output" else "before it, in the input of "
            lines.append(f"first     {place}{it['layer'] or MODEL}{it['index']}: {self.archs[0]} {it['left']!r}, "
                         f"{it['arch']} {it['right']!r}")
            if it.get("explanation"):
                lines.append(str(it["explanation"]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def _unsimulated(report: SimulationReport) -> str:
    """How many products were not simulated, and why; empty where all were."""
    missing = report.unrouted
    count = sum(item["calls"] for item in missing)
    if not count:
        return ""
    reasons: dict[str, int] = {}
    for item in missing:
        reasons[item["reason"]] = reasons.get(item["reason"], 0) + item["calls"]
    why = [reason if len(reasons) == 1 else f"{reason} ({calls})" for reason, calls in reasons.items()]
    total = count + sum(item["calls"] for item in report.routed)
    return f"{count} of {total} products were not simulated: {'; '.join(why)}"


def _check_simulated(reports: dict[str, SimulationReport]) -> None:
    """Nothing is compared where an architecture has computed nothing."""
    missing = {arch: report for arch, report in reports.items() if not report.routed}
    if not missing:
        return
    texts = [f"{arch}: {_unsimulated(report) or 'the model computes no products'}" for arch, report in missing.items()]
    dtypes = {"torch." + kind for report in missing.values() for item in report.unrouted
              for kind in item["dtypes"].split(", ") if kind}
    hint = ""
    if dtypes:
        hint = (f"; the operands are {', '.join(sorted(dtypes))}: convert model and inputs to a format that the "
                "architectures multiply, such as bfloat16 (model.bfloat16())")
    raise ArgumentError(f"archs: nothing was compared, because nothing was simulated: {'. '.join(texts)}{hint}")


@dataclass
class _Parting:
    """An element that differs."""

    time: int
    arch: str
    call: Call
    of: str
    index: tuple[int, ...]
    left: Any
    right: Any


def _wide(values: torch.Tensor) -> torch.Tensor:
    return values.to(torch.complex128) if values.is_complex() else values.double()


def _parted(base: list[Call], other: list[Call], left_arch: str, arch: str) -> tuple[
        list[dict[str, Any]], list[_Parting], list[str]]:
    """Rows of a table, where inputs and outputs of layers part, and what has nothing beside it."""
    rows: list[dict[str, Any]] = []
    found: list[_Parting] = []
    unmatched: list[str] = []
    calls = {(call.name, call.nth): call for call in other}
    for left in base:
        right = calls.pop((left.name, left.nth), None)
        if right is None:
            unmatched.append(f"{left.name or MODEL}: call {left.nth + 1} under {left_arch} has none beside it under {arch}")
            continue
        for of, time, owns, others in (("input", left.begin, left.given, right.given),
                                       ("output", left.end, left.gave, right.gave)):
            if [own.shape for own in owns] != [other.shape for other in others]:
                unmatched.append(f"{left.name or MODEL}: its {of} has another shape under {arch}")
                continue
            for own, their in zip(owns, others):
                differs = bits_differ(own, their)
                count = int(differs.sum())
                if of == "output":
                    distance = torch.where(differs, (_wide(own) - _wide(their)).abs(), 0.0)
                    rows.append({
                        "layer": left.name, "arch": arch, "elements": own.numel(), "differing": count,
                        "max": float(distance.max()) if own.numel() else 0.0,
                        "mean": float(distance.mean()) if own.numel() else 0.0,
                    })
                if count:
                    index = tuple(int(i) for i in differs.nonzero()[0])
                    found.append(_Parting(time, arch, left, of, index, own[index].item(), their[index].item()))
    unmatched += [f"{name or MODEL}: call {nth + 1} under {arch} has none beside it under {left_arch}" for name, nth in calls]
    return rows, found, unmatched


def _explained(module: Any, given: list[torch.Tensor], index: tuple[int, ...], archs: tuple[str, str]) -> Any:
    """The dot product of a linear layer, the step of which the two architectures part, step by step."""
    from .._catalogue import Instruction, current
    from .._explain import Explanation
    from .._products import given_of

    if type(module).forward is not torch.nn.Linear.forward or not given:
        return None
    a = given[0][index[:-1]]
    b = module.weight.detach()[index[-1]]
    kind = kind_of_torch(a.dtype)
    try:
        rows = [Instruction(current().default(arch, kind, kind, None, False)) for arch in archs]
    except Exception:
        return None
    step = max(row.k for row in rows)
    if any(step % row.k for row in rows):
        return None
    length = -(-a.shape[0] // step) * step
    a = torch.nn.functional.pad(a, (0, length - a.shape[0]))
    b = torch.nn.functional.pad(b, (0, length - b.shape[0]))
    c: list[Any] = [None, None]
    for begin in range(0, length, step):
        before = list(c)
        for side, row in enumerate(rows):
            for at in range(begin, begin + step, row.k):
                c[side] = row.dot(a[at:at + row.k], b[at:at + row.k], c[side])
        if bool(bits_differ(c[0].reshape(1), c[1].reshape(1))):
            # What each adds last, to the sum that it had before: shorter steps have summed a part of it already.
            given, places = [], []
            for own, row in zip(before, rows):
                at = begin
                while at + row.k < begin + step:
                    own = row.dot(a[at:at + row.k], b[at:at + row.k], own)
                    at += row.k
                given.append(given_of(row, a[at:at + row.k], b[at:at + row.k], own, None, None)[0])
                places.append(f"k = {at} to {at + row.k - 1}")
            own, other = rows
            head = f"they part at k = {begin} to {begin + step - 1}"
            if places[0] == places[1]:
                return f"{head}\n\n{Explanation(*own._row.explain_against(given[0], other._row, given[1]))}"
            # Steps of other lengths add other products: nothing stands beside anything.
            apart = (f"{place} of {row!r}\n{Explanation(*row._row.explain(item))}" for place, row, item in zip(places, rows, given))
            return "\n\n".join([head, *apart])
    return None


@_checks.named
def compare(model: Any, inputs: Any, archs: Sequence[str], **options: Any) -> Comparison:
    """Runs a model under several architectures and says which layers and outputs differ.

    Every run begins with the same inputs, the same buffers and the same random numbers of PyTorch, and leaves them as
    they were; what else a model keeps from one run to the next stays its own affair. Use ``model.eval()`` where it is
    not to be compared in training.

    Parameters
    ----------
    model : torch.nn.Module
    inputs : tensor, tuple of arguments, or dict of named ones
    archs : sequence of str
        Two or more; the first is what the others are compared with.
    **options
        ``instruction``, ``schedule``, ``threads`` as in :func:`simulate`.

    Returns
    -------
    Comparison
        Differences by layer, the first layer and element that part, and for a linear layer the step by step
        computation of that element, side by side. Its text begins with the products that were not simulated.

    Raises
    ------
    ArgumentError, UnknownNameError
        Naming the argument; ``archs`` where under one of them no product was simulated. What the model itself raises
        is passed on.
    """
    if not isinstance(model, torch.nn.Module):
        raise ArgumentError(f"model: {model!r} is no torch.nn.Module")
    names = list(archs) if isinstance(archs, Sequence) and not isinstance(archs, str) else []
    if len(names) < 2:
        raise ArgumentError(f"archs: {archs!r}; a sequence of two or more is needed")
    given = tensors(inputs)
    if not given:
        raise ArgumentError(f"inputs: {type(inputs).__name__} has no tensor")
    for tensor in given:
        if tensor.is_nested:
            raise ArgumentError("inputs: a nested tensor; give its parts one at a time")
    runs = {arch: run(model, inputs, arch, options) for arch in names}
    _check_simulated({arch: run.report for arch, run in runs.items()})
    layers: list[dict[str, Any]] = []
    unmatched = list(dict.fromkeys(text for run in runs.values() for text in run.unseen))
    found: list[_Parting] = []
    for arch in names[1:]:
        rows, partings, missing = _parted(runs[names[0]].calls, runs[arch].calls, names[0], arch)
        layers += rows
        found += partings
        unmatched += missing
    outputs = {arch: run.output for arch, run in runs.items()}
    reports = {arch: run.report for arch, run in runs.items()}
    first = None
    if found:
        parting = min(found, key=lambda item: item.time)
        call, index = parting.call, parting.index
        first = {"layer": call.name, "index": list(index), "arch": parting.arch, "of": parting.of, "left": parting.left,
                 "right": parting.right, "explanation": None}
        modules = dict(model.named_modules())
        if options.get("instruction") is None and options.get("schedule") is None and parting.of == "output":
            first["explanation"] = _explained(modules[call.name], call.given, index, (names[0], parting.arch))
    return Comparison(names, layers, first, outputs, reports, unmatched)
