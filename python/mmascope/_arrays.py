"""Arrays of any library as NumPy arrays of bits with the name of their format, and results back."""

from __future__ import annotations

import sys
from typing import Any, Protocol, cast

import numpy

from ._errors import DtypeError

#: A NumPy array, the name of its elements' format (or ``unsigned``, ``signed`` for codes), the argument.
Operand = tuple["numpy.ndarray[Any, Any]", str, str]

_PLAIN: dict[Any, str] = {
    numpy.dtype("float16"): "f16",
    numpy.dtype("float32"): "f32",
    numpy.dtype("float64"): "f64",
    **{numpy.dtype(f"uint{bits}"): "unsigned" for bits in (8, 16, 32, 64)},
    **{numpy.dtype(f"int{bits}"): "signed" for bits in (8, 16, 32, 64)},
}

#: Names of ``ml_dtypes``, and of torch and JAX.
_NARROW = {
    "bfloat16": "bf16",
    "float8_e4m3fn": "e4m3fn",
    "float8_e5m2": "e5m2",
    "float8_e4m3fnuz": "e4m3fnuz",
    "float8_e5m2fnuz": "e5m2fnuz",
    "float8_e4m3b11fnuz": "e4m3b11fnuz",
    "float8_e4m3": "e4m3-ieee",
    "float8_e3m4": "e3m4",
    "float8_e8m0fnu": "ue8m0",
    "float6_e2m3fn": "e2m3fn",
    "float6_e3m2fn": "e3m2fn",
    "float4_e2m1fn": "e2m1fn",
}
#: Integers of ``ml_dtypes`` and JAX, whose names are those of the formats.
_INTEGERS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (1, 2, 4)}
_NARROW_NAMES = {**{kind: name for name, kind in _NARROW.items()}, **{name: name for name in _INTEGERS}}
#: Numbers of fewer than eight bits, one in a byte.
NARROW_FLOATS = ("e2m1fn", "e2m3fn", "e3m2fn")
_FLOATS = {"f16": "float16", "f32": "float32", "f64": "float64"}
#: Formats that lie in the words of another.
_WORDS = {"tf32": "float32", "e8m13": "float32", "e11m23": "float64"}
_ALLOWED = (
    "float16, float32, float64, bfloat16, float8_*, float6_*, float4_e2m1fn, and integers: numbers for an operand "
    "that is an integer, else codes of its format"
)


class Library(Protocol):
    """What makes results of a caller's own kind."""

    def wrap(self, words: numpy.ndarray[Any, Any], kind: str) -> Any:
        """Words of a format as an array."""


def numpy_dtype(kind: str) -> numpy.dtype[Any]:
    """The NumPy dtype of a format; unsigned integers of its width where NumPy has none."""
    if kind in _FLOATS:
        return numpy.dtype(_FLOATS[kind])
    if kind in _NARROW_NAMES:
        try:
            import ml_dtypes
        except ImportError:
            return numpy.dtype("uint16" if kind == "bf16" else "uint8")
        name = _NARROW_NAMES[kind]
        own: numpy.dtype[Any] = numpy.dtype(getattr(ml_dtypes, name, "uint8"))
        return own
    # tf32 and e8m13 lie in words of f32, e11m23 in those of f64; scales and integers without a dtype (mxint8) are codes.
    name = kind if kind.lstrip("u") in ("int8", "int16", "int32", "int64") else "uint8"
    return numpy.dtype(_WORDS.get(kind, name))


_viewed: dict[str, numpy.dtype[Any]] = {}


class _NumPy:
    def __reduce__(self) -> str:
        return "NUMPY"

    def wrap(self, words: numpy.ndarray[Any, Any], kind: str) -> Any:
        dtype = _viewed.get(kind)
        if dtype is None:
            dtype = _viewed[kind] = numpy_dtype(kind)
        return words.view(dtype)


def dtype_of_torch(kind: str) -> Any:
    """PyTorch's dtype of a format; integers of its width where PyTorch has none."""
    torch = sys.modules["torch"]
    if kind in _INTEGERS:
        # PyTorch has int4 and its like by name only: nothing reads their elements.
        return torch.uint8
    name = _FLOATS.get(kind) or _NARROW_NAMES.get(kind) or _WORDS.get(kind, kind)
    dtype = getattr(torch, name, None)
    if dtype is not None:
        return dtype
    # Unsigned integers of more than a byte are younger than PyTorch.
    return getattr(torch, {"uint16": "int16", "uint32": "int32", "uint64": "int64"}.get(kind, "uint8"))


