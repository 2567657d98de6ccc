"""Reads JSON lines [target, IR] and writes for each the names of the instructions that LLVM's NVPTX backend makes.

A function that the backend refuses to select is answered with null: it aborts, so each runs in a process of its own.
"""
import json
import os
import re
import sys

import llvmlite.binding as llvm

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
TARGET = llvm.Target.from_triple("nvptx64-nvidia-cuda")
LEFT_OUT = ("ld.", "st.", "mov.", "ret")


def names(cpu, ir):
    module = llvm.parse_assembly('target triple = "nvptx64-nvidia-cuda"\n' + ir)
    module.verify()
    # By default LLVM writes the PTX version that the target came with, which had no tanh yet.
    features = "+ptx70" if cpu == "sm_75" else ""
    machine = TARGET.create_target_machine(cpu=cpu, features=features, opt=3)
    found = []
    for line in machine.emit_assembly(module).splitlines():
        word = re.match(r"\s+([a-z][a-z0-9_.]*)[\s;]", line)
        if word and not word.group(1).startswith(LEFT_OUT):
            found.append(word.group(1))
    return found


def answer(cpu, ir):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writing, json.dumps(names(cpu, ir)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


for line in sys.stdin:
    print(json.dumps(answer(*json.loads(line))), flush=True)
