"""Samples of the benchmark `overlap` as rows: one for each case and placement of the cores."""
import statistics

from allreduce_rows import PLACEMENTS, ratios
from overlap_cases import FIXED_PACKS, LEAST_BESIDE_DDP, MIB, MOST_MORE_BYTES
from rows import Peer, Row


def micros(samples, part):
    """{round: the median of its iterations}."""
    return {sample.round: statistics.median(sample.seconds[part]) * 1e6 for sample in samples}


def merged(function, *by_round):
    return {number: function(*(each[number] for each in by_round)) for number in by_round[0]}


def median(by_round):
    return statistics.median(by_round.values())


def step_and_limit(case, samples):
    """Both by round. What is allowed beyond the limit is in the target."""
    step = micros(samples, "step")
    if case.kind == "trace":
        return micros(samples, "traced"), step
    if case.kind == "packs":
        fixed = {packs: micros(samples, packs) for packs in FIXED_PACKS}
        return step, min(fixed.values(), key=median)  # one for all rounds: no luck of a round counts
    join = max if case.backward == "waits" else lambda *both: sum(both)
    return step, merged(join, micros(samples, "compute"), micros(samples, "communicate"))


def figures(case, samples, chosen):
    """What else the row says, of Fanin."""
    parts = {"hide": ("compute", "communicate"), "trace": (), "packs": ()}[case.kind]
    more = {f"{part}_us": median(micros(samples, part)) for part in parts}
    if case.kind == "hide":
        step = median(micros(samples, "step"))
        more["shown_us"] = step - more["compute_us"]  # of communication
        more["hidden_share"] = 1 - more["shown_us"] / more["communicate_us"]
    if case.kind == "packs":
        more["step_us_by_bytes_per_pack"] = {str(packs): median(micros(samples, packs))
                                             for packs in FIXED_PACKS}
    return {**more, "bytes_per_pack": sorted(set(chosen))}


def peer_of(samples, step):
    """DDP with its backward pass of the same length."""
    steps, computes = micros(samples, "step"), micros(samples, "compute")
    value = median(steps)
    return Peer(value, value / median(step), LEAST_BESIDE_DDP, ratios(steps, step),
                {"compute_us": median(computes), "shown_us": value - median(computes)})


def make_rows(case, samples, chosen):
    rows = []
    for placement in PLACEMENTS:
        here = [sample for sample in samples if sample.placement == placement]
        own = [sample for sample in here if sample.who == "fanin"]
        if not own:
            continue
        step, limit = step_and_limit(case, own)
        row = Row(str(case), "us", placement, median(step), median(limit), case.target_limit,
                  ratios(limit, step), panel=f"{case.panel}, {placement}", label=case.label,
                  more=figures(case, own, chosen))
        peers = [sample for sample in here if sample.who == "ddp"]
        if peers:
            row.peers["ddp"] = peer_of(peers, step)
        rows.append(row)
    return rows


def make_memory_row(case, answers):
    """`answers` are those of all ranks, of each of some teams; a team's ranks share memory evenly."""
    more = [statistics.fmean(each["grown_bytes"] - each["needed_bytes"] for each in ranks) / MIB
            for ranks in answers]
    limit, needed = MOST_MORE_BYTES / MIB, answers[0][0]["needed_bytes"]
    least = 1e-3  # as good as nothing, or less
    more = [max(least, each) for each in more]
    return Row(str(case), "MiB", "none", statistics.median(more), limit, case.target_limit,
               [limit / each for each in more], panel=case.panel, label=case.label,
               more={"needed_bytes": needed})
