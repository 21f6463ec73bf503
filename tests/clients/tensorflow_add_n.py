"""Sums the same terms with the tool and with `tf.add_n`, and compares the bits.

Usage: tensorflow_add_n.py FANIN     (the path of the tool; needs TensorFlow)

Every element is a sum of its own, so each array holds thousands of cases. TensorFlow may reuse the
buffer of a term that nobody holds, and then adds in another order: here all terms are held.

TensorFlow takes subnormal float32 and float64 numbers for zero, in terms and in results; Fanin does
not. So the terms that must give equal bits are such that no sum of them is subnormal, and for others
it is shown that this is the only difference. NaN is equal to NaN, whatever its bits.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy_npy import add_n, fold

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402  (its logging is set by the line above)

ELEMENTS = 4096
MOST_TERMS = 64
OPTIONS = {"float32": [], "float64": [], "float16": ["--accumulation", "native"]}


def make_terms(rng, dtype, lowest_exponent):
    """Rows that are terms: a quarter with exponents from end to end, specials strewn about."""
    shape = (MOST_TERMS, ELEMENTS)
    near = rng.integers(-3, 3, shape)
    wild = rng.integers(lowest_exponent, np.finfo(dtype).maxexp, shape)
    exponents = np.where(np.arange(ELEMENTS) % 4, near, wild)
    signs = rng.choice([-1.0, 1.0], shape)
    terms = np.ldexp((signs * rng.uniform(1, 2, shape)).astype(dtype), exponents).astype(dtype)
    for special in (0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max):
        terms[rng.random(shape) < 0.002] = special
    terms[:, 0] = -0.0
    terms[:, 1] = np.finfo(dtype).max
    return terms


def lowest_safe_exponent(dtype):
    """Numbers from this exponent on are multiples of the smallest normal number."""
    info = np.finfo(dtype)
    return info.minexp + info.nmant


def flush(array):
    return np.where(np.abs(array) < np.finfo(array.dtype).tiny, np.copysign(0, array), array)


class Flushed:
    """An array whose additions read and give zeros for subnormal numbers."""

    def __init__(self, array):
        self.array = flush(array)

    def __add__(self, other):
        return Flushed(self.array + other.array)


def differences(left, right):
    """The elements whose bits differ, except where both are NaN."""
    bits = f"u{left.dtype.itemsize}"
    equal = (left.view(bits) == right.view(bits)) | (np.isnan(left) & np.isnan(right))
    return np.flatnonzero(~equal)


def expect_equal(what, left, right, terms):
    wrong = differences(left, right)
    if wrong.size:
        at = wrong[0]
        sys.exit(f"{what} differ in {wrong.size} of {left.size} sums, first at {at}: "
                 f"{left[at]!r} and {right[at]!r} from {[term[at] for term in terms]}")


class Tool:
    """Sums the first arrays of a list, which are written once."""

    def __init__(self, tool, folder, terms, options):
        self.command, self.options = [tool, "sum"], options
        self.output = folder / "sum.npy"
        self.files = [str(folder / f"{i}.npy") for i in range(len(terms))]
        for file, term in zip(self.files, terms):
            np.save(file, term)

    def sum(self, count):
        run = subprocess.run(
            [*self.command, *self.files[:count], "-o", self.output, *self.options],
            capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{' '.join(self.command)} of {count} terms failed: {run.stderr}")
        return np.load(self.output)


def check_equal(tool, folder, rng, dtype):
    """The tool and TensorFlow give the same bits, and would not in another order."""
    # float16 is added as float32, where nothing here is subnormal.
    lowest = np.finfo(dtype).minexp if dtype == "float16" else lowest_safe_exponent(dtype)
    terms = make_terms(rng, dtype, lowest)
    fanin = Tool(tool, folder, terms, OPTIONS[dtype])
    held = [tf.constant(term) for term in terms]
    in_another_order = 0
    for count in range(1, MOST_TERMS + 1):
        expected = tf.add_n(held[:count]).numpy()
        what = f"fanin and TensorFlow, {count} terms of {dtype},"
        expect_equal(what, fanin.sum(count), expected, terms[:count])
        in_another_order += differences(fold(list(terms[:count])), expected).size
    assert in_another_order > 1000, f"{dtype}: these terms do not tell one order from another"
    return MOST_TERMS * ELEMENTS


def check_subnormal(tool, folder, rng, dtype):
    """The tool keeps subnormal numbers, TensorFlow flushes them, and nothing else differs."""
    info = np.finfo(dtype)
    terms = make_terms(rng, dtype, info.minexp - info.nmant)
    terms[:, 2:] = np.ldexp(terms[:, 2:], info.minexp)  # about the smallest normal number
    fanin = Tool(tool, folder, terms, OPTIONS[dtype])
    held = [tf.constant(term) for term in terms]
    flushed = 0
    for count in (2, 3, 8, 9, 10, 17, 33, 64):
        some = list(terms[:count])
        of_fanin, of_tensorflow = fanin.sum(count), tf.add_n(held[:count]).numpy()
        what = f"of {count} subnormal terms of {dtype}"
        expect_equal(f"fanin and IEEE sums {what}", of_fanin, add_n(some), some)
        expect_equal(f"TensorFlow and flushed sums {what}", of_tensorflow,
                     add_n([Flushed(term) for term in some]).array, some)
        flushed += differences(of_fanin, of_tensorflow).size
    assert flushed > 1000, f"{dtype}: no sum here is subnormal"
    return 8 * ELEMENTS


def main(tool):
    rng = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as name, np.errstate(all="ignore"):
        folder = Path(name)
        count = sum(check_equal(tool, folder, rng, dtype) for dtype in OPTIONS)
        print(f"tensorflow_add_n: {count} sums equal TensorFlow {tf.__version__}, bit for bit")
        count = sum(check_subnormal(tool, folder, rng, dtype) for dtype in ("float32", "float64"))
        print(f"tensorflow_add_n: {count} subnormal sums differ only where TensorFlow flushes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tensorflow_add_n.py FANIN")
    main(sys.argv[1])
