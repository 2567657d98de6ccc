"""Comparisons of instructions: where they part, how their errors grow, which of them made a matrix."""

from __future__ import annotations

import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from . import _checks, _core
from ._arrays import _INTEGERS, Operand, numpy_dtype, operand
from ._catalogue import Instruction, current, find
from ._errors import ArgumentError, Error, FileError, UnknownNameError
from ._precision import converted
from ._products import _NUMBERS, _Given, _Op, type_of
from ._report import Report
from ._results import Checked, Difference, Errors, Identification, Specials

#: Arguments that have the names of the program's options.
_OWN = {"arch": "arch", "schedule": "schedule"}

#: What elements of files can be.
_IN_FILES = ("f16", "f32", "f64", "unsigned", "signed")


def _said(
    arguments: list[str], stacklevel: int = 3, names: Mapping[str, str] = _checks.NAMES,
    catalogue: _core.Catalogue | None = None,
) -> tuple[dict[str, Any], bool]:
    try:
        text, messages, holds = _core.said(catalogue or current(), arguments, None)
    except Error as error:
        raise _checks.translated(error, names) from None
    for message in messages:
        warnings.warn(_checks.in_python(message, names), stacklevel=stacklevel)
    return json.loads(text), holds


def _has(catalogue: _core.Catalogue, row: Instruction) -> bool:
    """Whether a catalogue has an instruction of that name with that arithmetic."""
    try:
        return Instruction(catalogue.find(str(row.arch), str(row.name))) == row
    except UnknownNameError:
        return False


def _catalogue_of(units: Sequence[Any], argument: str) -> _core.Catalogue:
    """The catalogue that has all units: the one in use, or that of instructions which only another one has."""
    own = current()
    foreign = [unit for unit in units if isinstance(unit, Instruction) and unit._catalogue is not None and not _has(own, unit)]
    if not foreign:
        return own
    first = foreign[0]
    inner = first._catalogue
    assert inner is not None
    for unit in units:
        if isinstance(unit, str) and ":" not in unit:
            raise ArgumentError(f"{argument}: {unit!r} is an architecture of the catalogue in use, and {first!r} is of another "
                                "catalogue; name the instruction with it, as in h100:f16")
        row = find(unit) if isinstance(unit, str) else unit
        if isinstance(row, Instruction) and row.name is not None and not _has(inner, row):
            raise ArgumentError(f"{argument}: one call takes instructions of one catalogue, and that of {first!r} lacks {row!r} or "
                                "has other arithmetic of that name; validate(instruction, other) compares any two")
    return inner


def _names(units: Sequence[Any], argument: str, least: int = 1, catalogue: _core.Catalogue | None = None) -> list[str]:
    inner = catalogue or current()
    if len(units) < least:
        count = "one or more are" if least == 1 else "two or more are"
        raise ArgumentError(f"{argument}: {len(units) or 'none'} named; {count} needed")
    names = []
    for unit in units:
        if isinstance(unit, Instruction):
            if unit.name is None:
                raise ArgumentError(
                    f"{argument}: a unit of your own has no name in the catalogue; write it as a row and load_isa() it"
                )
            if not _has(inner, unit):
                raise ArgumentError(f"{argument}: {unit!r} is of another catalogue, and the one in use lacks it or has other "
                                    "arithmetic of that name; load_isa() its text to use it here")
            names.append(f"{unit.arch}:{unit.name}")
        elif isinstance(unit, str):
            if ":" not in unit:
                current().architecture(unit)
                names.append(unit)
                continue
            found = find(unit)
            # Operand types have commas, as lists of units do.
            names.append(f"{found.arch}:{found.name}" if "," in unit else unit)
        else:
            raise ArgumentError(f"{argument}: {unit!r} is no instruction and no name ARCH:INST")
    return names


def _diff_arguments(units: Sequence[Any], instruction: str | None, types: str | None, family: str | Sequence[str],
                    count: int | None, seed: int, start: int, catalogue: _core.Catalogue | None = None) -> list[str]:
    """The command of the program."""
    _checks.text(instruction, "instruction", "mma.m16n8k16.f32.f16.f16.f32")
    _checks.text(types, "types", "f16,f16,f32")
    _checks.whole(count, "count", 1, optional=True)
    _checks.whole(seed, "seed")
    _checks.whole(start, "start")
    if instruction is not None and types is not None:
        raise ArgumentError("instruction and types: one of them names the instructions")
    arguments = ["diff", "--arch", ",".join(_names(units, "units", 2, catalogue))]
    if instruction is not None:
        arguments += ["--inst", instruction]
    if types is not None:
        arguments += ["--types", types]
    families = ",".join(_checks.texts(family, "family", "normal"))
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


