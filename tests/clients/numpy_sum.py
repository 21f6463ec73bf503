"""Sums files that NumPy wrote with `fanin sum`, and compares the bits with NumPy's own sums.

Usage: numpy_sum.py PATH-OF-FANIN
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SHAPES = [(), (0,), (1,), (7,), (33, 5), (2, 3, 4), (1000, 257)]
COUNTS = [1, 2, 3, 7, 8, 9, 10, 16, 17, 26]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def fold(terms):
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def add_n(terms):
    """The order of AddN: the first n mod 8 terms (8 for 0, 9 for 1), then groups of 8."""
    first = min(len(terms), {0: 8, 1: 9}.get(len(terms) % 8, len(terms) % 8))
    total = fold(terms[:first])
    for start in range(first, len(terms), 8):
        total = total + fold(terms[start : start + 8])
    return total


def expected_sum(terms, accumulation):
    dtype = terms[0].dtype
    if dtype == np.float16 and accumulation == "wide":
        return add_n([term.astype(np.float32) for term in terms]).astype(np.float16)
    return add_n(terms).astype(dtype)


def random_terms(rng, dtype, shape, count):
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        return [
            rng.integers(limits.min, limits.max, size=shape, dtype=dtype, endpoint=True)
            for _ in range(count)
        ]
    return [np.asarray(rng.normal(size=shape)).astype(dtype) for _ in range(count)]


def run_sum(fanin, terms, folder, *options):
    paths = []
    for i, term in enumerate(terms):
        paths.append(folder / f"term {i}.npy")
        np.save(paths[-1], np.asarray(term))
    out = folder / "sum.npy"
    out.unlink(missing_ok=True)
    subprocess.run([fanin, "sum", *paths, "-o", out, *options], check=True, stdout=subprocess.DEVNULL)
    return np.load(out)


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def main():
    fanin = sys.argv[1]
    rng = np.random.default_rng(1)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for dtype in INTEGERS + FLOATS:
            for i, count in enumerate(COUNTS):
                shape = SHAPES[(i + len(dtype)) % len(SHAPES)]
                for accumulation in ["wide", "native"] if dtype == "float16" else ["wide"]:
                    terms = random_terms(rng, dtype, shape, count)
                    got = run_sum(fanin, terms, Path(scratch), "--accumulation", accumulation)
                    with np.errstate(over="ignore"):
                        good = same_bits(got, expected_sum(terms, accumulation))
                    passed, failed = passed + good, failed + (not good)
                    if not good:
                        print(f"{count} terms of {dtype} {list(shape)}, {accumulation}: other bits than NumPy's")
    print(f"numpy: {passed} sums equal NumPy's bit for bit, {failed} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
