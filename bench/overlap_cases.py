"""The cases of the benchmark `overlap`, with their targets."""
from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20
FIXED_PACKS = (256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 0)  # 0: everything in one pack
COMPUTE_SECONDS = {"resnet50": 0.05, "bert-base": 0.2}  # of a backward pass that computes
MOST_MORE_BYTES = 4 * MIB  # beside parameters, gradients and what the optimizer remembers

# How many times longer than the limit it may be; larger ratios are better, so it is turned around.
MOST_WHEN_WAITING, MOST_WHEN_COMPUTING, MOST_OF_BEST_PACKS, MOST_WITH_TRACE = 1.10, 1.05, 1.10, 1.02
LEAST_BESIDE_DDP = 1.5


@dataclass(frozen=True)
class Case:
    """One step of training, or what is compared with it."""
    kind: str  # hide (how much of communication is hidden), packs, trace, memory
    processes: int = 2
    model: str = "resnet50"
    backward: str = "waits"  # or computes
    times: float = 1  # how long it waits, in times of communication alone
    optimizer: str = ""  # of kind memory

    @property
    def where(self):
        """Cases with the same share the processes. Memory is that of processes which did nothing else."""
        alone = f", {self.optimizer}" if self.kind == "memory" else ""
        return f"{self.processes} processes, {self.model}{alone}"

    @property
    def _backward_words(self):
        if self.backward == "computes":
            return "backward computes"
        return f"backward waits {self.times:g} x communication"

    def __str__(self):
        what = {"hide": self._backward_words, "packs": f"{self._backward_words}, automatic packs",
                "trace": f"{self._backward_words}, traced",
                "memory": f"memory with {self.optimizer}"}[self.kind]
        return f"overlap {self.processes} processes, {self.model}, {what}"

    @property
    def target_limit(self):
        if self.kind == "memory":
            return 1.0
        if self.kind == "hide":
            return 1 / (MOST_WHEN_WAITING if self.backward == "waits" else MOST_WHEN_COMPUTING)
        return 1 / (MOST_OF_BEST_PACKS if self.kind == "packs" else MOST_WITH_TRACE)

    @property
    def has_peers(self):
        return self.kind == "hide" and self.backward == "computes"

    @property
    def panel(self):
        return {"hide": {"waits": "waits: 1 = max(compute, communication)",
                         "computes": "computes: 1 = both in turn"}[self.backward],
                "packs": "automatic packs: 1 = the best fixed", "trace": "traced: 1 = not traced",
                "memory": "memory: 1 = 4 MiB more"}[self.kind]

    @property
    def label(self):
        if self.kind == "memory":
            return self.optimizer
        if self.kind == "hide":
            return f"{self.processes} processes" + (
                f", {self.times:g} x" if self.backward == "waits" else "")
        return f"{self.backward}, {self.model}" if self.kind == "packs" else self.backward


def list_cases(quick):
    waits, computes = {"backward": "waits"}, {"backward": "computes"}
    if quick:
        return [Case("hide", **waits), Case("hide", **computes), Case("packs", **waits),
                Case("trace", **computes), Case("memory", optimizer="adam"), Case("hide", 4, times=2)]
    cases = [Case("hide", times=times) for times in (1, 2)]
    cases.append(Case("hide", **computes))
    for model in COMPUTE_SECONDS:
        cases += [Case("packs", model=model, **how) for how in (waits, computes)]
    cases += [Case("trace", **how) for how in (waits, computes)]
    cases += [Case("memory", optimizer=optimizer) for optimizer in ("sgd", "adam")]
    return cases + [Case("hide", 4, times=times) for times in (1, 2)]