@_checks.named
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
        Two or more: ``ARCH:INST``, instructions, or architectures with ``instruction`` or ``types``. All must be in one
        catalogue: the one in use, or that of an instruction which only a catalogue of yours has.
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

    References
    ----------
    docs/diff.md.
    """
    catalogue = _catalogue_of(units, "units")
    arguments = _diff_arguments(units, instruction, types, family, count, seed, start, catalogue)
    return _difference(lambda more: _said([*arguments, *more], stacklevel=5, catalogue=catalogue))


@_checks.named
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
        ``ARCH:INST``, instructions, or architectures with ``instruction`` or ``types``; all in one catalogue, as in
        :func:`diff`.
    shape : (M, N, K), optional
        Of generated matrices.
    a, b : array, optional
        Matrices instead of generated ones; their elements mean what they mean to :func:`matmul`.
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

    References
    ----------
    docs/error.md: what the errors are relative to.
    """
    _checks.text(instruction, "instruction", "mma.m16n8k16.f32.f16.f16.f32")
    _checks.text(types, "types", "f16,f16,f32")
    _checks.text(distribution, "distribution", "normal", optional=False)
    _checks.text(c, "c", "normal")
    _checks.whole(seed, "seed", optional=True)
    if instruction is not None and types is not None:
        raise ArgumentError("instruction and types: one of them names the instructions")
    catalogue = _catalogue_of(units, "units")
    names = _names(units, "units", catalogue=catalogue)
    arguments = ["error", "--arch", ",".join(names)]
    if instruction is not None:
        arguments += ["--inst", instruction]
    for schedule in _checks.texts(schedules, "schedules", "split-k=2 reduce=pairwise/f32"):
        arguments += ["--schedule", schedule]
    if c is not None:
        arguments += ["--c", c]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    saturate = _checks.flag(saturate, "saturate")
    arguments += ["--stats", "full" if _checks.flag(full, "full") else "sampled"]
    with tempfile.TemporaryDirectory() as folder:
        if shape is not None and a is None and b is None:
            lengths = list(shape) if isinstance(shape, Sequence) else []
            if len(lengths) != 3:
                raise ArgumentError(f"shape: {shape!r} is no (M, N, K)")
            for length in lengths:
                _checks.whole(length, "shape", 1, most=1 << 24)
            arguments += ["--shape", "x".join(str(length) for length in lengths), "--dist", distribution]
        elif a is not None and b is not None and shape is None:
            if seed is not None and c is None:
                raise ArgumentError("seed: nothing is drawn, with a and b given and no c")
            kinds = []
            is_open = types is None and instruction is None and not all(":" in name for name in names)
            rows = [Instruction(catalogue.find(*name.split(":", 1))) for name in names if ":" in name]
            is_numbers = False
            for side, (value, name) in enumerate(((a, "a"), (b, "b"))):
                item, _ = operand(value, name)
                kinds.append(type_of(item))
                formats = {row._kinds[:2][side] for row in rows}
                if is_open and formats and kinds[-1] in _NUMBERS:
                    # An architecture alone takes the array's own numbers.
                    formats.add(kinds[-1])
                item = _as_codes(item, formats)
                if item[1] not in _IN_FILES and item[1] not in _INTEGERS:
                    # Files have no type for bfloat16 and its like: their bits would be read as codes.
                    item, is_numbers = converted(item, "f32"), True
                array, kind, _ = item
                if array.ndim != 2:
                    raise ArgumentError(f"{name} has the shape {array.shape}; a matrix with two dimensions is needed")
                path = os.path.join(folder, f"{name}.npy")
                numpy.save(path, array if "int" in kind or "signed" in kind else array.view(numpy_dtype(kind)))
                arguments.append(path)
            if is_open and _NUMBERS.issuperset(kinds):
                types = f"{kinds[0]},{kinds[1]},int32"
            elif is_open and is_numbers:
                types = f"{kinds[0]},{kinds[1]}"
            if saturate:
                arguments.append("--saturate")
        else:
            raise ArgumentError("shape, or a and b: one of the two is needed")
        if types is not None:
            arguments += ["--types", types]
        svg = os.path.join(folder, "error.svg")
        try:
            data, holds = _said([*arguments, "-o", svg], catalogue=catalogue)
        except Error as error:
            raise type(error)(_without_files(str(error), folder)) from None
        data["source"] = _without_files(data["source"], folder)
        report = Errors(data, holds)
        with open(svg, encoding="utf-8") as file:
            report._svg = _without_files(file.read(), folder)
    return report


