"""Matrix products and dot products of arrays."""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from typing import Any

import numpy

from . import _checks, _core
from ._arrays import JAX, NARROW_FLOATS, NUMPY, TORCH, Library, Operand, is_on_gpu, numpy_dtype, operand
from ._catalogue import Instruction, current
from ._errors import ArgumentError, DtypeError, UnknownNameError
from ._progress import Progress

_chosen: contextvars.ContextVar[Instruction | None] = contextvars.ContextVar("mmascope_chosen", default=None)

#: (catalogue, arch, instruction, kinds of a, b, c, scaled) -> Instruction
_known: dict[tuple[Any, ...], Instruction] = {}


def chosen() -> Instruction | None:
    """The instruction that the last call of :func:`matmul` or :func:`dot`, or of its own methods, took in this context."""
    return _chosen.get()


#: Integers that are words of a format that the caller has to name, and operand types that may be meant.
_CODES = {
    **{f"{sign}int8": "e4m3,e4m3,f32" for sign in ("", "u")},
    **{f"{sign}int16": "bf16,bf16,f32" for sign in ("", "u")},
    **{f"{sign}int32": "tf32,tf32,f32" for sign in ("", "u")},
    **{f"{sign}int64": "f64,f64,f64" for sign in ("", "u")},
}
#: Integers that choose an instruction of integers.
_NUMBERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (1, 2, 4, 8)}


def type_of(item: Operand) -> str:
    """The format of the elements; of integers the one that has their name."""
    if item[1] == "signed":
        return f"int{8 * item[0].dtype.itemsize}"
    if item[1] == "unsigned":
        return f"uint{8 * item[0].dtype.itemsize}"
    return item[1]


def _row(
    arch: Any, instruction: Any, a: str, b: str, c: str | None, scaled: bool, scale: str | None = None
) -> Instruction:
    """The instruction that is named, or the default of the operands' formats."""
    if isinstance(instruction, Instruction):
        if arch is not OWN_ARCH:
            check_arch(arch, instruction)
        _chosen.set(instruction)
        return instruction
    if not isinstance(arch, str):
        raise ArgumentError(f"arch: {arch!r} is no name of an architecture, such as 'h100'")
    if instruction is not None and not isinstance(instruction, str):
        raise ArgumentError(f"instruction: {instruction!r} is no name of an instruction")
    inner = current()
    key = (id(inner), arch, instruction, a, b, c, scaled, scale)
    found = _known.get(key)
    if found is None:
        if instruction is None and ":" in arch:
            arch, instruction = arch.split(":", 1)
        if instruction is not None:
            row = inner.find(arch, instruction)
        else:
            # Integers of a byte beside others are numbers; beside floats or scales nobody knows what they are.
            are_numbers = a in _NUMBERS and b in _NUMBERS and not scaled and scale is None
            for kind, argument in ((a, "a"), (b, "b")):
                if kind in _CODES and not are_numbers:
                    raise ArgumentError(
                        f"{argument}: integers are codes of a format that nothing names; give instruction= with an "
                        f"instruction or with operand types, as in {_CODES[kind]!r}"
                    )
            if scale is not None:
                row = inner.default_of_text(arch, f"{a},{b},{scale}")
            elif are_numbers:
                row = _of_integers(inner, arch, a, b, c)
            else:
                row = inner.default(arch, a, b, None if c is None or "int" in c else c, scaled)
        if len(_known) > 4096:
            _known.clear()
        found = _known[key] = Instruction(row)
    _chosen.set(found)
    return found


def _of_integers(inner: _core.Catalogue, arch: str, a: str, b: str, c: str | None) -> _core.Row:
    """The default instruction of integers: its accumulator is c's, or int32 where there is a choice."""
    wanted = {"uint32": ["uint32", "int32", None]}.get(c or "int32", ["int32", None])
    if c is not None and "int" not in c:
        wanted = [c]
    for accumulator in wanted[:-1]:
        try:
            return inner.default(arch, a, b, accumulator, False)
        except UnknownNameError:
            continue
    return inner.default(arch, a, b, wanted[-1], False)


