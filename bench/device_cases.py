"""The cases of the benchmark `devices`, with their targets."""
from dataclasses import dataclass, field

SPECS = ("nccl", "xring", "rechd", "pscpu#2", "psgpu", "nccl/xring", "pscpu/pscpu#2")

ONE_SMALL = "one gradient of 4 KiB"


@dataclass(frozen=True)
class Case:
    """All gradients of a model, reduced across some replicas: one result, or one for each."""
    model: str
    replicas: int
    outputs: str  # one, all, or plan: no run
    spec: str = "nccl"
    target_limit: float | None = None
    targets: dict = field(default_factory=dict)
    limit_us: float | None = None
    counts: str = ""  # a file with the number of elements of each gradient

    @property
    def is_overhead(self):
        return self.limit_us is not None and self.outputs != "plan"

    @property
    def has_peers(self):
        """Others do it in one way; the specs are compared with each other."""
        return self.spec == "nccl" and self.limit_us is None

    @property
    def panel(self):
        if self.outputs == "plan":
            return f"planning {self.model} for {self.replicas} replicas, 1 = 50 ms"
        if self.is_overhead:
            return f"overhead of one call, {self.model}, 1 = {self.limit_us:g} µs"
        return f"{self.model}, {self.replicas} replicas"

    @property
    def label(self):
        if self.outputs == "plan":
            return self.spec
        ranks = f"{self.replicas}, " if self.is_overhead else ""
        return f"{ranks}{self.spec} to {self.outputs}"

    def words(self):
        return f"{self.outputs} {self.spec} {self.replicas} {self.counts}"

    def __str__(self):
        if self.outputs == "plan":
            return f"plan {self.model}, {self.replicas} replicas by {self.spec}"
        overhead = "overhead " if self.is_overhead else ""
        return f"{overhead}{self.model}, {self.replicas} replicas to {self.outputs} by {self.spec}"


def list_cases(quick):
    cases = [Case("resnet50", 2, "one", target_limit=0.95, targets={"tensorflow": 3.5}),
             Case("resnet50", 2, "all", target_limit=0.90, targets={"torch": 1.7}),
             Case("resnet50", 4, "all", target_limit=0.90,
                  targets={"torch": 1.5, "tensorflow": 3.5, "tensorflow_hierarchical": 3.5})]
    cases += [Case(ONE_SMALL, replicas, outputs, target_limit=1.0, limit_us=2.0)
              for replicas in (2, 8) for outputs in ("one", "all")]
    cases += [Case("bert-base", 64 * 8, "plan", spec, target_limit=1.0, limit_us=50_000)
              for spec in SPECS + ("pscpu#2:32K:nccl/xring",)]
    if quick:
        return cases
    cases += [Case("resnet50", 8, "all", target_limit=0.90),
              Case("bert-base", 2, "one", target_limit=0.90, targets={"tensorflow": 2.5}),
              Case("bert-base", 2, "all", target_limit=0.90, targets={"tensorflow": 2.5}),
              Case("bert-base", 4, "all", target_limit=0.90)]
    cases += [Case("resnet50", replicas, "all", spec, target_limit=0.90)
              for replicas in (4, 8) for spec in SPECS[1:]]
    return cases