def _as_codes(item: Operand, formats: set[str]) -> Operand:
    """Integers that are numbers as codes of the one format of integers that units take; others as they are."""
    array, kind, name = item
    bits = _INTEGERS.get(kind, 8 * array.dtype.itemsize)
    if kind not in _INTEGERS and kind != "signed" or not formats or not all("int" in own for own in formats):
        return item
    if len(formats) > 1:
        raise ArgumentError(f"{name}: integers for units of {' and '.join(sorted(formats))}; one format is possible")
    own, = formats
    numbers = array.astype(numpy.int64)
    if kind.startswith("int"):
        numbers = (numbers ^ 1 << bits - 1) - (1 << bits - 1)
    width = int(own.lstrip("uint"))
    least = 0 if own.startswith("u") else -(1 << width - 1)
    wrong = numpy.argwhere((numbers < least) | (numbers >= least + (1 << width)))
    if wrong.size:
        place = tuple(wrong[0])
        raise ArgumentError(f"{name}: element {[int(at) for at in place]} = {numbers[place]} is no number of {own}")
    unsigned = numbers.astype(numpy.uint64) & numpy.uint64((1 << width) - 1)
    return unsigned.astype(f"uint{max(width, 8)}"), "unsigned", name


def _without_files(message: str, folder: str) -> str:
    """A text in which the files of operands have the names of the arguments."""
    path = re.escape(os.path.join(folder, ""))
    return re.sub(rf"(?:\b[AB]:? )?\(?{path}([ab])\.npy\)?", r"\1", message)


