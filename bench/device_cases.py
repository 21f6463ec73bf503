"""The cases of the benchmark `devices`, with their targets."""
from dataclasses import dataclass, field

SPECS = ("nccl", "xring", "rechd", "pscpu#2", "psgpu", "nccl/xring", "pscpu/pscpu#2")


@dataclass(frozen=True)
class Case:
    """All gradients of a model, reduced across some replicas: one result, or one for each."""
    model: str
    replicas: int
    outputs: str  # one, or all
    spec: str = "nccl"
    target_limit: float | None = None
    targets: dict = field(default_factory=dict)
    counts: str = ""  # a file with the number of elements of each gradient

    limit_us = None

    @property
    def has_peers(self):
        """Others do it in one way; the specs are compared with each other."""
        return self.spec == "nccl"

    @property
    def panel(self):
        return f"{self.model}, {self.replicas} replicas"

    @property
    def label(self):
        return f"{self.spec} to {self.outputs}"

    def words(self):
        return f"{self.outputs} {self.spec} {self.replicas} {self.counts}"

    def __str__(self):
        return f"{self.model}, {self.replicas} replicas to {self.outputs} by {self.spec}"


def list_cases(quick):
    cases = [Case("resnet50", 2, "one", target_limit=0.95, targets={"tensorflow": 3.5}),
             Case("resnet50", 2, "all", target_limit=0.90, targets={"torch": 1.7}),
             Case("resnet50", 4, "all", target_limit=0.90,
                  targets={"torch": 1.5, "tensorflow": 3.5, "tensorflow_hierarchical": 3.5})]
    if quick:
        return cases
    cases += [Case("resnet50", 8, "all", target_limit=0.90),
              Case("bert-base", 2, "one", target_limit=0.90, targets={"tensorflow": 2.5}),
              Case("bert-base", 2, "all", target_limit=0.90, targets={"tensorflow": 2.5}),
              Case("bert-base", 4, "all", target_limit=0.90)]
    cases += [Case("resnet50", replicas, "all", spec, target_limit=0.90)
              for replicas in (4, 8) for spec in SPECS[1:]]
    return cases
