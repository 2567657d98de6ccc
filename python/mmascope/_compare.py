"""Comparisons of instructions: where they part, how their errors grow, which of them made a matrix."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from . import _core
from ._arrays import numpy_dtype, operand
from ._catalogue import Instruction, current, find
from ._errors import ArgumentError, FileError
from ._products import _Given, _Op
from ._report import Report, Rows


def _said(arguments: list[str], stacklevel: int = 3) -> tuple[dict[str, Any], bool]:
    text, messages, holds = _core.said(current(), arguments, None)
    for message in messages:
        warnings.warn(message, stacklevel=stacklevel)
    return json.loads(text), holds


def _names(units: Sequence[Any], argument: str) -> list[str]:
    names = []
    for unit in units:
        if isinstance(unit, Instruction):
            if unit.name is None:
                raise ArgumentError(
                    f"{argument}: a unit of your own has no name in the catalogue; write it as a row and load_isa() it"
                )
            names.append(f"{unit.arch}:{unit.name}")
        elif isinstance(unit, str):
            # Operand types have commas, as lists of units do.
            names.extend(_names([find(unit)], argument) if ":" in unit and "," in unit else [unit])
        else:
            raise ArgumentError(f"{argument}: {unit!r} is no instruction and no name ARCH:INST")
    return names


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

    def _repr_html_(self) -> str:
        return self._svg or super()._repr_html_()


def _diff_arguments(units: Sequence[Any], instruction: str | None, types: str | None, family: str | Sequence[str],
                    count: int | None, seed: int, start: int) -> list[str]:
    """The command of the program."""
    arguments = ["diff", "--arch", ",".join(_names(units, "units"))]
    if instruction is not None:
        arguments += ["--inst", instruction]
    if types is not None:
        arguments += ["--types", types]
    families = family if isinstance(family, str) else ",".join(family)
    arguments += ["--family", families, "--seed", str(seed), "--start", str(start)]
    if count is not None:
        arguments += ["--count", str(count)]
    return arguments


def _difference(run: Callable[[list[str]], tuple[dict[str, Any], bool]]) -> Difference:
    """What a run of the command gives that is told where to draw."""
    with tempfile.TemporaryDirectory() as folder:
        svg = os.path.join(folder, "diff.svg")
        data, holds = run(["--svg", svg])
        report = Difference(data, holds)
        with open(svg, encoding="utf-8") as file:
            report._svg = file.read()
    return report


def diff(
    *units: str | Instruction,
    instruction: str | None = None,
    types: str | None = None,
    family: str | Sequence[str] = "normal",
    count: int | None = None,
    seed: int = 0,
    start: int = 0,
) -> Difference:
    """The same generated inputs on several units: how often and where they part, and why.

    Parameters
    ----------
    *units : str or Instruction
        Two or more: ``ARCH:INST``, instructions, or architectures with ``instruction`` or ``types``.
    instruction : str, optional
        The instruction of units that are architectures.
    types : str, optional
        Operand types whose default instruction architectures take: ``f16,f16,f32``.
    family : str or sequence of str
        Kinds of inputs: bits normal outlier stress sparse close boundary exhaustive.
    count : int, optional
        Cases of each family.
    seed, start : int
        Which cases.

    Returns
    -------
    Difference
        True where no input shows a difference.

    Raises
    ------
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.
    """
    arguments = _diff_arguments(units, instruction, types, family, count, seed, start)
    return _difference(lambda more: _said([*arguments, *more], stacklevel=5))


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
                      marker="o", label=f"{curve['arch']} {curve['inst']} {curve['schedule']}")
        axes.set(xscale="log", yscale="log", xlabel="K", ylabel="mean error / sum of |a*b|")
        axes.legend(fontsize="small")
        return axes

    def _repr_html_(self) -> str:
        return self._svg or super()._repr_html_()


def error(
    *units: str | Instruction,
    shape: tuple[int, int, int] | None = None,
    a: Any = None,
    b: Any = None,
    instruction: str | None = None,
    types: str | None = None,
    distribution: str = "normal",
    c: str | None = None,
    seed: int | None = None,
    schedules: Sequence[str] = (),
    full: bool = False,
    saturate: bool = False,
) -> Errors:
    """How the error against the exact product grows with K.

    Parameters
    ----------
    *units : str or Instruction
        ``ARCH:INST``, instructions, or architectures with ``instruction`` or ``types``.
    shape : (M, N, K), optional
        Of generated matrices.
    a, b : array, optional
        Matrices instead of generated ones.
    distribution : str
        normal, positive, uniform, outlier or sparse, and a power of two as in ``normal*2^-14``.
    c : str, optional
        Distribution of C.
    seed : int, optional
        Of generated matrices.
    schedules : sequence of str
        Each with every unit; the plain chain by default.
    full : bool
        Compare every output with the exact result, not 4,096 of them.

    Returns
    -------
    Errors

    Raises
    ------
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.
    """
    arguments = ["error", "--arch", ",".join(_names(units, "units"))]
    if instruction is not None:
        arguments += ["--inst", instruction]
    if types is not None:
        arguments += ["--types", types]
    for schedule in schedules:
        arguments += ["--schedule", schedule]
    if c is not None:
        arguments += ["--c", c]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    arguments += ["--stats", "full" if full else "sampled"]
    with tempfile.TemporaryDirectory() as folder:
        if shape is not None and a is None and b is None:
            arguments += ["--shape", "x".join(str(length) for length in shape), "--dist", distribution]
        elif a is not None and b is not None and shape is None:
            for value, name in ((a, "a"), (b, "b")):
                (array, kind, _), _ = operand(value, name)
                path = os.path.join(folder, f"{name}.npy")
                numpy.save(path, array if "signed" in kind or "int" in kind else array.view(numpy_dtype(kind)))
                arguments.append(path)
            if saturate:
                arguments.append("--saturate")
        else:
            raise ArgumentError("shape, or a and b: one of the two is needed")
        svg = os.path.join(folder, "error.svg")
        data, holds = _said([*arguments, "-o", svg])
        report = Errors(data, holds)
        with open(svg, encoding="utf-8") as file:
            report._svg = file.read()
    return report


def check(
    *files: str | os.PathLike[str],
    arch: str | None = None,
    instruction: str | None = None,
    against: str | None = None,
    flags: bool = False,
    engine: bool = False,
) -> Report:
    """Recorded results against the models that they name.

    Parameters
    ----------
    *files : path
        Vector lines, plain or gzip.
    arch, instruction : str, optional
        Only lines of these; lines that name none are taken for them.
    against : str, optional
        ``ARCH:INST`` instead of what the lines name.
    flags : bool
        Compare status flags too.
    engine : bool
        Compute through the engine of matrix products; the report is the same.

    Returns
    -------
    Report
        ``passed``, ``failed``, ``bad``, ``left_out``, and the first 20 ``mismatches`` and ``bad_lines``. True where
        every line passed.

    Raises
    ------
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.
    FileError
        The file cannot be read.
    """
    return Report(*_checked([os.fspath(file) for file in files], _check_options(arch, instruction, against, flags, engine)))


def _check_options(arch: str | None, instruction: str | None, against: str | None, flags: bool,
                   engine: bool) -> list[str]:
    options = []
    for name, text in (("--arch", arch), ("--inst", instruction), ("--as", against)):
        if text is not None:
            options += [name, text]
    return options + [name for name, asked in (("--flags", flags), ("--engine", engine)) if asked]


def _checked(files: list[str], options: list[str]) -> tuple[dict[str, Any], bool]:
    if not files:
        raise ArgumentError("files: none is named; one or more are needed")
    for name in files:
        if name != "-" and not os.path.exists(name):
            raise FileError(f"{name}: there is no such file")
    # Names are never options. What the program warns of are the bad lines, which the report has.
    names = [f"./{name}" if name.startswith("-") else name for name in files]
    text, _, holds = _core.said(current(), ["check", *options, *names], None)
    return json.loads(text), holds


def identify(
    a: Any, b: Any, d: Any, c: Any = None, *, scale_a: Any = None, scale_b: Any = None, alpha: float = 1.0,
    beta: float = 1.0,
) -> Report:
    """Which instruction and schedule give these matrices.

    Parameters
    ----------
    a : array, shape (M, K)
    b : array, shape (K, N)
    d : array, shape (M, N)
        The bits in question.
    c : array, shape (M, N), optional
    scale_a, scale_b : array, optional
        Block scales, or numbers that the kernel multiplied its sums by.
    alpha, beta : float
        What product and C were multiplied by.

    Returns
    -------
    Report
        True where something was identified; ``identified`` and ``runners_up`` have the candidates.

    Raises
    ------
    DtypeError
        An array's elements mean nothing here.
    ArgumentError
        Shapes do not fit, or a scalar is out of range.
    """
    items = []
    for value, name in ((a, "a"), (b, "b"), (c, "c"), (scale_a, "scale_a"), (scale_b, "scale_b"), (d, "d")):
        items.append(None if value is None else _Op(*operand(value, name)[0]))
    data = json.loads(_core.identify(current(), _Given(*items[:5]), items[5], float(alpha), float(beta)))
    return Report(data, data["answer"] == "identified")


def resolve(operation: str, *, target: str, type: str | None = None, policy: str = "llvm", fmf: str | Sequence[str] = (),
            round: str | None = None, approx: bool = False, ftz: bool = False, denormal: str | None = None,
            reflect: dict[str, int] | None = None, preset: str | None = None, value: Any = ()) -> Report:
    """Which instructions a compiler chooses for an operation, and which bits they give.

    Parameters
    ----------
    operation : str
        A name (``sqrt``), an expression (``a*b+c``) or a PTX instruction.
    target : str
        ``sm_90``.
    type : str, optional
        f32, f64, f16, bf16.
    policy : {"llvm", "seed", "libnvvm", "cuda-tile"}
    fmf : str or sequence of str
        Fast-math flags.
    round, approx, ftz, denormal, reflect, preset
        As ``mmascope resolve`` has them.
    value : sequence, optional
        Numbers, or words as text (``0x3f800000``), for which the resolved operation is evaluated.

    Returns
    -------
    Report
        False where the combination is illegal.

    Raises
    ------
    UnknownNameError
        An operation, a type, a target or a mode is not known; the message has the nearest ones.
    ArgumentError
        Naming the argument.
    """
    arguments = ["resolve", operation, "--target", target, "--policy", policy]
    flags = fmf if isinstance(fmf, str) else ",".join(fmf)
    for name, text in (("--type", type), ("--fmf", flags or None), ("--round", round), ("--denormal", denormal),
                       ("--preset", preset)):
        if text is not None:
            arguments += [name, text]
    arguments += [name for name, asked in (("--approx", approx), ("--ftz", ftz)) if asked]
    for key, number in (reflect or {}).items():
        arguments += ["--reflect", f"{key}={number}"]
    values = [value] if isinstance(value, (str, int, float)) else list(value)
    if values:
        arguments += ["--value", *[item if isinstance(item, str) else repr(item) for item in values]]
    data, holds = _said(arguments)
    return Report(data, holds)


def specials(arch: str | None = None, instruction: str | None = None) -> Report:
    """What each unit makes of special operands: NaN, infinities, subnormal numbers, -0.

    Raises
    ------
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.
    """
    arguments = ["specials"]
    if arch is not None:
        arguments += ["--arch", arch]
    if instruction is not None:
        arguments += ["--inst", instruction]
    data, holds = _said(arguments)
    return Report(data, holds)