@_checks.named
def check(
    *files: str | os.PathLike[str],
    arch: str | None = None,
    instruction: str | None = None,
    against: str | None = None,
    flags: bool = False,
    engine: bool = False,
) -> Checked:
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
    Checked
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

    References
    ----------
    docs/README.md: what a vector line is.
    """
    for file in files:
        if not isinstance(file, (str, os.PathLike)):
            raise ArgumentError(f"files: {file!r} is no path")
    names = [os.fspath(file) for file in files]
    return Checked(*_checked(names, _check_options(arch, instruction, against, flags, engine)))


def _check_options(arch: str | None, instruction: str | None, against: str | None, flags: bool,
                   engine: bool) -> list[str]:
    options = []
    _checks.text(arch, "arch", "h100")
    _checks.text(instruction, "instruction", "mma.m16n8k16.f32.f16.f16.f32")
    _checks.text(against, "against", "h100:f16")
    for name, text in (("--arch", arch), ("--inst", instruction), ("--as", against)):
        if text is not None:
            options += [name, text]
    if _checks.flag(flags, "flags"):
        options.append("--flags")
    if _checks.flag(engine, "engine"):
        options.append("--engine")
    return options


def _checked(files: list[str], options: list[str]) -> tuple[dict[str, Any], bool]:
    if not files:
        raise ArgumentError("files: none is named; one or more are needed")
    for name in files:
        if name != "-" and not os.path.exists(name):
            raise FileError(f"files: {name}: there is no such file")
    # Names are never options. What the program warns of are the bad lines, which the report has.
    names = [f"./{name}" if name.startswith("-") else name for name in files]
    try:
        text, _, holds = _core.said(current(), ["check", *options, *names], None)
    except Error as error:
        raise _checks.translated(error, {**_checks.NAMES, **_OWN}) from None
    return json.loads(text), holds


@_checks.named
def identify(
    a: Any, b: Any, d: Any, c: Any = None, *, scale_a: Any = None, scale_b: Any = None, alpha: float = 1.0,
    beta: float = 1.0,
) -> Identification:
    """Which instruction and schedule give these matrices.

    Parameters
    ----------
    a : array, shape (M, K)
        Integers, of whatever type, are codes of the operands' format.
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
    Identification
        True where something was identified; ``identified`` and ``runners_up`` have the candidates.

    Raises
    ------
    DtypeError
        An array's elements mean nothing here.
    ArgumentError
        Shapes do not fit, or a scalar is out of range.

    References
    ----------
    docs/identify.md: how candidates are asked, and what an answer rests on.
    """
    if (scale_a is None) != (scale_b is None):
        raise ArgumentError("scale_a and scale_b go together: give both or none")
    items = []
    for value, name in ((a, "a"), (b, "b"), (c, "c"), (scale_a, "scale_a"), (scale_b, "scale_b"), (d, "d")):
        is_needed = name in ("a", "b", "d")
        items.append(None if value is None and not is_needed else _Op(*operand(value, name)[0]))
    factors = _checks.number(alpha, "alpha"), _checks.number(beta, "beta")
    data = json.loads(_core.identify(current(), _Given(*items[:5]), items[5], *factors))
    return Identification(data, data["answer"] == "identified")


@_checks.named
def resolve(operation: str, *, target: str, type: str | None = None, policy: str = "llvm", fmf: str | Sequence[str] = (),
            round: str | None = None, approx: bool = False, ftz: bool = False, denormal: str | None = None,
            reflect: dict[str, int] | None = None, preset: str | None = None, prec_div: int | None = None,
            prec_sqrt: int | None = None, fma: int | None = None, value: Any = ()) -> Report:
    """Which instructions a compiler chooses for an operation, and which bits they give.

    Parameters
    ----------
    operation : str
        A name (``sqrt``), an expression (``a*b+c``) or a PTX instruction.
    target : str
        ``sm_90``.
    type : str, optional
        f32, f64, f16, bf16; a symbol such as ``__nv_fast_expf`` has its own.
    policy : {"llvm", "seed", "libnvvm", "cuda-tile"}
    fmf : str or sequence of str
        Fast-math flags.
    round, approx, ftz, denormal, reflect, preset, prec_div, prec_sqrt, fma
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

    References
    ----------
    The PTX ISA's text, LLVM's NVPTX backend 22 and NVIDIA's compilers as they are shipped; docs/source-document.md has
    the evidence of each rule.
    """
    _checks.text(operation, "operation", "sqrt", optional=False)
    _checks.text(target, "target", "sm_90", optional=False)
    _checks.text(policy, "policy", "llvm", optional=False)
    for value_of, argument, example in ((type, "type", "f32"), (round, "round", "rn"), (denormal, "denormal", "ieee"),
                                        (preset, "preset", "inference")):
        _checks.text(value_of, argument, example)
    approx, ftz = _checks.flag(approx, "approx"), _checks.flag(ftz, "ftz")
    if reflect is not None and not isinstance(reflect, Mapping):
        raise ArgumentError(f"reflect: {reflect!r} is no dictionary of names and whole numbers")
    if round is not None and approx:
        raise ArgumentError("round and approx: one of the two is possible")
    # An operation may begin with a minus sign, as options do.
    arguments = ["resolve", f" {operation}" if operation.startswith("-") else operation, "--target", target,
                 "--policy", policy]
    flags = ",".join(_checks.texts(fmf, "fmf", "contract"))
    for name, text in (("--type", type), ("--fmf", flags or None), ("--round", round), ("--denormal", denormal),
                       ("--preset", preset)):
        if text is not None:
            arguments += [name, text]
    arguments += [name for name, asked in (("--approx", approx), ("--ftz", ftz)) if asked]
    for key, number in (reflect or {}).items():
        _checks.text(key, "reflect", "__CUDA_FTZ", optional=False)
        _checks.whole(number, f"reflect[{key!r}]", -(1 << 63), most=(1 << 63) - 1)
        arguments += ["--reflect", f"{key}={number}"]
    for level, argument, most in ((prec_div, "prec_div", 3), (prec_sqrt, "prec_sqrt", 1), (fma, "fma", 1)):
        _checks.whole(level, argument, optional=True, most=most)
        if level is not None:
            arguments += [f"--{argument.replace('_', '-')}", str(int(level))]
    values = [value] if isinstance(value, (str, int, float, numpy.number)) else value
    if not isinstance(values, (Sequence, numpy.ndarray)) or isinstance(values, bytes):
        raise ArgumentError(f"value: {value!r} is no number, no word as text and no sequence of them")
    for item in values:
        if isinstance(item, numpy.number):
            item = item.item()
        if not isinstance(item, (str, int, float)):
            raise ArgumentError(f"value: {item!r} is no number and no word as text")
        arguments += ["--value", item if isinstance(item, str) else repr(item)]
    data, holds = _said(arguments, names=_OWN)
    return Report(data, holds)


@_checks.named
def specials(arch: str | None = None, instruction: str | None = None) -> Specials:
    """What each unit makes of special operands: NaN, infinities, subnormal numbers, -0.

    Returns
    -------
    Specials
        A case a line, for each unit; ``["units"]`` has the operands too.

    Raises
    ------
    UnknownNameError
        A name is not known; the message has the nearest ones.
    UnmodelledError
        Nobody has published the instruction's arithmetic.
    ArgumentError
        Naming the argument.

    References
    ----------
    docs/precision.md.
    """
    _checks.text(arch, "arch", "h100")
    _checks.text(instruction, "instruction", "f16")
    arguments = ["specials"]
    if arch is not None:
        arguments += ["--arch", arch]
    if instruction is not None:
        arguments += ["--inst", instruction]
    data, holds = _said(arguments, names={**_checks.NAMES, **_OWN})
    return Specials(data, holds)
