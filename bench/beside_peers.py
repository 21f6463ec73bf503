"""Fanin, hand-written loops and the peers do the same in turns."""
import contextlib
import statistics
import sys
import time

from environments import ROOT, build_program, fanin_version, find_python
from rows import Peer, Row, own_times
from turns import FULL, QUICK, Turns
from worker import Worker, WorkerFailed

# Peers at their best. Results stay mapped, in huge pages: TensorFlow makes a new one in each call,
# and fresh pages would take most of its time. OpenMP's threads have a core each.
SETTINGS = {
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4000000000:"
                      "glibc.malloc.trim_threshold=8000000000:glibc.malloc.top_pad=268435456",
    "OMP_PROC_BIND": "true",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TORCHINDUCTOR_CACHE_DIR": str(ROOT / "build" / "bench" / "inductor"),
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
}


def start_peer(name, benchmark, python, stack):
    """(worker, version), or None after a sentence. The stack closes the worker."""
    script = str(ROOT / "bench" / "peers" / f"{name}_{benchmark}.py")
    worker = Worker(name, [python, script], SETTINGS)
    stack.callback(worker.close)
    try:
        return worker, worker.read(most_seconds=120)["version"]
    except WorkerFailed as failure:
        print(f"{failure}; not measured", file=sys.stderr)
        return None


def make_row(case, answers, problems):
    """A row of the medians. A peer's sentences instead of times go to `problems`, with the case."""
    fanin, limit = own_times(case, answers)
    row = Row(str(case), "us", "none", statistics.median(fanin), statistics.median(limit),
              case.target_limit, [each / own for each, own in zip(limit, fanin)],
              panel=case.panel, label=case.label)
    for name in answers[0]:
        values = [answer.get(name) for answer in answers]
        if name not in ("fanin", "limit", "way") and all(isinstance(v, float) for v in values):
            micros = [value * 1e6 for value in values]
            median = statistics.median(micros)
            row.peers[name] = Peer(median, median / row.fanin, case.targets.get(name),
                                   [each / own for each, own in zip(micros, fanin)])
        elif name != "way":
            for sentence in filter(lambda value: isinstance(value, str), values):
                problems.setdefault(f"{name}: {sentence}", {})[str(case)] = True
    return row


def measure(benchmark, peers, choose_cases, quick):
    """Rows, the versions of who was measured, and sentences on what was not.

    `choose_cases(number of workers)` says what is measured.
    """
    program = build_program(f"bench_{benchmark}")
    begin = time.monotonic()
    pythons = {name: find_python(name, may_install=not quick) for name in peers}
    versions = {"fanin": fanin_version()}
    with contextlib.ExitStack() as stack:
        workers = [Worker("fanin", [program])]
        stack.callback(workers[0].close)
        for name, python in pythons.items():
            started = start_peer(name, benchmark, python, stack) if python else None
            if started:
                workers.append(started[0])
                versions[name] = started[1]
        turns = Turns(workers, QUICK if quick else FULL)
        problems = {}
        rows = [make_row(case, answers, problems)
                for case, answers in turns.take(choose_cases(len(workers)), begin)]
    notes = [f"{problem} ({', '.join(where)})" for problem, where in problems.items()]
    return rows, versions, notes + turns.notes
