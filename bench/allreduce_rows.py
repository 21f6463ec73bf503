"""Samples of the benchmark `allreduce` as rows: one for each case and placement of the cores."""
import statistics

from allreduce_cases import MOST_TIMES_SLOWER_WHEN_BUSY
from rows import Peer, Row

PLACEMENTS = ("near", "far", "mixed", "none")


def quantile(values, share):
    """The smallest value that is not below this share of all."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def figures(samples, byte_count, processes):
    """Quantiles and mean over the calls of all rounds, and bandwidths at their median.

    A rank's buffer, divided by the time, is the algorithm's bandwidth. The bus's is what every rank
    must send and receive at least, 2 (p - 1) / p of it: comparable between numbers of processes.
    """
    seconds = [each for sample in samples for each in sample.seconds]
    median = quantile(seconds, 0.5)
    algorithm = byte_count / median / 1e9
    return {"p50_us": median * 1e6, "p99_us": quantile(seconds, 0.99) * 1e6,
            "mean_us": statistics.fmean(seconds) * 1e6,
            "algbw_GBps": algorithm, "busbw_GBps": algorithm * 2 * (processes - 1) / processes,
            "bytes": byte_count, "calls": len(seconds)}


def micros_by_round(samples):
    return {sample.round: statistics.median(sample.seconds) * 1e6 for sample in samples}


def ratios(others, fanin):
    """Round by round, where both have a sample; else one of the medians."""
    both = [others[number] / fanin[number] for number in fanin if number in others]
    return both or [statistics.median(others.values()) / statistics.median(fanin.values())]


class Samples:
    """Those of one point and one placement."""

    def __init__(self, samples, placement):
        self.samples = [sample for sample in samples if sample.placement == placement]

    def of(self, who, memory="private"):
        return [each for each in self.samples if (each.who, each.memory) == (who, memory)]

    def peers(self):
        names = dict.fromkeys(sample.who for sample in self.samples)
        return [name for name in names if name not in ("fanin", "idle", "limit")]


def limit_of(case, samples):
    if not case.point.is_busy:
        return micros_by_round(samples.of("limit", case.memory))
    return {number: micros * MOST_TIMES_SLOWER_WHEN_BUSY
            for number, micros in micros_by_round(samples.of("idle", case.memory)).items()}


def make_row(case, placement, samples, byte_count):
    """None if Fanin or the limit has no sample at this placement."""
    own = samples.of("fanin", case.memory)
    fanin, limit = micros_by_round(own), limit_of(case, samples)
    if not fanin or not limit:
        return None
    processes = case.point.processes
    row = Row(str(case), "us", placement, statistics.median(fanin.values()),
              statistics.median(limit.values()), case.target_limit(placement), ratios(limit, fanin),
              panel=case.panel(placement), label=case.label,
              more=figures(own, byte_count, processes))
    for name in samples.peers():
        micros = micros_by_round(samples.of(name))
        value = statistics.median(micros.values())
        row.peers[name] = Peer(value, value / row.fanin, case.target(placement),
                               ratios(micros, fanin), figures(samples.of(name), byte_count, processes))
    return row


def make_rows(case, samples, byte_count):
    rows = (make_row(case, placement, Samples(samples, placement), byte_count)
            for placement in PLACEMENTS)
    return [row for row in rows if row]
