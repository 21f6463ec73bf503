"""The benchmark `overlap`: gradients are summed while a backward pass goes on, step after step."""
import contextlib
import sys
import time
from dataclasses import dataclass

from counts import gradients_of, write_counts
from environments import build_program, fanin_version
from overlap_cases import list_cases
from overlap_rows import make_memory_row, make_rows
from overlap_teams import Ddp, Fanin, find_launches
from overlap_turns import OverlapTurns
from placement import Placement
from quiet import Patience
from report import show_progress
from team import START_LINE_BYTES, Team, usable_cores
from worker import Worker, WorkerFailed


@dataclass(frozen=True)
class Effort:
    rounds: int
    seconds: float  # of one turn
    patience: float  # seconds of waiting for a quiet machine, in all
    most_seconds: float  # no round begins later than this
    answer_seconds: float  # for one answer


QUICK = Effort(rounds=3, seconds=0.4, patience=6, most_seconds=95, answer_seconds=30)
FULL = Effort(rounds=7, seconds=1.0, patience=120, most_seconds=540, answer_seconds=120)


class Run:
    """One run of the benchmark: rows, versions and notes grow as it goes on."""

    def __init__(self, launches, placement, effort):
        self.launches, self.effort = launches, effort
        self.patience = Patience(effort.patience)
        self.deadline = time.monotonic() + effort.most_seconds
        self.turns = OverlapTurns(placement, effort, self.patience, self.deadline)
        self.rows, self.versions = [], {}

    def start(self, name, processes, stack):
        """The team, or None after a note."""
        launch = next((each for each in self.launches if each.name == name), None)
        if launch is None:
            return None
        team = Team(launch, processes, START_LINE_BYTES)
        stack.callback(team.close)
        try:
            team.gather(most_seconds=60)
        except WorkerFailed as failure:
            if name == "fanin":
                sys.exit(f"./bench/run: {failure}")
            self.turns.notes.append(f"{failure}; not measured")
            return None
        self.versions[name] = team.version
        return team

    def measure(self, cases):
        """All cases of one place, by teams that live as long."""
        first = cases[0]
        if time.monotonic() > self.deadline:
            self.turns.notes.append(f"no time was left for {first.where}")
            return
        path = write_counts(f"overlap {first.model}", gradients_of(first.model))
        if first.kind == "memory":
            self.measure_memory(first, path)
            return
        with contextlib.ExitStack() as stack:
            team = self.start("fanin", first.processes, stack)
            team.ask("list", path, most_seconds=self.effort.answer_seconds)
            has_peers = any(case.has_peers for case in cases)
            ddp = self.start("ddp", first.processes, stack) if has_peers else None
            for case in cases:
                players = [Fanin(team, self.effort, case)]
                if case.has_peers and ddp:
                    parts = ddp.ask("list", path, most_seconds=self.effort.answer_seconds)
                    players.append(Ddp(ddp, self.effort, players[0], parts[0]["parts"]))
                samples = self.turns.take(case, players, show_progress)
                self.rows += make_rows(case, samples, players[0].chosen)

    def measure_memory(self, case, path):
        """By processes that do nothing else, three times."""
        answers = []
        for number in range(3):
            show_progress(f"{case}, round {number + 1} of 3")
            with contextlib.ExitStack() as stack:
                team = self.start("fanin", case.processes, stack)
                answers.append(team.ask("memory", case.optimizer, path,
                                        most_seconds=self.effort.answer_seconds))
        self.rows.append(make_memory_row(case, answers))

    def notes(self):
        if self.turns.dropped_count:
            yield f"{self.turns.dropped_count} samples were dropped, because the cores moved"
        yield from self.turns.notes
        yield from self.patience.notes()


def run(choice):
    """Rows, the versions of who was measured, and sentences on what was not."""
    cases = choice.of(list_cases(choice.quick))
    launches = find_launches(may_install=not choice.quick)
    with contextlib.closing(Worker("placement", [build_program("bench_placement")])) as probe:
        this = Run(launches, Placement(probe, usable_cores()), QUICK if choice.quick else FULL)
        for where in dict.fromkeys(case.where for case in cases):
            this.measure([case for case in cases if case.where == where])
    versions = {**this.versions, "fanin": fanin_version()}
    return this.rows, versions, list(this.notes())