#: In the place of ``arch`` where the instruction alone says it.
OWN_ARCH: Any = object()


def check_arch(arch: Any, row: Instruction) -> None:
    """Refuses an architecture that nobody knows, or that is not the instruction's; a unit of one's own has none."""
    if not isinstance(arch, str):
        raise ArgumentError(f"arch: {arch!r} is no name of an architecture, such as 'h100'")
    if arch in row._arch_names:
        return
    name, _, inst = arch.partition(":")
    # The architecture may be one that only the instruction's catalogue has.
    known = row._catalogue or current()
    if known.architecture(name) != row.arch and row.arch is not None:
        raise ArgumentError(f"arch: {arch!r}, but instruction is {row!r}; allowed: {row.arch!r} and its other names")
    if inst and Instruction(known.find(name, inst)) != row:
        raise ArgumentError(f"arch: {arch!r} names another instruction than {row!r}; allowed: {name!r}")
    row._arch_names.add(arch)


@_checks.named
def matmul(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    arch: str,
    instruction: str | Instruction | None = None,
    schedule: str | None = None,
    scale_a: Any = None,
    scale_b: Any = None,
    threads: int | None = None,
    mods: Sequence[str] = (),
    round: str | None = None,
    saturate: bool = False,
    pad: bool = False,
    by_reference: bool = False,
    progress: bool | None = None,
) -> Any:
    """``a @ b + c`` with the bits that a chip gives.

    Parameters
    ----------
    a : array, shape (..., M, K)
        NumPy (``ml_dtypes`` included), PyTorch, JAX, DLPack or buffer. Tensors on an NVIDIA GPU are multiplied there,
        by its ordinary instructions and without a copy to the host, where dtypes are the instruction's own and nothing
        else is asked for; else they are copied to the host and back. Floats are numbers: where they are not
        of the operand's format, they are rounded to it. Signed integers and those of ``ml_dtypes`` are numbers for an
        operand that is an integer (int8 for s4, where each fits). Unsigned integers, and all for other operands, are
        codes of the operand's format: uint8 255 is -1 for s8. A result of :func:`quantize` brings its scales.
    b : array, shape (..., K, N)
        Batches broadcast as in ``numpy.matmul``.
    c : array, shape (..., M, N), optional
        What is added; +0 where it is left out.
    arch : str
        Architecture or chip: ``h100``, ``mi300x``, ``sm_90``; ``ARCH:INST`` names both.
    instruction : str or Instruction, optional
        Its name, or operand types (``e4m3,e4m3,f32``). Where it is left out, the architecture's default of the arrays'
        types is taken; :func:`chosen` says which. An :class:`Instruction` must be of ``arch``.
    schedule : str, optional
        Order of K and what happens outside the unit: ``split-k=4 reduce=pairwise/f32; out=rne bf16``.
    scale_a, scale_b : array, optional
        Block scales (codes of one byte, M x K/block and K/block x N), or a schedule's software scales.
    threads : int, optional
        How many threads; the result does not depend on it.
    mods : sequence of str
        Operand modifiers: ``negA``, ``negB``, ``noC`` and so on.
    round : {"rne", "rna", "rz"}, optional
        How numbers are rounded to the operands' formats.
    saturate : bool
        Clamp numbers beyond an operand's range; without it they are an error.
    pad : bool
        Fill K up to the instruction's multiple with +0.
    by_reference : bool
        Let the slow reference compute everything. The bits are the same.
    progress : bool, optional
        Show progress with tqdm; by default for long products on a terminal.

    Returns
    -------
    array, shape (..., M, N)
        In the library of ``a`` (or of ``b``, where ``a`` is plain Python), in the accumulator's dtype.

    Raises
    ------
    ArgumentError, DtypeError, UnknownNameError, UnmodelledError
        Naming the argument, its value and what is allowed.

    References
    ----------
    The algorithms are those of MMA-Sim (arXiv 2511.10909v2); ``facts`` of an instruction has its evidence.

    Examples
    --------
    >>> a = numpy.ones((16, 16), numpy.float16)
    >>> mmascope.matmul(a, a, arch="h100").dtype
    dtype('float32')
    """
    if is_on_gpu(a) or is_on_gpu(b):
        from .torch import _on_gpu

        named = {
            "schedule": schedule, "scale_a": scale_a, "scale_b": scale_b, "threads": threads, "mods": mods, "round": round,
            "saturate": saturate, "pad": pad, "by_reference": by_reference, "progress": progress,
        }
        return _on_gpu.matmul(a, b, c, arch, instruction, named)
    left, library = _operand(a, "a")
    right, other = _operand(b, "b")
    if library is NUMPY:
        library = other
    addend = None if c is None else operand(c, "c", any_layout=True)[0]
    tensor_scales = scale = None
    made = [(value, argument) for value, argument in ((left, "a"), (right, "b")) if not isinstance(value, tuple)]
    if made:
        scale = f"{made[0][0].scale_format}/{made[0][0].block}"
        left, right, scale_a, scale_b, tensor_scales = _quantised(left, right, scale_a, scale_b)
    scales = (
        None if scale_a is None else operand(scale_a, "scale_a")[0],
        None if scale_b is None else operand(scale_b, "scale_b")[0],
    )
    is_code = any(scale is not None and scale[0].dtype.itemsize == 1 for scale in scales)
    c_type = None if addend is None else type_of(addend)
    row = _row(arch, instruction, type_of(left), type_of(right), c_type, is_code, scale)
    for value, argument in made:
        _check_blocks(value, row, argument)
    options = _options(schedule, mods, round, saturate, pad, threads, tensor_scales, by_reference)
    if library is JAX:
        # What JAX cannot have is refused before a long product.
        kind = row._row.result(schedule)
        library.wrap(numpy.empty(0, f"u{numpy_dtype(kind).itemsize}"), kind)
    return _multiply(row, left, right, addend, scales, options, library, progress)


