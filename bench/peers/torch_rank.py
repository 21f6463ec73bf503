"""What every rank of PyTorch in a benchmark between processes does: bench/rank.cc in Python.

Importing it sits the process down on its core, which has to be before PyTorch makes threads.
"""
import ctypes
import json
import mmap
import os
import signal
import socket
import sys

RANK, SIZE = int(os.environ["BENCH_RANK"]), int(os.environ["BENCH_SIZE"])
CORES = list(map(int, os.environ["BENCH_CORES"].split(",")))
FOLDER = os.environ["BENCH_FOLDER"]
PR_SET_PDEATHSIG = 1

ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
os.sched_setaffinity(0, {CORES[RANK % len(CORES)]})

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402


class StartLine:
    def __init__(self):
        with open(os.environ["BENCH_SHARED"], "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.place = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.library = ctypes.CDLL(os.environ["BENCH_START_LINE"])
        self.round = 0

    def wait(self):
        self.round += 1
        self.library.bench_wait_at_start(ctypes.c_void_p(self.place), ctypes.c_uint64(self.round),
                                         RANK, SIZE, int(SIZE > len(CORES)))


def read_counts(path):
    with open(path) as file:
        return [int(count) for count in file]


def term(iteration):
    """What this rank's elements are before an iteration; another in the next, so that an old sum is
    not a right one."""
    return 1 + RANK + iteration % 3


def total(iteration):
    return sum(1 + rank + iteration % 3 for rank in range(SIZE))


def answer(verbs, line):
    verb, *words = line.split()
    try:
        return verbs[verb](*words)
    except Exception as error:  # whatever PyTorch may raise is an answer
        return {"error": f"{type(error).__name__}: {error}"}


def serve(make_verbs):
    """Joins Gloo's ranks and answers the driver's lines until it hangs up. `make_verbs()` gives
    {verb: function of the words after it}, which return what is the answer's JSON."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{FOLDER}/store", rank=RANK, world_size=SIZE)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(f"{FOLDER}/driver")
        driver = line.makefile("rw")
        hello = {"rank": RANK, "pid": os.getpid(), "version": torch.__version__}
        print(json.dumps(hello), file=driver, flush=True)
        verbs = make_verbs()
        for request in driver:
            print(json.dumps(answer(verbs, request)), file=driver, flush=True)
    # Threads of PyTorch may outlive what they use when it ends in order.
    sys.stdout.flush()
    os._exit(0)
