"""One rank of PyTorch's Gloo in ./bench/run allreduce: what bench/rank.cc does, in Python."""
import ctypes
import json
import mmap
import os
import signal
import socket
import sys
import time

RANK, SIZE = int(os.environ["BENCH_RANK"]), int(os.environ["BENCH_SIZE"])
CORES = list(map(int, os.environ["BENCH_CORES"].split(",")))
FOLDER = os.environ["BENCH_FOLDER"]
PR_SET_PDEATHSIG = 1

ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
os.sched_setaffinity(0, {CORES[RANK % len(CORES)]})  # before PyTorch makes threads

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


def make_calls(tensors):
    """(name, call) of each way to sum the tensors of all ranks in place."""
    def one_after_the_other():
        for tensor in tensors:
            dist.all_reduce(tensor)

    def all_at_once():
        for work in [dist.all_reduce(tensor, async_op=True) for tensor in tensors]:
            work.wait()

    if len(tensors) == 1:
        return [("each", one_after_the_other)]
    pack = torch.zeros(sum(tensor.numel() for tensor in tensors))
    views = list(pack.split([tensor.numel() for tensor in tensors]))

    def packed():
        torch.cat(tensors, out=pack)
        dist.all_reduce(pack)
        torch._foreach_copy_(tensors, views)

    return [("each", one_after_the_other), ("at once", all_at_once), ("packed", packed)]


class Rank:
    def __init__(self):
        self.start_line, self.tensors, self.calls = StartLine(), [], []

    def make(self, memory, path):
        if memory != "private":
            raise ValueError("only private memory")
        with open(path) as file:
            self.tensors = [torch.zeros(int(count)) for count in file]
        self.calls = make_calls(self.tensors)
        return {"calls": [name for name, _ in self.calls]}

    def drop(self):
        self.tensors, self.calls = [], []
        return {}

    def run(self, _, index, iterations):
        call, seconds = self.calls[int(index)][1], []
        for iteration in range(int(iterations)):
            for tensor in self.tensors:
                tensor.fill_(1 + RANK + iteration % 3)
            self.start_line.wait()
            begin = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - begin)
        wanted = sum(1 + rank + iteration % 3 for rank in range(SIZE))
        if not all(bool((tensor == wanted).all()) for tensor in self.tensors):
            raise ValueError(f"the sum is not {wanted} everywhere")
        return {"seconds": seconds}

    def answer(self, line):
        verb, *words = line.split()
        try:
            return {"make": self.make, "run": self.run, "drop": self.drop}[verb](*words)
        except Exception as error:  # whatever PyTorch may raise is an answer
            return {"error": f"{type(error).__name__}: {error}"}


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{FOLDER}/store", rank=RANK, world_size=SIZE)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(f"{FOLDER}/driver")
        driver = line.makefile("rw")
        hello = {"rank": RANK, "pid": os.getpid(), "version": torch.__version__}
        print(json.dumps(hello), file=driver, flush=True)
        rank = Rank()
        for request in driver:
            print(json.dumps(rank.answer(request)), file=driver, flush=True)
    # Threads of PyTorch may outlive what they use when it ends in order.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    with torch.no_grad():
        main()