def matmul_of(row: Instruction, a: Any, b: Any, c: Any = None, **options: Any) -> Any:
    """:meth:`Instruction.matmul`."""
    return matmul(a, b, c, arch=OWN_ARCH, instruction=row, **options)


class _Options:
    """What the extension reads beside the arrays."""

    __slots__ = (
        "by_reference", "modifiers", "pad", "progress", "round", "saturate", "schedule", "tensor_scales", "threads",
    )
    schedule: str | None
    modifiers: list[str]
    round: str | None
    saturate: bool
    pad: bool
    threads: int | None
    tensor_scales: tuple[int, int] | None
    by_reference: bool
    progress: Any


def _options(
    schedule: Any, mods: Any, rounding: Any, saturate: Any, pad: Any, threads: Any, tensor_scales: Any, by_reference: Any
) -> _Options:
    options = _Options()
    if schedule is not None and not isinstance(schedule, str):
        raise ArgumentError(f"schedule: {schedule!r} is no text, such as 'split-k=4 reduce=pairwise/f32'")
    _checks.whole(threads, "threads", 1, optional=True, most=1024)
    if rounding is not None and (not isinstance(rounding, str) or rounding not in ("rne", "rna", "rz")):
        raise ArgumentError(f"round: {rounding!r}; allowed: 'rne', 'rna', 'rz'")
    options.schedule = schedule
    options.modifiers = modifiers(mods)
    options.round = rounding
    options.saturate = _checks.flag(saturate, "saturate")
    options.pad = _checks.flag(pad, "pad")
    options.threads = None if threads is None else int(threads)
    options.tensor_scales = tensor_scales
    options.by_reference = _checks.flag(by_reference, "by_reference")
    options.progress = None
    return options


def modifiers(mods: Any) -> list[str]:
    """The names of operand modifiers."""
    names = _checks.texts(mods, "mods", "negA")
    if "scaleD" in names:
        raise ArgumentError("mods: 'scaleD' has no exponent; -15 to 0 are possible, as in 'scaleD=-3'")
    return names


