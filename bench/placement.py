"""How far the cores of some ranks are from each other, as of now."""
from worker import WorkerFailed

NEAR_NANOSECONDS = (25, 140)  # below: two threads of one core; above: no common cache


def classify(nanoseconds):
    """near, far, or mixed: neither, or not the same for all cores; none of no pair of cores."""
    if not nanoseconds:
        return "none"
    if None in nanoseconds:
        return "unknown"
    least, most = NEAR_NANOSECONDS
    if all(least <= each < most for each in nanoseconds):
        return "near"
    return "far" if all(each >= most for each in nanoseconds) else "mixed"


class Placement:
    """Asks the program bench_placement, a Worker, about the first core and each other one."""

    def __init__(self, worker, cores):
        self.worker, self.cores = worker, cores

    def probe(self, processes):
        first, *others = self.cores[:processes]
        try:
            return classify([self.worker.ask(first, other, most_seconds=10)["nanoseconds"]
                             for other in others])
        except WorkerFailed:
            return "unknown"


class NoPlacement:
    """Where it does not matter how far cores are from each other: a wire is longer."""

    def probe(self, _):
        return "none"
