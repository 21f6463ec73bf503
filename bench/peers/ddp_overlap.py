"""One rank of PyTorch's DistributedDataParallel on Gloo in ./bench/run overlap.

The model is a chain: each link has one parameter of the list, and its backward pass computes as long
as Fanin's does for that gradient, by the same loop, before it hands the gradient over.
"""
import ctypes
import os
import time

from torch_rank import SIZE, StartLine, read_counts, serve, term, torch, total
from torch.nn.parallel import DistributedDataParallel

NUMBERS = (256 << 10) // 4
# Bytes of a bucket, in MiB: as PyTorch has it, twice that, and everything in one.
BUCKETS = (25, 50, 1024)


class Work:
    """The sweeps of a backward pass, as bench/backward.cc does them."""

    def __init__(self):
        self.sweep = ctypes.CDLL(os.environ["BENCH_SWEEPS"]).bench_sweep
        self.sweep.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64]
        self.numbers = torch.zeros(NUMBERS)
        self.sweep_count, self.done = 0, 0

    def go_on_until(self, share):
        until = int(self.sweep_count * share)
        self.sweep(self.numbers.data_ptr(), NUMBERS, until - self.done)
        self.done = until


class Link(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, _, link):
        ctx.link = link
        return value.clone()

    @staticmethod
    def backward(ctx, gradient):
        link = ctx.link
        link.work.go_on_until(link.share)
        own, link.gradient = link.gradient, None  # nobody else holds it: taken over, not copied
        return gradient, own, None


class LinkModule(torch.nn.Module):
    def __init__(self, count, share, work):
        super().__init__()
        self.parameter = torch.nn.Parameter(torch.zeros(count))
        self.share, self.work, self.gradient = share, work, None

    def forward(self, value):
        return Link.apply(value, self.parameter, self)


def make_model(counts, work):
    shares, done = [], 0
    for count in reversed(counts):
        done += count
        shares.append(done / sum(counts))
    return torch.nn.Sequential(*(LinkModule(count, share, work)
                                 for count, share in zip(counts, reversed(shares))))


def links_of(model):
    return model.module if isinstance(model, DistributedDataParallel) else model


class Rank:
    """Answers "list FILE" with the parts that there are, and "run SWEEPS ITERATIONS PART..." with the
    seconds of each: of "compute", which is the model alone, or of "step:MIB", with such buckets."""

    def __init__(self):
        self.start_line, self.work = StartLine(), Work()
        self.counts, self.models = [], {}
        self.input = torch.ones(1, requires_grad=True)

    def list(self, path):
        self.counts, self.models = read_counts(path), {}
        return {"parts": ["compute", *(f"step:{mib}" for mib in BUCKETS)]}

    def _model_of(self, part):
        if part not in self.models:
            model = make_model(self.counts, self.work)
            kind, _, mib = part.partition(":")
            self.models[part] = model if kind == "compute" else DistributedDataParallel(
                model, bucket_cap_mb=int(mib), gradient_as_bucket_view=True)
        return self.models[part]

    def _time(self, model, iteration):
        for link in links_of(model):
            link.parameter.grad = None
            link.gradient = torch.full_like(link.parameter, term(iteration))
        self.work.done = 0
        self.start_line.wait()
        begin = time.perf_counter()
        model(self.input).backward()
        return time.perf_counter() - begin

    def run(self, sweeps, iterations, *parts):
        self.work.sweep_count = int(float(sweeps))
        seconds = [[] for _ in parts]
        for iteration in range(int(iterations)):
            for part, its_seconds in zip(parts, seconds):
                its_seconds.append(self._time(self._model_of(part), iteration))
        for part in parts:
            self._check(part, iteration)
        return {"seconds": seconds}

    def _check(self, part, iteration):
        wanted = term(iteration) if part == "compute" else total(iteration) / SIZE
        if not all(bool((link.parameter.grad == wanted).all())
                   for link in links_of(self.models[part])):
            raise ValueError(f"{part} does not give {wanted} everywhere")


def make_verbs():
    rank = Rank()
    return {"list": rank.list, "run": rank.run}


if __name__ == "__main__":
    serve(make_verbs)
