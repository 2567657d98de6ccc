"""Casts and block scaling of arrays."""

from __future__ import annotations

from typing import Any

import numpy

from . import _checks, _core
from ._arrays import NARROW_FLOATS, NUMPY, Library, Operand, operand
from ._errors import ArgumentError, DtypeError
from ._products import _Op


class _Wanted:
    __slots__ = ("from", "ftz", "overflow", "policy", "pzo", "random_bits", "relu", "round", "sat", "target", "to")
    to: str
    round: str | None
    overflow: str | None
    policy: str | None
    relu: bool
    sat: bool
    ftz: bool
    pzo: bool
    random_bits: str | None
    target: str | None


@_checks.named
def cast(
    array: Any,
    to: str,
    *,
    source: str | None = None,
    round: str | None = None,
    overflow: str | None = None,
    policy: str | None = None,
    relu: bool = False,
    sat: bool = False,
    ftz: bool = False,
    pzo: bool = False,
    random_bits: str | int | None = None,
    target: str | None = None,
) -> Any:
    """Numbers in another format, with the bits of PTX ``cvt``, of ``ml_dtypes``, of OCP or of this machine.

    Parameters
    ----------
    array : array
        Floats are numbers; integers are codes of ``source``.
    to : str
        The format: ``e4m3``, ``bfloat16``, ``e2m1``.
    source : str, optional
        The format of codes. Numbers say their own.
    round : str, optional
        rne, rna, rz, rd, ru, ...; ``rs`` with ``random_bits``.
    overflow : {"ieee", "satfinite", "nan"}, optional
    policy : {"ptx", "ml_dtypes", "ocp", "host"}, optional
        Without it a cast is what PTX does where PTX has the form, else IEEE.
    relu, sat, ftz, pzo : bool
        PTX modifiers.
    random_bits : str or int, optional
        Bits of stochastic rounding, hexadecimal as text.
    target : str, optional
        ``sm_90``: refuses what this target has no ``cvt`` for.

    Returns
    -------
    array
        In the caller's library and the dtype of ``to`` (codes, where the library has none).

    Raises
    ------
    DtypeError
        An array's elements mean nothing here.
    UnknownNameError
        A format, policy or target is not known; the message has the nearest ones.
    ArgumentError
        A value or combination is not possible.

    References
    ----------
    PTX ISA (``cvt``), OCP OFP8 and MX 1.0, ml_dtypes; docs/precision.md.
    """
    for text, argument, example in ((to, "to", "e4m3"), (source, "source", "e4m3"), (round, "round", "rne"),
                                    (overflow, "overflow", "ieee"), (policy, "policy", "ptx"), (target, "target", "sm_90")):
        _checks.text(text, argument, example, optional=argument != "to")
    item, library = operand(array, "array")
    kind = item[1]
    if kind in ("unsigned", "signed"):
        if source is None:
            raise ArgumentError("source: integers are codes; source= names their format")
        kind = source
    elif source is not None and source != kind:
        raise ArgumentError(f"source = {source!r}: array has numbers in {kind}")
    wanted = _Wanted()
    setattr(wanted, "from", kind)
    wanted.to, wanted.round, wanted.overflow, wanted.policy = to, round, overflow, policy
    wanted.relu, wanted.sat = _checks.flag(relu, "relu"), _checks.flag(sat, "sat")
    wanted.ftz, wanted.pzo = _checks.flag(ftz, "ftz"), _checks.flag(pzo, "pzo")
    if not isinstance(random_bits, str):
        _checks.whole(random_bits, "random_bits", optional=True)
    wanted.random_bits = f"{int(random_bits):x}" if isinstance(random_bits, (int, numpy.integer)) else random_bits
    wanted.target = target
    words, _, name = _core.cast(_Op(*item), wanted)
    return library.wrap(words, name)


def converted(item: Operand, to: str) -> Operand:
    """Numbers in a format that has each of them."""
    wanted = _Wanted()
    setattr(wanted, "from", item[1])
    wanted.to = to
    wanted.round = wanted.overflow = wanted.policy = wanted.random_bits = wanted.target = None
    wanted.relu = wanted.sat = wanted.ftz = wanted.pzo = False
    array, kind, name = item
    words, _, _ = _core.cast(_Op(numpy.ascontiguousarray(array), kind, name), wanted)
    return words, to, name


