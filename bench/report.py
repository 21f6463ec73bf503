"""Rows of a benchmark: as people read them, and as JSON."""
import sys
from dataclasses import dataclass, field


@dataclass
class Peer:
    value: float
    ratio: float
    target: float | None = None


@dataclass
class Row:
    """One case. Ratios are such that larger is better and 1 is parity."""
    case: str
    unit: str
    placement: str
    fanin: float
    limit: float
    target_limit: float
    spread: tuple = (0.0, 0.0)  # the smallest and largest ratio to the limit among the rounds
    peers: dict = field(default_factory=dict)

    @property
    def ratio_to_limit(self):
        return self.limit / self.fanin if self.fanin else 1.0

    def checks(self):
        """(what, ratio, target) for everything that has a target."""
        yield "limit", self.ratio_to_limit, self.target_limit
        for name, peer in self.peers.items():
            if peer.target is not None:
                yield name, peer.ratio, peer.target

    def to_json(self):
        return {"case": self.case, "unit": self.unit, "placement": self.placement,
                "fanin": self.fanin, "limit": self.limit, "ratio_to_limit": self.ratio_to_limit,
                "target_limit": self.target_limit,
                "peers": {name: {"value": peer.value, "ratio": peer.ratio, "target": peer.target}
                          for name, peer in self.peers.items()}}


def show_progress(text):
    """One line that is overwritten, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def print_report(rows, versions):
    show_progress("")
    names = sorted({name for row in rows for name in row.peers})
    head = f"{'case':30}{'fanin':>14}{'limit':>14}{'of limit':>10}{'[min, max]':>14}{'target':>8}"
    print(head + "".join(f"{'x ' + name:>10}{'target':>8}" for name in names))
    for row in rows:
        spread = f"[{row.spread[0]:.2f}, {row.spread[1]:.2f}]"
        line = (f"{row.case:30}{row.fanin:11.2f} {row.unit}{row.limit:11.2f} {row.unit}"
                f"{row.ratio_to_limit:10.2f}{spread:>14}{row.target_limit:8.2f}")
        for name in names:
            peer = row.peers.get(name)
            ratio = f"{peer.ratio:.2f}" if peer else "-"
            target = f"{peer.target:.2f}" if peer and peer.target is not None else "-"
            line += f"{ratio:>10}{target:>8}"
        print(line)

    checks = [(row.case, *check) for row in rows for check in row.checks()]
    missed = [check for check in checks if check[2] < check[3]]
    print(f"\n{len(checks) - len(missed)} of {len(checks)} targets met")
    for case, what, ratio, target in missed:
        print(f"  missed: {case}, {ratio:.2f} of {what}, target {target:.2f}")
    print("versions: " + ", ".join(f"{name} {value}" for name, value in versions.items()))