def kind_of_torch(dtype: Any) -> str:
    """The format of PyTorch's dtype; its own name where there is none."""
    name = str(dtype).removeprefix("torch.")
    own = {value: key for key, value in _FLOATS.items()}
    return "e2m1fn" if name == "float4_e2m1fn_x2" else own.get(name, _NARROW.get(name, name))


class _Torch:
    def __reduce__(self) -> str:
        return "TORCH"

    def wrap(self, words: numpy.ndarray[Any, Any], kind: str) -> Any:
        torch = sys.modules["torch"]
        signed = words.view(f"int{8 * words.dtype.itemsize}" if words.dtype.itemsize > 1 else "uint8")
        if not words.flags.writeable:
            signed = signed.copy()
        dtype = dtype_of_torch(kind)
        tensor = torch.from_numpy(signed)
        # Formats without a dtype, such as a tensix word, stay words.
        return tensor.view(dtype) if dtype.itemsize == words.dtype.itemsize else tensor


_NOT_IN_JAX = ("e2m3fn", "e3m2fn", "int1", "uint1")


class _Jax:
    def __reduce__(self) -> str:
        return "JAX"

    def wrap(self, words: numpy.ndarray[Any, Any], kind: str) -> Any:
        jax = sys.modules["jax"]
        # XLA has no arrays of 6 bits, and cannot read those of one: their codes are what it can have.
        array = words if kind in _NOT_IN_JAX else NUMPY.wrap(words, kind)
        if array.dtype.itemsize == 8 and not jax.config.jax_enable_x64:
            raise DtypeError(
                f"the result is {array.dtype}, and JAX cuts it to 32 bits: jax.config.update('jax_enable_x64', True) "
                "allows 64, or give NumPy arrays, as numpy.asarray makes them"
            )
        return jax.numpy.asarray(array)


class _Standard:
    """A library of the array API standard."""

    def __init__(self, namespace: Any) -> None:
        self.namespace = namespace

    def wrap(self, words: numpy.ndarray[Any, Any], kind: str) -> Any:
        return self.namespace.from_dlpack(NUMPY.wrap(words, kind))


NUMPY: Library = _NumPy()
TORCH: Library = _Torch()
JAX: Library = _Jax()


#: What arrays of ml_dtypes' types become in files: numpy.load has their bytes and not their types.
_VOIDS = {
    "|V2": ": numpy.load forgets the types of ml_dtypes: {}.view(ml_dtypes.bfloat16) has bfloat16 back",
    "|V1": ": numpy.load forgets the types of ml_dtypes: {}.view(ml_dtypes.float8_e4m3fn), or whichever of its types of a "
           "byte the file was written from, has the numbers back",
}


def bits_of(array: numpy.ndarray[Any, Any], argument: str, any_layout: bool) -> tuple[numpy.ndarray[Any, Any], str]:
    """A NumPy array as bits in the machine's byte order, and the name of its format; row-major without any_layout."""
    kind = _PLAIN.get(array.dtype)
    if kind is None:
        name = array.dtype.name
        kind = _NARROW.get(name)
        if kind is not None:
            if not array.dtype.isnative:
                array = array.astype(array.dtype.newbyteorder("="))
            array = array.view(f"uint{8 * array.dtype.itemsize}")
        elif name in _INTEGERS:
            # One in a byte; the bits above are its sign, or anything.
            kind = name
            array = array.view("uint8") & numpy.uint8((1 << _INTEGERS[name]) - 1)
        else:
            native = array.dtype.newbyteorder("=")
            kind = _PLAIN.get(native)
            if kind is None:
                hint = _VOIDS.get(str(native), "").format(argument)
                raise DtypeError(f"{argument}: elements of {array.dtype}{hint}; allowed: {_ALLOWED}")
            array = array.astype(native)
    if not any_layout and not array.flags.c_contiguous:
        array = numpy.ascontiguousarray(array)
    return array, kind


