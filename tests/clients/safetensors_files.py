"""`fanin sum` on files that Python's safetensors wrote, read back by it, against NumPy."""
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

DTYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
          "uint32", "uint64"]
SHAPES = {"matrix": (37, 21), "vector": (1000,), "scalar": (), "empty": (0, 3), "weiß/λ.0": (5, 1, 2)}


def make_terms(count, random):
    """Checkpoints whose sums are exact in any order and type, so that NumPy's order does not matter."""
    return [{f"{name}.{dtype}": np.asarray(random.integers(0, 4, shape), dtype)
             for name, shape in SHAPES.items() for dtype in DTYPES} for _ in range(count)]


def run(fanin, *arguments):
    done = subprocess.run([fanin, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done


def sum_files(fanin, folder, terms, *options):
    paths = [folder / f"{i}.safetensors" for i in range(len(terms))]
    for path, tensors in zip(paths, terms):
        save_file(tensors, path, metadata={"format": "np"})
    done = run(fanin, "sum", *paths, "-o", folder / "out.safetensors", "--json", *options)
    if done.returncode != 0:
        sys.exit(f"fanin sum failed: {done.stderr}")
    return json.loads(done.stdout), load_file(folder / "out.safetensors")


def expect_equal(got, wanted, what):
    if got.keys() != wanted.keys():
        sys.exit(f"{what}: tensors {got.keys() ^ wanted.keys()} are missing or too many")
    for name, array in wanted.items():
        if got[name].dtype != array.dtype or got[name].shape != array.shape:
            sys.exit(f"{what}: {name} is {got[name].dtype} {got[name].shape}, wanted {array.dtype} "
                     f"{array.shape}")
        if got[name].tobytes() != array.tobytes():
            sys.exit(f"{what}: {name} has other elements than NumPy's sum")


def numpy_sum(terms, name):
    total = terms[0][name].copy()
    for term in terms[1:]:
        total = (total + term[name]).astype(total.dtype)
    return np.asarray(total)


def numpy_mean(terms, name):
    dtype = terms[0][name].dtype
    wide = "float64" if dtype.kind != "f" and dtype.itemsize > 2 else "float32"
    kept = dtype if dtype.kind == "f" else np.dtype(wide)
    total = sum(term[name].astype("float64") for term in terms)
    return np.asarray(total / len(terms)).astype(kept)


def check_sums(fanin, folder):
    random = np.random.default_rng(1)
    count = 0
    for term_count in (1, 2, 4, 9):
        terms = make_terms(term_count, random)
        names = terms[0].keys()
        for method in ("ADD_N", "TREE", "ACCUMULATE_N", "AUTO"):
            _, got = sum_files(fanin, folder, terms, "--method", method)
            expect_equal(got, {name: numpy_sum(terms, name) for name in names}, method)
            count += len(got)
        if term_count in (1, 2, 4):  # quotients that are exact
            _, got = sum_files(fanin, folder, terms, "--mean")
            expect_equal(got, {name: numpy_mean(terms, name) for name in names}, "mean")
            count += len(got)
    return count


def check_streaming(fanin, folder):
    """Ten checkpoints that together are larger than the memory that the tool may have."""
    elements = 30 << 20
    paths = [folder / f"large{i}.safetensors" for i in range(10)]
    save_file({"large": np.full(elements, 0.5, "float32"), "small": np.ones(3, "int32")}, paths[0])
    for path in paths[1:]:
        os.link(paths[0], path)
    limit = 900 << 20  # bytes of address space, of 1200 MiB of data

    def sum_within_limit(method):
        return subprocess.run(
            [fanin, "sum", *paths, "-o", folder / "large.safetensors", "--json", "--method", method],
            capture_output=True, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    for method, most in (("TREE", 5), ("ACCUMULATE_N", 2)):
        done = sum_within_limit(method)
        if done.returncode != 0:
            sys.exit(f"{method} with {limit >> 20} MiB: {done.stderr}")
        peak = json.loads(done.stdout)["peak_bytes"]
        if peak > most * elements * 4:
            sys.exit(f"{method} held {peak} bytes, more than {most} tensors")
        got = load_file(folder / "large.safetensors")
        if not (got["large"] == 5).all() or not (got["small"] == 10).all():
            sys.exit(f"{method} of large files gives another sum")
    (folder / "large.safetensors").unlink()
    done = sum_within_limit("ADD_N")
    if done.returncode == 0 or "memory" not in done.stderr or list(folder.glob("large.safetensors*")):
        sys.exit(f"ADD_N, which holds all, should fail with a sentence: {done.returncode} {done.stderr}")


def check_errors(fanin, folder):
    one = {"w": np.ones(3, "float32")}
    save_file(one, folder / "a.safetensors")
    save_file({"v": np.ones(3, "float32")}, folder / "b.safetensors")
    whole = (folder / "a.safetensors").read_bytes()
    (folder / "cut.safetensors").write_bytes(whole[:-2])
    out = folder / "no.safetensors"
    for other, sentence in (("b", "lacks 'w', and has 'v'"), ("cut", "cut.safetensors"),
                            ("none", "there is no such file")):
        done = run(fanin, "sum", folder / "a.safetensors", folder / f"{other}.safetensors", "-o", out)
        if done.returncode != 2 or sentence not in done.stderr:
            sys.exit(f"{other}: exit code {done.returncode}, {done.stderr}")
        if list(folder.glob("no.safetensors*")):
            sys.exit(f"{other}: something was left behind")


def main():
    fanin = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        count = check_sums(fanin, Path(folder))
        check_streaming(fanin, Path(folder))
        check_errors(fanin, Path(folder))
    print(f"safetensors: {count} tensors equal NumPy's sums, bit for bit")


if __name__ == "__main__":
    main()
