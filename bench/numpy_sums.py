"""Times NumPy's sums. Reads lines "terms bytes dtype seconds", answers each with a line of JSON.

NumPy adds two arrays at a time; its best is to add into the result (`out=`), without new arrays.
"""
import json
import sys
import time

import numpy as np


def staggered(count, dtype, index):
    """Ones that begin a little after a 2 MiB border, as the other workers have them."""
    raw = np.empty(count * dtype.itemsize + (4 << 20), np.uint8)
    begin = -raw.ctypes.data % (2 << 20) + index % 16 * 4160
    array = raw[begin:begin + count * dtype.itemsize].view(dtype)
    array[:] = 1
    return array


def sum_into(out, terms):
    np.add(terms[0], terms[1], out=out)
    for term in terms[2:]:
        np.add(out, term, out=out)


def time_call(call, budget):
    call()
    begin = time.perf_counter()
    call()
    calls = max(1, int(50e-6 / max(time.perf_counter() - begin, 1e-9)))
    samples = []
    end = time.perf_counter() + budget
    while len(samples) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        samples.append((time.perf_counter() - begin) / calls)
    return sorted(samples)[len(samples) // 2]


def main():
    print(json.dumps({"version": np.__version__}), flush=True)
    held, arrays = None, []
    for line in sys.stdin:
        terms, size, name, budget = line.split()
        if name == "bfloat16":  # NumPy has none
            print(json.dumps({}), flush=True)
            continue
        if held != (terms, size, name):
            arrays = []
            dtype = np.dtype(name)
            count = int(size) // dtype.itemsize
            arrays = [staggered(count, dtype, i) for i in range(int(terms) + 1)]
            held = (terms, size, name)
        seconds = time_call(lambda: sum_into(arrays[0], arrays[1:]), float(budget))
        print(json.dumps({"numpy": seconds}), flush=True)


if __name__ == "__main__":
    main()