class _Given:
    """Arrays as the extension reads them."""

    __slots__ = ("a", "b", "c", "scale_a", "scale_b")

    def __init__(self, a: Any, b: Any, c: Any, scale_a: Any, scale_b: Any) -> None:
        self.a, self.b, self.c, self.scale_a, self.scale_b = a, b, c, scale_a, scale_b


class _Op:
    """One array as the extension reads it."""

    __slots__ = ("array", "is_turned", "kind", "name")

    def __init__(self, array: Any, kind: str, name: str, is_turned: bool = False) -> None:
        self.array, self.kind, self.name = array, kind, name
        #: Whether its last two dimensions are exchanged.
        self.is_turned = is_turned


def _operand(value: Any, argument: str) -> tuple[Any, Library]:
    if type(value) is numpy.ndarray:
        return operand(value, argument, any_layout=True)
    from ._precision import Quantized

    if isinstance(value, Quantized):
        return value, value._library
    return operand(value, argument, any_layout=True)


def _quantised(left: Any, right: Any, scale_a: Any, scale_b: Any) -> tuple[Any, Any, Any, Any, tuple[int, int]]:
    """Operands that :func:`quantize` made: codes, scales and tensor scales."""
    out = []
    words = []
    for value, scale, argument, axis in ((left, scale_a, "a", -1), (right, scale_b, "b", -2)):
        if isinstance(value, tuple):
            if scale is None:
                raise ArgumentError(f"scale_{argument}: the other operand brings block scales; {argument} needs its own: "
                                    "quantize() it, or give them")
            out.append((value, scale))
            words.append(0x3F800000)
            continue
        if scale is not None:
            raise ArgumentError(f"scale_{argument}: {argument} has its own scales; leave one of them out")
        if value.axis % value.codes.ndim != axis % value.codes.ndim:
            raise ArgumentError(
                f"{argument}: blocks lie along axis {value.axis} of the shape {value.codes.shape}; K is axis {axis}"
            )
        out.append(((value.codes, value.element, argument), value.scale))
        words.append(int(numpy.float32(value.tensor_scale).view(numpy.uint32)))
    return out[0][0], out[1][0], out[0][1], out[1][1], (words[0], words[1])


def _check_blocks(value: Any, row: Instruction, argument: str) -> None:
    """Refuses what :func:`quantize` made where the instruction takes other elements, scales or blocks."""
    taken, scale = row._kinds[0 if argument == "a" else 1], row._kinds[4]
    if scale is None:
        raise ArgumentError(f"{argument}: {value.format} has block scales; the instruction {row!r} has none")
    if (value.element, value.scale_format) != (taken, scale[0]):
        raise ArgumentError(f"{argument}: {value.format} has {value.element} elements with {value.scale_format} scales; the "
                            f"instruction takes {taken} with {scale[0]}")
    if value.block != scale[1]:
        raise ArgumentError(f"{argument}: blocks of {value.block}; the instruction has one scale for every {scale[1]} k")


def _multiply(
    row: Instruction,
    a: Operand,
    b: Operand,
    c: Operand | None,
    scales: tuple[Operand | None, Operand | None],
    options: _Options,
    library: Library,
    progress: bool | None,
) -> Any:
    left, right = a[0], b[0]
    if left.ndim == 2 and right.ndim == 2 and (c is None or c[0].ndim == 2) and scales == (None, None):
        words, kind = _core_matmul(row, (a, b, c, None, None), options, progress)
        return library.wrap(words[0], kind)
    return _broadcast(row, [a, b, c, *scales], options, library, progress)


def _core_matmul(row: Instruction, operands: Sequence[Operand | None], options: _Options, progress: bool | None) -> Any:
    given = _Given(*[_laid_out(item, kind) for item, kind in zip(operands, (*row._kinds[:3], "", ""))])
    left, right = operands[0], operands[1]
    assert left is not None and right is not None
    work = left[0].size * right[0].shape[-1]
    if work < 1 << 26 and progress is not True:
        return row._row.matmul(given, options)
    with Progress(None, "multiplying", progress) as bar:
        options.progress = bar.tell
        return row._row.matmul(given, options)


