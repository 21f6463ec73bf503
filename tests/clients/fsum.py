"""Sums arrays with `fanin sum --accumulation exact` and compares with math.fsum and fractions.

Usage: fsum.py FANIN     (the path of the tool; needs NumPy)
"""

import math
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np

ELEMENTS = 300
COUNTS = [1, 2, 3, 5, 8, 17, 64]
FLOATS = ["f2", "f4", "f8"]


def any_finite(rng, dtype, shape):
    """Every exponent is as likely as any other."""
    bits = rng.integers(0, 256, (*shape, np.dtype(dtype).itemsize), np.uint8)
    numbers = bits.view(dtype)[..., 0]
    return np.where(np.isfinite(numbers), numbers, np.ones_like(numbers))


def near_one(rng, dtype, shape):
    return rng.standard_normal(shape).astype(dtype)


def cancelling(rng, dtype, shape):
    """Pairs that take each other back, but for a last place here and there."""
    terms = any_finite(rng, dtype, shape)
    for i in range(0, shape[0] - 1, 2):
        nudged = np.nextafter(terms[i], terms.dtype.type(0))
        terms[i + 1] = -np.where(rng.random(shape[1:]) < 0.5, terms[i], nudged)
    return rng.permutation(terms)


def overflows(value, dtype):
    """From half a last place beyond the largest number on, it is infinity."""
    info = np.finfo(dtype)
    limit = Fraction(2) ** info.maxexp - Fraction(2) ** (info.maxexp - info.nmant - 2)
    return abs(value) >= limit


def rounded(value, dtype):
    """The number of type `dtype` nearest to a fraction, ties to even: chosen among neighbours."""
    if overflows(value, dtype):
        return dtype.type(math.inf if value > 0 else -math.inf)
    largest = np.finfo(dtype).max
    guess = dtype.type(min(max(float(value), -float(largest)), float(largest)))
    infinity = dtype.type(math.inf)
    near = [guess, np.nextafter(guess, infinity), np.nextafter(guess, -infinity)]

    def distance(number):
        last_bit = int(np.asarray(number).view(f"u{dtype.itemsize}")) & 1
        return abs(Fraction(float(number)) - value), last_bit

    return min((number for number in near if np.isfinite(number)), key=distance)


def reference(terms, mean):
    """Element by element; `fsum` where it can say it, which is sums of doubles."""
    dtype = terms.dtype
    results = []
    for column in terms.reshape(len(terms), -1).T:
        numbers = [float(number) for number in column]
        exact = sum(map(Fraction, numbers)) / (len(numbers) if mean else 1)
        results.append(rounded(exact, dtype))
        if dtype == np.float64 and not mean:
            try:
                assert math.fsum(numbers) == results[-1], f"fsum and fractions differ: {numbers}"
            except OverflowError:  # on the way, which fsum does not survive
                pass
    return np.asarray(results, dtype).reshape(terms.shape[1:])


def exact_sum(tool, folder, terms, mean):
    files = []
    for i, term in enumerate(terms):
        files.append(str(folder / f"{i}.npy"))
        np.save(files[-1], term)
    output = folder / "out.npy"
    options = ["--accumulation", "exact"] + (["--mean"] if mean else [])
    command = [tool, "sum", *files, "-o", str(output), *options]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return np.load(output)


def main(tool):
    rng = np.random.default_rng(7)
    np.seterr(all="ignore")
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for dtype in FLOATS:
            for make in (any_finite, near_one, cancelling):
                for count in COUNTS:
                    terms = make(rng, dtype, (count, ELEMENTS))
                    for mean in (False, True):
                        got = exact_sum(tool, Path(folder), terms, mean)
                        expected = reference(terms, mean)
                        what = f"{make.__name__}: {count} x {dtype}{' mean' if mean else ''}"
                        assert got.dtype == expected.dtype, f"{what}: {got.dtype}"
                        # Fractions have no -0.0, so that zeros of both signs are equal here.
                        wrong = np.flatnonzero(got != expected)
                        assert not wrong.size, (
                            f"{what}: element {wrong[0]} is {got[wrong[0]]!r}, expected "
                            f"{expected[wrong[0]]!r}, of {terms[:, wrong[0]].tolist()}"
                        )
                        compared += got.size
    print(f"fsum: {compared} sums and means equal those of math.fsum and fractions")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: fsum.py FANIN")
    main(sys.argv[1])
