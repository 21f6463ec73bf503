"""The benchmark `devices`: all gradients of a model across replicas of one process."""
import dataclasses
import json
import subprocess

from beside_peers import measure
from device_cases import ONE_SMALL, list_cases
from environments import ROOT, build_program

PEERS = ("tensorflow", "torch")


def write_counts(model):
    """The path of a file with the number of elements of each gradient, as `fanin plan` says."""
    path = ROOT / "build" / "bench" / f"{model.replace(' ', '_')}.counts"
    path.parent.mkdir(parents=True, exist_ok=True)
    if model == ONE_SMALL:
        path.write_text("1024\n")
        return str(path)
    tool = build_program("fanin_tool").removesuffix("_tool")
    command = [tool, "plan", "--gradients", model, "--spec", "xring", "--json"]
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    path.write_text("".join(f"{tensor['bytes'] // 4}\n" for tensor in plan["tensors"]))
    return str(path)


def run(choice):
    """Rows, the versions of who was measured, and sentences on what was not."""
    cases = choice.of(list_cases(choice.quick))
    counts = {model: write_counts(model) for model in {case.model for case in cases}}
    cases = [dataclasses.replace(case, counts=counts[case.model]) for case in cases]
    return measure("devices", PEERS, lambda _: cases, choice.quick)
