"""A device under test as a process: f16 products added to c one after the other, rounded to f32."""
import json
import struct
import sys
from ctypes import c_float

for line in sys.stdin:
    if line.strip():
        query = json.loads(line)
        a, b = (struct.unpack(">%de" % (len(query[k]) // 4), bytes.fromhex(query[k])) for k in "ab")
        d = struct.unpack(">f", bytes.fromhex(query["c"]))[0]
        for x, y in zip(a, b):
            d = c_float(d + x * y).value  # exact product, one rounding: double has 53 bits
        print(json.dumps({"id": query["id"], "d": struct.pack(">f", d).hex()}))
    else:
        print(flush=True)
