"""The cases of the benchmark `sums`, with their targets."""
from dataclasses import dataclass, field

KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Case:
    """Some terms of some bytes each. Targets are a share of the limit, and ratios to peers."""
    terms: int
    size: int
    dtype: str = "float32"
    what: str = "add_n"
    limit_us: float | None = None  # an absolute limit instead of the machine's
    target_limit: float | None = None
    targets: dict = field(default_factory=dict)

    is_overhead = False

    @property
    def amount(self):
        return f"{self.size // MIB} MiB" if self.size >= MIB else f"{self.size // KIB} KiB"

    @property
    def panel(self):
        """Which part of the picture shows it."""
        if self.dtype != "float32":
            return f"{self.what}, {self.terms} x {self.amount}"
        absolute = f", 1 = {self.limit_us} µs" if self.limit_us else ""
        return f"{self.what}, {self.amount}{absolute}"

    @property
    def label(self):
        return f"{self.terms} terms" if self.dtype == "float32" else self.dtype

    @property
    def has_peers(self):
        """Whether others do the same; the other sums of Fanin are set beside its ADD_N."""
        return self.what == "add_n"

    def words(self):
        """The case as a worker reads it, but for the seconds."""
        return f"{self.what} {self.terms} {self.size} {self.dtype}"

    def __str__(self):
        return f"{self.what} {self.terms} x {self.amount} {self.dtype}"


# Twice the best is twice each of them.
ALL_TWICE = dict.fromkeys(("numpy", "tensorflow", "torch", "torch_foreach", "torch_compiled"), 2.0)
BY_SIZE = ((256 * KIB, 0.90, ALL_TWICE),
           (4 * MIB, 0.90, {"tensorflow": 2.0, "torch_compiled": 1.3}),
           (64 * MIB, 0.95, {"tensorflow": 2.0, "torch_compiled": 1.05}))


def list_cases(quick):
    """All cases, or fewer and not the largest. The quickest come first: a run may be cut short."""
    cases = [Case(2, 4 * KIB, limit_us=0.5, target_limit=1.0,
                  targets={"numpy": 4.0, "tensorflow": 30.0})]
    for size, of_limit, targets in BY_SIZE:
        for terms in (2, 8, 32) if quick else (2, 4, 8, 16, 32):
            if not (quick and terms * size > 512 * MIB):
                cases.append(Case(terms, size, target_limit=of_limit, targets=targets))
    for dtype in ("float16", "bfloat16"):
        cases.append(Case(8, 4 * MIB, dtype, target_limit=0.85, targets={"torch_compiled": 1.5}))
    cases.append(Case(8, 4 * MIB, "float64"))
    # Pairs move 21n bytes where ADD_N moves 9n; their limit is ADD_N.
    cases.append(Case(8, 4 * MIB, what="accumulate_n", target_limit=0.4))
    cases.append(Case(8, 4 * MIB, what="accumulate_n_list", target_limit=0.7))
    return sorted(cases, key=lambda case: case.size)
