"""One rank of PyTorch's Gloo in ./bench/run allreduce."""
import time

from torch_rank import StartLine, dist, read_counts, serve, term, torch, total


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
        self.tensors = [torch.zeros(count) for count in read_counts(path)]
        self.calls = make_calls(self.tensors)
        return {"calls": [name for name, _ in self.calls]}

    def drop(self):
        self.tensors, self.calls = [], []
        return {}

    def run(self, _, index, iterations):
        call, seconds = self.calls[int(index)][1], []
        for iteration in range(int(iterations)):
            for tensor in self.tensors:
                tensor.fill_(term(iteration))
            self.start_line.wait()
            begin = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - begin)
        wanted = total(iteration)
        if not all(bool((tensor == wanted).all()) for tensor in self.tensors):
            raise ValueError(f"the sum is not {wanted} everywhere")
        return {"seconds": seconds}


def make_verbs():
    rank = Rank()
    return {"make": rank.make, "run": rank.run, "drop": rank.drop}


if __name__ == "__main__":
    with torch.no_grad():
        serve(make_verbs)