def _of_torch(tensor: Any, argument: str, any_layout: bool) -> tuple[numpy.ndarray[Any, Any], str]:
    torch = sys.modules["torch"]
    if tensor.is_nested:
        raise DtypeError(f"{argument}: a nested tensor; dense ones are taken, such as {argument}.to_padded_tensor(0)")
    if tensor.device.type != "cpu":
        raise DtypeError(f"{argument}: a tensor on {tensor.device}; tensors on cpu are taken here: {argument}.cpu()")
    if tensor.layout != torch.strided:
        raise DtypeError(f"{argument}: a tensor of layout {tensor.layout}; dense ones are taken: {argument}.to_dense()")
    tensor = tensor.detach()
    if hasattr(tensor, "resolve_neg"):
        tensor = tensor.resolve_neg()
    name = str(tensor.dtype).removeprefix("torch.")
    if name == "float4_e2m1fn_x2":
        packed = tensor.view(torch.uint8).numpy()
        codes = numpy.stack([packed & 15, packed >> 4], axis=-1)
        return codes.reshape(*packed.shape[:-1], 2 * packed.shape[-1]), "e2m1fn"
    kind = _NARROW.get(name)
    if kind is not None:
        bits = tensor.view(torch.int16 if kind == "bf16" else torch.uint8).numpy()
        if kind == "bf16":
            bits = bits.view("uint16")
        return bits if any_layout else numpy.ascontiguousarray(bits), kind
    try:
        array = tensor.numpy()
    except TypeError as error:
        raise DtypeError(f"{argument}: elements of {tensor.dtype}; allowed: {_ALLOWED}") from error
    except RuntimeError as error:
        raise DtypeError(f"{argument}: a {type(tensor).__name__} without memory that can be read: {error}") from error
    return bits_of(array, argument, any_layout)


def _is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "Tensor") and isinstance(value, torch.Tensor)


def is_on_gpu(value: Any) -> bool:
    """Whether it is a tensor of PyTorch in the memory of an NVIDIA GPU."""
    return _is_torch(value) and bool(value.device.type == "cuda")


def _is_jax(value: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and hasattr(jax, "Array") and isinstance(value, jax.Array)


def operand(value: Any, argument: str, any_layout: bool = False) -> tuple[Operand, Library]:
    """Any array as bits, and the library that results go back to.

    Parameters
    ----------
    value : array
        NumPy array, CPU tensor of PyTorch, JAX array, anything with DLPack or the buffer protocol, or nested lists
        of floats.
    argument : str
        Its name in messages.
    any_layout : bool
        Leave the elements where they are in memory; without it the array is row-major.

    Raises
    ------
    DtypeError
        Elements without a meaning, or memory that this process does not read.
    """
    if type(value) is numpy.ndarray:
        return (*bits_of(value, argument, any_layout), argument), NUMPY
    if _is_torch(value):
        return (*_of_torch(value, argument, any_layout), argument), TORCH
    if _is_jax(value):
        return (*bits_of(numpy.asarray(value), argument, any_layout), argument), JAX
    if isinstance(value, numpy.ndarray):
        if isinstance(value, numpy.ma.MaskedArray):
            raise DtypeError(f"{argument}: a masked array; fill it first: {argument}.filled(0)")
        return (*bits_of(numpy.asarray(value), argument, any_layout), argument), NUMPY
    if isinstance(value, numpy.generic):
        return (*bits_of(numpy.asarray(value), argument, any_layout), argument), NUMPY
    library = NUMPY
    if hasattr(value, "__dlpack__"):
        if hasattr(value, "__array_namespace__"):
            library = _Standard(value.__array_namespace__())
        try:
            array = numpy.from_dlpack(value)
        except Exception as error:
            raise DtypeError(f"{argument}: {type(value).__name__} gives no array through DLPack: {error}") from error
        return (*bits_of(array, argument, any_layout), argument), library
    if isinstance(value, (bool, int, float, list, tuple)):
        return _of_numbers(value, argument), NUMPY
    try:
        array = numpy.asarray(memoryview(value))
    except TypeError as error:
        from ._precision import Quantized

        if isinstance(value, Quantized):
            raise DtypeError(
                f"{argument}: a Quantized is for matmul; its codes and scale are arrays, and dequantize() has its numbers"
            ) from error
        raise DtypeError(
            f"{argument}: {type(value).__name__} is no array: NumPy, PyTorch and JAX arrays are taken, DLPack, "
            "buffers, and lists of floats"
        ) from error
    return (*bits_of(array, argument, any_layout), argument), NUMPY


def _of_numbers(value: Any, argument: str) -> Operand:
    """Lists of floats are numbers in float64; of integers nobody knows whether they are codes."""
    try:
        array = numpy.asarray(value)
    except ValueError as error:
        raise DtypeError(f"{argument}: {error}") from error
    if array.size and array.dtype.kind != "f":
        raise DtypeError(
            f"{argument}: plain Python {array.dtype.name} may be numbers or codes; write numbers as floats or as a "
            "NumPy array of signed integers, and codes as one of unsigned integers"
        )
    return array.astype("float64"), "f64", argument


def shape_of(operand: Operand) -> tuple[int, ...]:
    """The shape of an operand."""
    return cast("tuple[int, ...]", operand[0].shape)
