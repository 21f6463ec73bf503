#!/usr/bin/env python3
"""Writes tests/golden/optimizers.json: what torch.optim makes of some parameters, step by step.

    .venvs/torch/bin/python tools/optimizer_table.py [--output FILE]

Numbers are the bits of float32 in hexadecimal digits. Each case is run twice, because PyTorch fuses
multiplications and additions where its vectors can: "plain" is PyTorch without such vectors, and
"fused" is what it does on most machines.
"""
import argparse
import json
import os
import pathlib
import random
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CAPABILITIES = {"plain": "default", "fused": "avx2"}
ELEMENTS = 37
STEPS = 5
ODD_GRADIENTS = [0.0, -0.0, 1e-30, -1e-30, 1e10, -1e10, 1.0, -1.0, 1e-8, 123456.789]
SEED = 20240613

CASES = [
    ("sgd", {"learning_rate": 0.1}),
    ("sgd", {"learning_rate": 0.1, "momentum": 0.9}),
    ("sgd", {"learning_rate": 0.03, "momentum": 0.9, "dampening": 0.3}),
    ("sgd", {"learning_rate": 0.1, "weight_decay": 0.01}),
    ("sgd", {"learning_rate": 0.05, "momentum": 0.8, "is_nesterov": True}),
    ("sgd", {"learning_rate": 0.01, "momentum": 0.95, "dampening": 0.5, "weight_decay": 0.1}),
    ("sgd", {"learning_rate": 0.01, "momentum": 0.95, "weight_decay": 0.1, "is_nesterov": True}),
    ("adam", {}),
    ("adam", {"learning_rate": 0.02, "beta1": 0.3, "beta2": 0.95}),
    ("adam", {"learning_rate": 0.002, "weight_decay": 0.1}),
    ("adam", {"learning_rate": 0.01, "beta1": 0.0, "beta2": 0.0, "epsilon": 0.1, "weight_decay": 0.02}),
    ("adam", {"learning_rate": 0.3, "epsilon": 10.0}),
]


def to_hex(numbers):
    return " ".join(struct.pack(">f", number).hex() for number in numbers)


def make_inputs():
    """The parameters, and the gradients of each step, with the odd ones at another place each step."""
    lot = random.Random(SEED)
    parameters = [lot.gauss(0, 1) for _ in range(ELEMENTS)]
    gradients = [[lot.gauss(0, 1) for _ in range(ELEMENTS)] for _ in range(STEPS)]
    for step, gradient in enumerate(gradients):
        for i, odd in enumerate(ODD_GRADIENTS):
            gradient[(7 * i + 3 * step) % ELEMENTS] = odd
    return parameters, gradients


def make_optimizer(torch, kind, options, parameter):
    alone = {"foreach": False, "fused": False}
    if kind == "sgd":
        return torch.optim.SGD([parameter], lr=options["learning_rate"], momentum=options.get("momentum", 0),
                               dampening=options.get("dampening", 0), weight_decay=options.get("weight_decay", 0),
                               nesterov=options.get("is_nesterov", False), **alone)
    return torch.optim.Adam([parameter], lr=options.get("learning_rate", 0.001),
                            betas=(options.get("beta1", 0.9), options.get("beta2", 0.999)),
                            eps=options.get("epsilon", 1e-8), weight_decay=options.get("weight_decay", 0), **alone)


def run_cases():
    """What this process's PyTorch gives, as a dictionary."""
    import torch  # only in the processes that are told which vectors to use

    start, gradients = make_inputs()
    results = []
    for kind, options in CASES:
        parameter = torch.nn.Parameter(torch.tensor(start, dtype=torch.float32))
        optimizer = make_optimizer(torch, kind, options, parameter)
        steps = []
        for gradient in gradients:
            parameter.grad = torch.tensor(gradient, dtype=torch.float32)
            optimizer.step()
            steps.append(to_hex(parameter.tolist()))
        results.append(steps)
    return {"torch": torch.__version__, "results": results}


def run_with(capability):
    environment = dict(os.environ, ATEN_CPU_CAPABILITY=capability)
    done = subprocess.run([sys.executable, __file__, "--run"], env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "tests/golden/optimizers.json")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        json.dump(run_cases(), sys.stdout)
        return
    runs = {name: run_with(capability) for name, capability in CAPABILITIES.items()}
    start, gradients = make_inputs()
    cases = [{"optimizer": kind, "options": options} | {name: run["results"][i] for name, run in runs.items()}
             for i, (kind, options) in enumerate(CASES)]
    table = {"made_by": f"tools/optimizer_table.py with PyTorch {runs['plain']['torch']}", "start": to_hex(start),
             "gradients": [to_hex(gradient) for gradient in gradients], "cases": cases}
    arguments.output.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