class Quantized:
    """Codes with block scales.

    Attributes
    ----------
    codes : numpy.ndarray of uint8
        The bits of the elements, one in a byte.
    values : array
        The same in the caller's library, in the elements' dtype where it has one.
    scale : numpy.ndarray of uint8
        Codes of the scales, one for each block.
    tensor_scale : float
        What every element is multiplied by; 1 where the format has no such scale.
    format, recipe : str
    axis, block : int
    """

    def __init__(self, made: Any, axis: int, library: Library) -> None:
        codes, scale, word, self.block, (self.format, self.element, self.scale_format), self.recipe = made
        self._codes, self._scale = codes, scale
        self.axis = axis
        self.tensor_scale = float(numpy.uint32(word).view(numpy.float32))
        self._word = word
        self._library = library

    @property
    def codes(self) -> Any:
        return self._codes

    @property
    def scale(self) -> Any:
        return self._scale

    @property
    def values(self) -> Any:
        """The elements in the caller's library, in their dtype where it has one."""
        return self._library.wrap(self._codes, self.element)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the codes."""
        shape: tuple[int, ...] = self._codes.shape
        return shape

    def dequantize(self) -> Any:
        """The numbers that codes and scales stand for, in float32."""
        words = _core.dequantize(
            _Op(self._codes, "unsigned", "codes"), _Op(self._scale, "unsigned", "scale"), self._word, self.format,
            self.axis, self.block,
        )
        return self._library.wrap(words, "f32")

    def __repr__(self) -> str:
        return f"<mmascope.Quantized {self.format} by {self.recipe}: {self.shape}, blocks of {self.block} along {self.axis}>"


@_checks.named
def quantize(
    array: Any,
    format: str,
    *,
    recipe: str | None = None,
    selection: str | None = None,
    axis: int = -1,
    block: int | None = None,
    stochastic: int | None = None,
) -> Quantized:
    """An array of numbers as codes with block scales.

    Parameters
    ----------
    array : array
        Floats of any width.
    format : str
        mxfp8-e4m3, mxfp8-e5m2, mxfp6-e2m3, mxfp6-e3m2, mxfp4, mxint8, nvfp4.
    recipe : {"ocp", "round-up", "nvfp4", "four-over-six"}, optional
    selection : str, optional
        How four-over-six chooses.
    axis : int
        Along which blocks lie.
    block : int, optional
        Elements of a block; the format's by default.
    stochastic : int, optional
        Seed of stochastic rounding.

    Returns
    -------
    Quantized
        :func:`mmascope.matmul` takes it as an operand, with its scales.

    Raises
    ------
    DtypeError
        An array's elements mean nothing here.
    UnknownNameError
        A format or recipe is not known; the message has the nearest ones.
    ArgumentError
        An axis or a block's length does not fit the array, or a value is not possible.

    References
    ----------
    OCP MX 1.0 section 6.3; NVFP4 (arXiv 2509.25149); four-over-six (arXiv 2512.02010); docs/precision.md.
    """
    item, library = operand(array, "array")
    if item[1] in ("unsigned", "signed"):
        raise DtypeError(f"array: elements of {item[0].dtype}; numbers are needed, floats of any width")
    if item[1] in NARROW_FLOATS:
        item = converted(item, "f32")
    rank = item[0].ndim
    is_whole = isinstance(axis, (int, numpy.integer)) and not isinstance(axis, bool)
    if not is_whole or not -rank <= axis < rank:
        raise ArgumentError(f"axis = {axis!r}: an array of shape {item[0].shape} has the axes {-rank} to {rank - 1}")
    own = int(axis) % rank
    _checks.text(format, "format", "mxfp8-e4m3", optional=False)
    _checks.text(recipe, "recipe", "ocp")
    _checks.text(selection, "selection", "a name of four-over-six")
    _checks.whole(block, "block", 1, optional=True, most=(1 << 31) - 1)
    _checks.whole(stochastic, "stochastic", optional=True)
    made = _core.quantize(_Op(*item), format, recipe, selection, own, block, stochastic)
    return Quantized(made, own, library)


def dequantize(quantized: Quantized) -> Any:
    """The numbers of what :func:`quantize` made, in float32 and the caller's library.

    Raises
    ------
    ArgumentError
        ``quantized`` is nothing that :func:`quantize` made.
    """
    if not isinstance(quantized, Quantized):
        raise ArgumentError(f"quantized: {type(quantized).__name__} is nothing that quantize() made")
    return quantized.dequantize()


__all__ = ["NUMPY", "Quantized", "cast", "dequantize", "quantize"]
