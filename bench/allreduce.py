"""The benchmark `allreduce`: processes of one host sum tensors in place, beside the limit and peers."""
import contextlib
import sys
import time
from dataclasses import dataclass

from allreduce_cases import list_cases
from allreduce_rows import make_rows
from allreduce_teams import find_launches
from counts import gradients_of, write_counts
from environments import available_bytes, build_program, fanin_version
from placement import Placement
from quiet import Patience
from report import show_progress
from team import Team, usable_cores
from team_turns import TeamTurns
from worker import Worker, WorkerFailed

MIB = 1 << 20


@dataclass(frozen=True)
class Effort:
    rounds: int
    seconds: float  # of one turn
    patience: float  # seconds of waiting for a quiet machine, in all
    most_seconds: float  # no round begins later than this
    answer_seconds: float  # for one answer
    most_call_seconds: float  # who takes longer for one call is left out


QUICK = Effort(rounds=3, seconds=0.04, patience=6, most_seconds=95, answer_seconds=30,
               most_call_seconds=2)
FULL = Effort(rounds=7, seconds=0.25, patience=600, most_seconds=5400, answer_seconds=180,
              most_call_seconds=3)


def counts_of(point):
    return gradients_of(point.model) if point.model else [point.size // 4]


def start_teams(launches, point, most_bytes, stack, notes):
    """The teams that came up. The limit has its tensors in what its ranks share, after 64 MiB."""
    shared_bytes = 64 * MIB + point.processes * (most_bytes + 4 * MIB)
    teams = [Team(launch, launch.rank_count or point.processes, shared_bytes)
             for launch in launches]
    for team in teams:
        stack.callback(team.close)
    for team in list(teams):
        try:
            team.gather(most_seconds=60)
        except WorkerFailed as failure:
            if team.name in ("fanin", "limit"):
                sys.exit(f"./bench/run: {failure}")
            notes.append(f"{failure}; not measured with {point.where}")
            teams.remove(team)
    return teams


class Run:
    """One run of the benchmark: rows, versions and notes grow as it goes on."""

    def __init__(self, effort):
        self.deadline = time.monotonic() + effort.most_seconds
        self.patience = Patience(effort.patience)
        self.rows, self.versions, self.notes = [], {}, []

    def measure(self, launches, cases, placement, effort):
        """All cases of one place, by teams that live as long."""
        first = cases[0].point
        if time.monotonic() > self.deadline:
            self.notes.append(f"no time was left for {first.where}")
            return
        counts = {point: counts_of(point) for point in dict.fromkeys(case.point for case in cases)}
        most_bytes = 4 * max(map(sum, counts.values()))
        with contextlib.ExitStack() as stack:
            teams = start_teams(launches, first, most_bytes, stack, self.notes)
            self.versions.update({team.name: team.version for team in teams if team.version})
            turns = TeamTurns(teams, placement, effort, self.patience, self.deadline)
            for point, elements in counts.items():
                if self.is_possible(point, 4 * sum(elements), len(teams)):
                    show_progress(f"all_reduce {point}")
                    self.measure_point(turns, point, elements, cases)
        self.notes += turns.notes()

    def measure_point(self, turns, point, elements, cases):
        path = write_counts(f"allreduce {point}".replace(",", ""), elements)
        cases = [case for case in cases if case.point == point]
        samples = turns.take(point, [case.memory for case in cases], path)
        for case in cases:
            self.rows += make_rows(case, samples, 4 * sum(elements))

    def is_possible(self, point, byte_count, team_count):
        """Each rank has about two such buffers: the tensors, and what its library makes of them."""
        if time.monotonic() > self.deadline:
            self.notes.append(f"no time was left for {point}")
            return False
        needed, available = 2 * team_count * point.processes * byte_count, available_bytes()
        if needed > 0.8 * available:
            self.notes.append(f"{point} needs {needed / 1e9:.1f} GB of memory, {available / 1e9:.1f} "
                              "GB are available: left out")
            return False
        return True


def run(choice):
    """Rows, the versions of who was measured, and sentences on what was not."""
    cases = choice.of(list_cases(choice.quick))
    launches = find_launches(may_install=not choice.quick)
    effort = QUICK if choice.quick else FULL
    this = Run(effort)
    with contextlib.closing(Worker("placement", [build_program("bench_placement")])) as probe:
        placement = Placement(probe, usable_cores())
        for where in dict.fromkeys(case.point.where for case in cases):
            this.measure(launches, [case for case in cases if case.point.where == where], placement,
                         effort)
    versions = {**this.versions, "fanin": fanin_version()}
    return this.rows, versions, this.notes + list(this.patience.notes())
