"""The benchmark `devices`: all gradients of a model across replicas of one process."""
import dataclasses

from beside_peers import measure
from counts import gradients_of, write_counts
from device_cases import ONE_SMALL, list_cases

PEERS = ("tensorflow", "torch")


def run(choice):
    """Rows, the versions of who was measured, and sentences on what was not."""
    cases = choice.of(list_cases(choice.quick))
    counts = {model: write_counts(model, [1024] if model == ONE_SMALL else gradients_of(model))
              for model in {case.model for case in cases}}
    cases = [dataclasses.replace(case, counts=counts[case.model]) for case in cases]
    return measure("devices", PEERS, lambda _: cases, choice.quick)
