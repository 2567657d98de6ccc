"""Reads JSON lines [target, IR] and writes for each the names of the instructions that NVIDIA's libNVVM makes.

The library is that of PyPI's nvidia-nvvm, which stands beside nvidia-cuda-nvcc. What it refuses is answered with null.
"""
import ctypes
import json
import pathlib
import re
import sys
import sysconfig

FOUND = sorted(pathlib.Path(sysconfig.get_path("purelib"), "nvidia").glob("**/libnvvm.so*"))
HEAD = (
    'target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-'
    'v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"\ntarget triple = "nvptx64-nvidia-cuda"\n'
)
LEFT_OUT = ("ld.", "st.", "mov.", "ret")


def names(library, cpu, ir):
    major, minor, debug_major, debug_minor = (ctypes.c_int() for _ in range(4))
    library.nvvmIRVersion(*map(ctypes.byref, (major, minor, debug_major, debug_minor)))
    version = f"{major.value}, i32 {minor.value}, i32 {debug_major.value}, i32 {debug_minor.value}"
    text = (HEAD + ir + "\n!nvvmir.version = !{!0}\n!0 = !{i32 " + version + "}\n").encode()
    program = ctypes.c_void_p()
    if library.nvvmCreateProgram(ctypes.byref(program)):
        return None
    options = [b"-arch=compute_" + cpu.removeprefix("sm_").encode()]
    given = (ctypes.c_char_p * len(options))(*options)
    size = ctypes.c_size_t()
    library.nvvmAddModuleToProgram(program, text, len(text), b"module")
    if library.nvvmCompileProgram(program, len(options), given):
        found = None
    else:
        library.nvvmGetCompiledResultSize(program, ctypes.byref(size))
        made = ctypes.create_string_buffer(size.value)
        library.nvvmGetCompiledResult(program, made)
        lines = made.value.decode().splitlines()
        words = [re.match(r"\s+([a-z][a-z0-9_.]*)[\s;]", line) for line in lines]
        found = [word.group(1) for word in words if word and not word.group(1).startswith(LEFT_OUT)]
    library.nvvmDestroyProgram(ctypes.byref(program))
    return found


if not FOUND:
    sys.exit(1)
if sys.argv[1:] != ["--there"]:
    LIBRARY = ctypes.CDLL(str(FOUND[0]))
    for line in sys.stdin:
        print(json.dumps(names(LIBRARY, *json.loads(line))), flush=True)
