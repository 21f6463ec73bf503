"""The benchmark `sums`: Fanin, hand-written loops and NumPy add the same terms in turns."""
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from quiet import wait_until_quiet
from report import Peer, Row, show_progress

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venvs" / "numpy"
KIB, MIB = 1 << 10, 1 << 20


def list_cases(quick):
    """(terms, bytes, dtype, share of the limit wanted, ratio to NumPy wanted)."""
    cases = [(2, 4 * KIB, "float32", 1.0, 4.0)]
    for size, of_limit, of_numpy in ((256 * KIB, 0.90, 2.0), (4 * MIB, 0.90, None),
                                     (64 * MIB, 0.95, None)):
        for terms in (2, 4, 8, 16, 32):
            if not (quick and terms * size > 512 * MIB):
                cases.append((terms, size, "float32", of_limit, of_numpy))
    return cases + [(8, 4 * MIB, dtype, 0.85, None) for dtype in ("bfloat16", "float16")]


def build():
    print("building the release preset ...", file=sys.stderr)
    for command in (["cmake", "--preset", "release"],
                    ["cmake", "--build", "--preset", "release", "--target", "bench_sums"]):
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(done.stdout.decode() + "./bench/run: the build failed")


def has_numpy(python):
    return subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def find_numpy(quick):
    """A Python that has NumPy, or None. Only the full run installs one."""
    own = str(VENV / "bin" / "python")
    for python in (own, sys.executable):
        if os.path.exists(python) and has_numpy(python):
            return python
    if quick:
        print("NumPy is not installed and --quick installs nothing: no peer", file=sys.stderr)
        return None
    print(f"installing NumPy into {VENV.relative_to(ROOT)} ...", file=sys.stderr)
    installed = subprocess.run([sys.executable, "-m", "venv", VENV], check=False).returncode == 0
    if installed and subprocess.run([own, "-m", "pip", "install", "-q", "numpy"],
                                    check=False).returncode == 0:
        return own
    print("NumPy could not be installed: no peer", file=sys.stderr)
    return None


class Worker:
    """A program that answers each case with times."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"./bench/run: {self.process.args[0]} ended early")
        return json.loads(line)

    def ask(self, terms, size, dtype, seconds):
        print(terms, size, dtype, seconds, file=self.process.stdin, flush=True)
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def name_of(terms, size, dtype):
    amount = f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"
    return f"add_n {terms} x {amount} {dtype}"


def run(quick):
    """Rows, and the versions of who was measured."""
    build()
    python = find_numpy(quick)
    workers = [Worker([str(ROOT / "build" / "release" / "bin" / "bench_sums")])]
    versions = {"fanin": read_version()}
    if python:
        workers.append(Worker([python, str(ROOT / "bench" / "numpy_sums.py")]))
        versions["NumPy"] = workers[1].read()["version"]
    rounds, seconds = (3, 0.4) if quick else (7, 1.0)
    rows = []
    noisy = 0
    patience = 15.0 if quick else 600.0  # seconds of waiting for a quiet machine, in all
    cases = list_cases(quick)
    for index, case in enumerate(cases):
        terms, size, dtype, of_limit, of_numpy = case
        answers = []
        for number in range(rounds):
            show_progress(f"{index + 1}/{len(cases)} {name_of(*case[:3])}, round {number + 1}")
            answer = {}
            for worker in workers:
                quiet, waited = wait_until_quiet(most_seconds=min(2.0, patience))
                noisy += not quiet
                patience -= waited
                answer |= worker.ask(terms, size, dtype, seconds / len(workers))
            answers.append(answer)
        rows.append(make_row(case, answers))
    for worker in workers:
        worker.close()
    if noisy:
        print(f"other programs were running before {noisy} samples: do not trust single numbers",
              file=sys.stderr)
    return rows, versions


def make_row(case, answers):
    terms, size, dtype, of_limit, of_numpy = case

    def micros(key):
        return statistics.median(answer[key] for answer in answers) * 1e6

    absolute = size == 4 * KIB  # a call below half a microsecond, whatever the loop would take
    ratios = [(0.5e-6 if absolute else a["limit"]) / a["fanin"] for a in answers]
    row = Row(name_of(terms, size, dtype), "us", "none", micros("fanin"),
              0.5 if absolute else micros("limit"), of_limit, (min(ratios), max(ratios)))
    if all("numpy" in answer for answer in answers):
        value = micros("numpy")
        row.peers["numpy"] = Peer(value, value / row.fanin, of_numpy)
    return row


def read_version():
    for line in (ROOT / "CMakeLists.txt").read_text().splitlines():
        if line.startswith("project(fanin VERSION"):
            return line.split()[2]
    return "unknown"
