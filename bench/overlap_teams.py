"""Who takes part in the benchmark `overlap`, how each is started, and what it is asked in a turn."""
import statistics
import time

from allreduce_teams import find_gloo, launch_fanin
from environments import build_program
from overlap_cases import COMPUTE_SECONDS, FIXED_PACKS
from peer_ranks import BENCH
from team import Launch

MIB = 1 << 20


def find_ddp(may_install):
    """PyTorch's ranks, with the loop that Fanin's backward pass has."""
    program = build_program("bench_sweeps")
    sweeps = program.replace("bench_sweeps", "libbench_sweeps.so")

    def with_sweeps(launch):
        python = launch.command(1)[0]
        return Launch("ddp", lambda size: [python, str(BENCH / "peers" / "ddp_overlap.py")],
                      lambda *seat: {**launch.environment(*seat), "BENCH_SWEEPS": sweeps})

    return [with_sweeps(launch) for launch in find_gloo(may_install)]


def find_launches(may_install):
    return [launch_fanin(build_program("bench_overlap")), *find_ddp(may_install)]


def slowest(answers):
    """Of each part, the seconds of each iteration, of the rank that took longest."""
    return [[max(column) for column in zip(*ranks)]
            for ranks in zip(*(answer["seconds"] for answer in answers))]


class Player:
    """Someone who takes turns with a case: some parts of a step, one after the other, several times."""

    def __init__(self, team, effort):
        self.team, self.effort = team, effort

    @property
    def who(self):
        return self.team.name

    def ask(self, *words):
        return self.team.ask(*words, most_seconds=self.effort.answer_seconds)

    def turn(self, placement):
        """{name of a part: seconds of each iteration}, as long as a turn lasts."""
        names, words, parts = self.prepare(placement)
        begin = time.monotonic()
        self.ask(*words, 2, *parts)  # first calls map memory
        wall = (time.monotonic() - begin) / 2
        count = max(3, int(self.effort.seconds / wall))
        return dict(zip(names, slowest(self.ask(*words, count, *parts))))


class Fanin(Player):
    def __init__(self, team, effort, case):
        super().__init__(team, effort)
        self.case, self.amounts, self.chosen, self.sweeps = case, {}, [], None

    def median_of(self, part):
        return statistics.median(slowest(self.ask("run", "waits", 0, 7, part))[0])

    def calibrate(self):
        """The same sweeps for all ranks and turns."""
        if self.sweeps is None:
            seconds = COMPUTE_SECONDS[self.case.model]
            self.sweeps = statistics.fmean(
                answer["sweeps"][0] for answer in self.ask("calibrate", seconds))
        return self.sweeps

    def amount(self, placement, packs):
        """Of the backward pass: seconds to wait, which are others when cores are far, or sweeps."""
        if self.case.backward == "computes":
            return self.calibrate()
        if placement not in self.amounts:
            self.amounts[placement] = self.case.times * self.median_of(f"communicate:{packs}")
        return self.amounts[placement]

    def prepare(self, placement):
        packs = self.ask("choose")[0]["bytes_per_pack"]  # anew, because it is measured
        self.chosen.append(packs)
        words = ["run", self.case.backward, self.amount(placement, packs)]
        parts = {"step": f"step:{packs}"}
        if self.case.kind == "hide":
            parts |= {"compute": "compute", "communicate": f"communicate:{packs}"}
        if self.case.kind == "trace":
            parts |= {"traced": f"traced:{packs}"}
        if self.case.kind == "packs":
            parts |= {fixed: f"step:{fixed}" for fixed in FIXED_PACKS}
        return list(parts), words, list(parts.values())


class Ddp(Player):
    """Its backward pass alone shall take as long as Fanin's: so it has fewer sweeps, by the time that
    Python and PyTorch take themselves."""

    def __init__(self, team, effort, fanin, parts):
        super().__init__(team, effort)
        self.fanin, self.steps = fanin, [part for part in parts if part != "compute"]
        self.sweeps, self.best = None, {}

    def times(self, sweeps, parts):
        self.ask("run", sweeps, 3, *parts)  # buckets are made again after the first step
        return [statistics.median(each) for each in slowest(self.ask("run", sweeps, 5, *parts))]

    def calibrate(self):
        if self.sweeps is None:
            seconds, sweeps = COMPUTE_SECONDS[self.fanin.case.model], self.fanin.calibrate()
            rest = self.times(0, ["compute"])[0]
            self.sweeps = sweeps * max(0, seconds - rest) / seconds
        return self.sweeps

    def prepare(self, placement):
        sweeps = self.calibrate()
        if placement not in self.best:
            self.best[placement] = min(zip(self.times(sweeps, self.steps), self.steps))[1]
        return ["step", "compute"], ["run", sweeps], [self.best[placement], "compute"]
