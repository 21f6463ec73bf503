"""Rows of a benchmark. Ratios are such that larger is better and 1 is parity."""
from dataclasses import dataclass, field


@dataclass
class Peer:
    value: float
    ratio: float
    target: float | None = None
    ratios: list = field(default_factory=list)  # round by round
    more: dict = field(default_factory=dict)  # figures of this benchmark alone


@dataclass
class Row:
    """One case; values are times, so that less is better."""
    case: str
    unit: str
    placement: str
    fanin: float
    limit: float
    target_limit: float | None
    ratios: list = field(default_factory=list)  # to the limit, round by round
    peers: dict = field(default_factory=dict)
    panel: str = ""  # the part of the picture that shows it
    label: str = ""  # what the picture calls it there
    more: dict = field(default_factory=dict)  # figures of this benchmark alone, of Fanin

    @property
    def name(self):
        """The case, and where the cores were if that was looked at."""
        return self.case if self.placement == "none" else f"{self.case}, {self.placement}"

    @property
    def ratio_to_limit(self):
        return self.limit / self.fanin if self.fanin else 1.0

    def checks(self):
        """(what, ratio, target) for everything that has a target."""
        if self.target_limit is not None:
            yield "limit", self.ratio_to_limit, self.target_limit
        for name, peer in self.peers.items():
            if peer.target is not None:
                yield name, peer.ratio, peer.target

    def to_json(self):
        return {"case": self.case, "unit": self.unit, "placement": self.placement,
                "fanin": self.fanin, "limit": self.limit, "ratio_to_limit": self.ratio_to_limit,
                "target_limit": self.target_limit,
                "peers": {name: {"value": peer.value, "ratio": peer.ratio, "target": peer.target,
                                 **peer.more}
                          for name, peer in self.peers.items()}, **self.more}


def own_times(case, answers):
    """Fanin's microseconds and the limit's, round by round. Where the case is about overhead: what
    Fanin takes longer than the limit, and what is allowed."""
    fanin = [answer["fanin"] * 1e6 for answer in answers]
    if case.limit_us and not case.is_overhead:
        return fanin, [case.limit_us for _ in fanin]
    limit = [answer["limit"] * 1e6 for answer in answers]
    if case.is_overhead:
        fanin = [max(own - least, 1e-3) for own, least in zip(fanin, limit)]
    return fanin, [case.limit_us or each for each in limit]


def peer_names(rows):
    """The peers of all rows, in the order in which they first come."""
    return list(dict.fromkeys(name for row in rows for name in row.peers))
