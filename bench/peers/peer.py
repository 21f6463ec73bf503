"""What every peer's worker does: reads cases, times calls, answers.

A case is a line: of the benchmark `sums` "what terms bytes dtype seconds", of `devices` "outputs
spec replicas file seconds". The answer is a line of JSON: for each way that this peer has, the
seconds of one call, or a sentence that says why there is no time.
"""
import json
import os
import sys
import time
from collections import namedtuple

import numpy as np

Case = namedtuple("Case", "what terms size dtype")
DeviceCase = namedtuple("DeviceCase", "outputs terms counts")


def read_sum(what, terms, size, dtype):
    return Case(what, int(terms), int(size), dtype)


def read_devices(outputs, _, replicas, path):
    """A replica has a tensor of each count; what is summed are ones."""
    with open(path) as file:
        return DeviceCase(outputs, int(replicas), tuple(map(int, file)))


def staggered_ones(case, index):
    """Ones that begin a little after a 2 MiB border, as Fanin has them: equal alignment collides.

    bfloat16, which NumPy does not have, comes as the bits in uint16.
    """
    dtype = np.dtype("uint16" if case.dtype == "bfloat16" else case.dtype)
    raw = np.empty(case.size + (4 << 20), np.uint8)
    begin = -raw.ctypes.data % (2 << 20) + index % 16 * 4160
    array = raw[begin:begin + case.size].view(dtype)
    array[:] = 0x3f80 if case.dtype == "bfloat16" else 1
    return array


def time_call(call, budget):
    """The median seconds of one call, over samples of at least 50 us."""
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


class Way:
    """One way of a peer to add the terms of a case: a call that gives the sum, or sums."""

    def __init__(self, case, call):
        self.case, self.call, self.problem = case, call, None

    def check(self):
        result = self.call()
        first, last = result[0], result[-1]
        while getattr(first, "ndim", 1) > 0:  # lists of tensors, and tensors
            first, last = first[0], last[-1]
        if not float(first) == float(last) == self.case.terms:
            raise ValueError(f"{self.case.terms} ones give {first} and {last}")

    def answer(self, budget):
        """Seconds, or a sentence; a way that failed once is not tried again."""
        try:
            if not self.problem:
                self.check()
                return time_call(self.call, budget)
        except Exception as error:  # whatever a peer may raise
            text = str(error).strip() or "no message"
            self.problem = f"failed with {type(error).__name__}: {text.splitlines()[0]}"
        return self.problem


def serve(version, make_ways, read_case=read_sum):
    """Answers cases until the input ends. `make_ways(case)` gives {name: call, or a sentence}."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints does not get between the answers
    print(json.dumps({"version": version}), file=answers, flush=True)
    held, ways = None, {}
    for line in sys.stdin:
        *words, budget = line.split()
        case = read_case(*words)
        if case != held:
            ways.clear()  # the old arrays go before the new ones come
            ways = {name: made if isinstance(made, str) else Way(case, made)
                    for name, made in make_ways(case).items()}
            held = case
        answer = {name: way if isinstance(way, str) else way.answer(float(budget))
                  for name, way in ways.items()}
        print(json.dumps(answer), file=answers, flush=True)
