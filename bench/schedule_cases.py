"""The cases of the benchmark `schedules`, with their targets."""
from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20
ALGORITHMS = ("direct", "ring", "halving_doubling", "recursive_doubling", "shuffle", "double_tree",
              "hierarchical_copy", "one_device", "direct/ring", "direct//ring")


@dataclass(frozen=True)
class Case:
    """An algorithm among some ranks of one process. Targets are a share of the single pass."""
    algorithm: str
    ranks: int
    size: int
    what: str = "all_reduce"  # or literal, plan, overhead
    outputs: str = "all"
    limit_us: float | None = None
    target_limit: float | None = None

    has_peers = False
    targets = {}

    @property
    def is_overhead(self):
        return self.what == "overhead"

    @property
    def amount(self):
        return f"{self.size // MIB} MiB" if self.size >= MIB else f"{self.size // KIB} KiB"

    @property
    def panel(self):
        if self.what == "plan":
            return "plan and prove, 1 = 1 s"
        if self.is_overhead:
            return f"overhead at {self.amount}, 1 = allowed"
        shared = ", one output" if self.outputs == "shared" else ""
        literal = ", steps as written" if self.what == "literal" else ""
        return f"{self.ranks} ranks, {self.amount}{shared}{literal}"

    @property
    def label(self):
        has_ranks = self.what in ("plan", "overhead")
        return f"{self.algorithm}, {self.ranks}" if has_ranks else self.algorithm

    def words(self):
        what = "all_reduce" if self.is_overhead else self.what
        return f"{what} {self.algorithm} {self.ranks} {self.size} {self.outputs}"

    def __str__(self):
        amount = "" if self.what == "plan" else f", {self.amount}"
        shared = ", one output" if self.outputs == "shared" else ""
        return f"{self.what} {self.algorithm}, {self.ranks} ranks{amount}{shared}"


def target_of(algorithm, ranks, size):
    """Trees of 8 in cache are one level too deep for registers."""
    if algorithm == "direct":
        return 0.95
    deep = algorithm in ("halving_doubling", "recursive_doubling", "double_tree")
    return 0.75 if deep and ranks == 8 and size == 4 * MIB else 0.90


def list_cases(quick):
    algorithms = ("direct", "ring", "halving_doubling", "direct/ring") if quick else ALGORITHMS
    cases = []
    for algorithm in algorithms:
        for ranks in (2, 4) if quick else (2, 4, 8):
            if ranks == 2 and "/" in algorithm:
                continue
            cases.append(Case(algorithm, ranks, 4 * KIB, "overhead", target_limit=1.0,
                              limit_us=0.15 if algorithm == "direct" else 0.5))
            for size in (4 * MIB,) if quick else (256 * KIB, 4 * MIB, 64 * MIB):
                target = target_of(algorithm, ranks, size) if size >= 4 * MIB else None
                cases.append(Case(algorithm, ranks, size, target_limit=target))
    if not quick:
        for algorithm in ALGORITHMS:
            cases.append(Case(algorithm, 4, 64 * MIB, "literal"))
            cases.append(Case(algorithm, 4, 4 * MIB, outputs="shared"))
            cases += [Case(algorithm, ranks, 4 * MIB, "plan", limit_us=1e6, target_limit=1.0)
                      for ranks in (4, 16, 64, 128)]
    return sorted(cases, key=lambda case: (case.what == "plan", case.size))
