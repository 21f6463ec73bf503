"""The benchmark `sums`: Fanin, hand-written loops and the peers add the same terms in turns."""
import sys

from beside_peers import measure
from environments import available_bytes
from sum_cases import list_cases

PEERS = ("numpy", "tensorflow", "torch")


def leave_out_large(cases, worker_count):
    """The cases whose arrays fit into memory, once for each worker."""
    available = available_bytes()
    for case in cases:
        needed = (case.terms + 1) * case.size * worker_count
        if needed < available * 0.8:
            yield case
        else:
            print(f"{case} needs {needed / 1e9:.1f} GB of memory, {available / 1e9:.1f} GB are "
                  "available: left out", file=sys.stderr)


def run(choice):
    """Rows, the versions of who was measured, and sentences on what was not."""
    cases = choice.of(list_cases(choice.quick))
    return measure("sums", PEERS, lambda workers: list(leave_out_large(cases, workers)), choice.quick)
