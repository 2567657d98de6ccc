"""A device under test as a process: f32 products summed by numpy.sum, then added to c."""
import json
import sys

import numpy as np


def floats(text):
    return np.frombuffer(bytes.fromhex("".join(text) if isinstance(text, list) else text), ">f4").astype(np.float32)


for line in sys.stdin:
    if line.strip():
        query = json.loads(line)
        d = np.sum(floats(query["a"]) * floats(query["b"])) + floats(query["c"])[0]
        print(json.dumps({"id": query["id"], "d": np.array(d, ">f4").tobytes().hex()}))
    else:
        print(flush=True)