def _laid_out(item: Operand | None, kind: str) -> _Op | None:
    """An operand row by row, or column by column where its words are taken as they are: then nothing is copied here."""
    if item is None:
        return None
    item = _widened(item, kind)
    array = item[0]
    if array.flags.c_contiguous:
        return _Op(*item)
    if item[1] == kind and array.ndim > 1 and kind not in NARROW_FLOATS:
        turned = array.swapaxes(-1, -2)
        if turned.flags.c_contiguous:
            return _Op(turned, item[1], item[2], True)
    return _Op(numpy.ascontiguousarray(array), item[1], item[2])


def _widened(item: Operand, kind: str) -> Operand:
    """Numbers of fewer than eight bits in f16, which has each of them, where the operand is of another format."""
    if item[1] not in NARROW_FLOATS or kind in ("", item[1]):
        return item
    from ._precision import converted

    return converted(item, "f16")


def _broadcast(
    row: Instruction, operands: list[Operand | None], options: _Options, library: Library, progress: bool | None
) -> Any:
    """Any number of dimensions, as in ``numpy.matmul``."""
    a, b = operands[0], operands[1]
    assert a is not None and b is not None
    for item in operands:
        if item is not None and item[0].ndim == 0:
            raise ArgumentError(f"{item[2]} has no dimensions; a matrix is needed")
        if item is not None and item[0].ndim == 1 and item[2].startswith("scale"):
            raise ArgumentError(f"{item[2]} has the shape {item[0].shape}; two dimensions are needed")
    is_vector = (a[0].ndim == 1, b[0].ndim == 1)
    left = a[0][None, :] if is_vector[0] else a[0]
    right = b[0][:, None] if is_vector[1] else b[0]
    if left.shape[-1] != right.shape[-2]:
        raise ArgumentError(
            f"a has the shape {a[0].shape} and b {b[0].shape}: K is {left.shape[-1]} in a and {right.shape[-2]} in b"
        )
    m, n = left.shape[-2], right.shape[-1]
    arrays: list[Any] = [left, right]
    for item in operands[2:]:
        array = None if item is None else item[0]
        if array is not None and item is not None and item[2] == "c":
            array = _addend(array, is_vector, (m, n))
        arrays.append(array)
    try:
        batch = numpy.broadcast_shapes(*[array.shape[:-2] for array in arrays if array is not None])
        wanted = numpy.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError as error:
        raise ArgumentError(
            "batches do not broadcast: "
            + ", ".join(f"{item[2]} {item[0].shape}" for item in operands if item is not None)
        ) from error
    if batch != wanted:
        raise ArgumentError(f"c and scales have batches {batch}; those of a and b make {wanted}")
    if 0 in batch or 0 in (m, n, left.shape[-1]):
        raise ArgumentError(f"a of shape {a[0].shape} and b of shape {b[0].shape}: an empty matrix has no products")
    flat: list[Any] = []
    for array in arrays:
        if array is None:
            flat.append(None)
        elif array.size == array.shape[-2] * array.shape[-1]:
            flat.append(array.reshape(array.shape[-2:]))
        else:
            shape = (*batch, *array.shape[-2:])
            if array.shape != shape:
                array = numpy.ascontiguousarray(numpy.broadcast_to(array, shape))
            flat.append(array.reshape(-1, *array.shape[-2:]))
    given = [
        None if item is None or array is None else (array, item[1], item[2])
        for item, array in zip(operands, flat)
    ]
    words, kind = _core_matmul(row, given, options, progress)
    shape = (*batch, *(() if is_vector[0] else (m,)), *(() if is_vector[1] else (n,)))
    return library.wrap(words.reshape(shape), kind)


