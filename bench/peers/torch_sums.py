"""PyTorch sums in three ways: eager calls, foreach, and one loop that `torch.compile` makes.

The eager calls add into the result. `torch.stack` and then `torch.sum` takes twice their time.
"""
import functools

import torch
from peer import serve, staggered_ones


def tensor(case, index):
    made = torch.from_numpy(staggered_ones(case, index))
    return made.view(torch.bfloat16) if case.dtype == "bfloat16" else made


def make_ways(case):
    if case.what != "add_n":
        return dict.fromkeys(("torch", "torch_foreach", "torch_compiled"),
                             f"PyTorch has nothing like {case.what}")
    out, *terms = [tensor(case, i) for i in range(case.terms + 1)]

    def add_into_result():
        torch.add(terms[0], terms[1], out=out)
        for term in terms[2:]:
            out.add_(term)
        return out

    def foreach():
        torch.add(terms[0], terms[1], out=out)
        for term in terms[2:]:
            torch._foreach_add_([out], [term])
        return out

    # A loop of its own for each case: sizes that are known are a little quicker.
    torch._dynamo.reset()
    compiled = torch.compile(lambda parts, result: result.copy_(functools.reduce(torch.add, parts)),
                             dynamic=False)
    return {"torch": add_into_result, "torch_foreach": foreach,
            "torch_compiled": lambda: compiled(terms, out)}


if __name__ == "__main__":
    with torch.no_grad():
        serve(torch.__version__, make_ways)
