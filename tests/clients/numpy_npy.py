"""Writes arrays with NumPy, sums them with the tool, reads them with NumPy, compares the bits.

Usage: numpy_npy.py FANIN     (the path of the tool; needs NumPy)
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

FLOATS = ["f2", "f4", "f8"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
SHAPES = [(), (0,), (1,), (1000,), (7, 9), (3, 0, 2), (5, 6, 7)]
COUNTS = [1, 2, 3, 8, 9, 10, 17, 24]


def random_array(rng, dtype, shape):
    if dtype[0] == "f":
        scale = 10.0 ** rng.integers(-2, 3, shape)
        return np.asarray(rng.standard_normal(shape) * scale, dtype)
    info = np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max, shape, dtype, endpoint=True))


def fold(terms):
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def add_n(terms):
    """In AddN order: the first n mod 8 terms (8 for 0, 9 for 1), then each further 8."""
    first = {0: 8, 1: 9}.get(len(terms) % 8, len(terms) % 8)
    groups = [terms[i : i + 8] for i in range(first, len(terms), 8)]
    return fold([fold(terms[:first])] + [fold(group) for group in groups])


def reference(terms, mean, accumulation):
    dtype = terms[0].dtype
    if dtype.kind == "f":
        wide = np.float32 if dtype == np.float16 and accumulation == "wide" else dtype
        total = add_n([term.astype(wide) for term in terms])
        if mean and accumulation == "native" and dtype == np.float16:
            total = total.astype(np.float32)  # division is the end, and rounds there
        return (total / total.dtype.type(len(terms)) if mean else total).astype(dtype)
    if not mean:
        return add_n(terms).astype(dtype)
    result = np.float32 if dtype.itemsize <= 2 else np.float64
    exact = sum(term.astype(object) for term in terms)
    # Python divides integers exactly and rounds once, to double; a quotient of 8 or 16 bit
    # integers by few terms is never so near a tie of float32 that this rounds twice.
    return np.asarray([value / len(terms) for value in np.ravel(exact)], result).reshape(
        terms[0].shape
    )


class Checker:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.count = tool, Path(folder), 0

    def check(self, terms, *options):
        mean = "--mean" in options
        accumulation = "native" if "native" in options else "wide"
        files = []
        for i, term in enumerate(terms):
            files.append(str(self.folder / f"{i}.npy"))
            np.save(files[-1], term)
        output = self.folder / "out.npy"
        run = subprocess.run(
            [self.tool, "sum", *files, "-o", str(output), "--json", *options],
            capture_output=True,
            text=True,
        )
        what = f"{len(terms)} x {terms[0].dtype} {terms[0].shape} {' '.join(options)}"
        assert run.returncode == 0, f"{what}: {run.stderr}"
        got = np.load(output)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sums may overflow
            expected = np.asarray(reference(terms, mean, accumulation))
        assert got.dtype == expected.dtype, f"{what}: {got.dtype}, expected {expected.dtype}"
        assert got.shape == expected.shape, f"{what}: {got.shape}, expected {expected.shape}"
        same = np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(expected).tobytes()
        assert same, f"{what}: got {got}, expected {expected}"
        answer = json.loads(run.stdout)
        (tensor,) = answer["tensors"]
        assert answer["terms"] == len(terms) and tuple(tensor["shape"]) == got.shape
        all_fortran = all(term.flags.fnc for term in terms)
        assert got.size < 2 or got.flags.fnc == all_fortran, f"{what}: the order was not kept"
        self.count += 1


def main(tool):
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(tool, folder)
        for dtype in FLOATS + INTEGERS:
            for i, shape in enumerate(SHAPES):
                count = COUNTS[(i + ord(dtype[1])) % len(COUNTS)]
                terms = [random_array(rng, dtype, shape) for _ in range(count)]
                fortran = [np.array(term, order="F") for term in terms]
                mixed = [a if k % 2 else b for k, (a, b) in enumerate(zip(terms, fortran))]
                for arrays in (terms, fortran, mixed):
                    checker.check(arrays)
                checker.check(terms, "--mean")
                if dtype == "f2":
                    checker.check(terms, "--accumulation", "native")
        for count in COUNTS:
            for dtype in FLOATS:
                checker.check([random_array(rng, dtype, (50,)) for _ in range(count)])
        checker.check([np.float16([60000.0]), np.float16([60000.0])], "--mean")
        print(f"numpy_npy: {checker.count} sums equal NumPy {np.__version__}, bit for bit")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: numpy_npy.py FANIN")
    main(sys.argv[1])