def _addend(c: Any, is_vector: tuple[bool, bool], shape: tuple[int, int]) -> Any:
    """C with the dimensions that vectors a and b lack."""
    original = c.shape
    if is_vector[1]:
        c = c[..., None]
    if is_vector[0]:
        c = c[..., None, :]
    if c.ndim < 2 or c.shape[-2:] != shape:
        m, n = shape
        raise ArgumentError(f"c has the shape {original}; M x N = {m} x {n} is needed, or a batch of such matrices")
    return c


@_checks.named
def dot(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    arch: str,
    instruction: str | Instruction | None = None,
    scale_a: Any = None,
    scale_b: Any = None,
    mods: Sequence[str] = (),
) -> Any:
    """One dot product ``c + sum(a * b)`` by one instruction.

    Parameters
    ----------
    a, b : array, shape (K,)
        K is the instruction's.
    c : array, shape (), optional
    arch, instruction, scale_a, scale_b, mods
        As in :func:`matmul`.

    Returns
    -------
    array, shape ()
        In the library of ``a``, in the accumulator's dtype.

    Raises
    ------
    ArgumentError, DtypeError, UnknownNameError, UnmodelledError

    References
    ----------
    As :func:`matmul`.

    Examples
    --------
    >>> a = numpy.array([2.0**-13] * 16, numpy.float16)
    >>> float(mmascope.dot(a, a, arch="h100"))
    2.384185791015625e-07
    """
    kinds = [type_of(operand(value, name)[0]) for value, name in ((a, "a"), (b, "b"))]
    addend = None if c is None else type_of(operand(c, "c")[0])
    # A plain Python float is as wide as need be, and says nothing about the accumulator.
    if isinstance(c, (int, float)):
        addend = None
    row = _row(arch, instruction, kinds[0], kinds[1], addend, scale_a is not None)
    return dot_of(row, a, b, c, scale_a=scale_a, scale_b=scale_b, mods=mods)


def given_of(
    row: Instruction, a: Any, b: Any, c: Any, scale_a: Any, scale_b: Any, mods: Sequence[str] = ()
) -> tuple[_Given, Library]:
    """The arrays of one dot product by an instruction."""
    if c is not None and "noC" in mods:
        raise ArgumentError("c with the modifier noC: noC leaves c out; give one of them")
    left, library = operand(a, "a")
    right, other = operand(b, "b")
    if library is NUMPY:
        library = other
    for item in (left, right):
        if item[0].ndim != 1:
            raise ArgumentError(f"{item[2]} has the shape {item[0].shape}; one dimension, K, is needed")
    if left[0].shape != right[0].shape:
        raise ArgumentError(f"a has {left[0].shape[0]} elements and b {right[0].shape[0]}; both need K")
    items: list[Any] = [left, right]
    if c is None:
        items.append(None)
    else:
        if isinstance(c, int) and not isinstance(c, bool):
            raise DtypeError(f"c: {c!r} may be a number or a code; write a number as a float, or as numpy.int32({c}) where "
                             "the accumulator is an integer")
        addend = operand(c, "c")[0]
        if addend[0].size != 1:
            raise ArgumentError(f"c has the shape {addend[0].shape}; one number is needed")
        items.append(addend)
    for value, argument in ((scale_a, "scale_a"), (scale_b, "scale_b")):
        items.append(None if value is None else operand(value, argument)[0])
    kinds = (*row._kinds[:3], "", "")
    return _Given(*[None if item is None else _Op(*_widened(item, kind)) for item, kind in zip(items, kinds)]), library


def dot_of(
    row: Instruction, a: Any, b: Any, c: Any, *, scale_a: Any, scale_b: Any, mods: Sequence[str]
) -> Any:
    """:meth:`Instruction.dot`."""
    _chosen.set(row)
    names = modifiers(mods)
    given, library = given_of(row, a, b, c, scale_a, scale_b, names)
    words = row._row.dot(given, names)
    return library.wrap(words, row._kinds[3])


__all__ = ["OWN_ARCH", "TORCH", "check_arch", "chosen", "dot", "dot_of", "given_of", "matmul", "matmul_of", "modifiers", "type_of", "_core"]
