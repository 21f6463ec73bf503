"""Teams take turns with each point, several rounds, and each sample knows where the cores were."""
import contextlib
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field

from team import Refused, Team, usable_cores
from worker import WorkerFailed

ATTEMPTS = 3  # for a sample during which the cores do not move


@dataclass(frozen=True)
class Sample:
    """One turn: the seconds of each call, of the slowest rank. `who` is "idle" for Fanin without
    the other program, where this keeps a core busy for everybody else."""
    who: str
    memory: str
    round: int
    placement: str
    seconds: tuple


@dataclass
class Entry:
    """A team with its tensors in one kind of memory."""
    team: Team
    memory: str
    is_busy: bool = False
    who: str = ""
    call_count: int = 0
    best: dict = field(default_factory=dict)  # (call, iterations in a turn) by placement


@contextlib.contextmanager
def keeping_busy(core):
    """Another program computes on this core."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            os.sched_setaffinity(process.pid, {core})
            time.sleep(0.05)
            yield
        finally:
            process.kill()


class TeamTurns:
    """Asks a set of teams for samples."""

    def __init__(self, teams, placement, effort, patience, deadline):
        """After `deadline`, by the monotonic clock, no further round begins."""
        self.teams, self.placement, self.effort, self.deadline = teams, placement, effort, deadline
        self.patience, self.problems, self.dropped_count = patience, {}, 0

    def notes(self):
        """What could not be measured, a sentence each, with all the points where it was so."""
        for problem, where in self.problems.items():
            yield f"{problem} ({'; '.join(where)})" if any(where) else problem
        if self.dropped_count:
            yield f"{self.dropped_count} samples were dropped, because the cores moved"

    def _note(self, sentence, where=""):
        self.problems.setdefault(sentence, {})[str(where)] = True

    def take(self, point, memories, path):
        """All samples of a point. `path` names the file with the number of elements."""
        samples, entries = [], self._make_entries(point, memories, path)
        for number in range(self.effort.rounds):
            if number > 0 and time.monotonic() > self.deadline:
                self._note(f"there was time for {number} of {self.effort.rounds} rounds", point)
                break
            first = number % max(1, len(entries))
            for entry in entries[first:] + entries[:first]:
                if entry in entries:
                    sample = self._sample_or_leave(entry, point, number, entries)
                    samples += [sample] if sample else []
        for team in list(self.teams):
            with self._leaving(team):
                team.ask("drop", most_seconds=self.effort.answer_seconds)
        return samples

    def _make_entries(self, point, memories, path):
        entries = []
        for team in list(self.teams):
            is_peer = team.name not in ("fanin", "limit")
            for memory in ("private",) if is_peer else memories:
                if point.is_busy and team.name == "limit":
                    continue  # three times Fanin's own time is
                with self._leaving(team, f"{point}, {memory}"):
                    calls = team.ask("make", memory, path, most_seconds=self.effort.answer_seconds)
                    entries.append(Entry(team, memory, point.is_busy, team.name,
                                         len(calls[0]["calls"])))
                    if point.is_busy and team.name == "fanin":
                        entries.append(Entry(team, memory, False, "idle", len(calls[0]["calls"])))
        return entries

    @contextlib.contextmanager
    def _leaving(self, team, where=""):
        """A team that refuses stays; one that fails is not asked again. Fanin must not fail."""
        try:
            yield
        except Refused as refusal:
            self._note(str(refusal), where)
        except WorkerFailed as failure:
            self._leave(team, failure)

    def _leave(self, team, failure):
        if team.name == "fanin":
            sys.exit(f"./bench/run: {failure}")
        self._note(f"{failure}; it was not asked again")
        self.teams.remove(team)
        team.close()

    def _sample_or_leave(self, entry, point, number, entries):
        try:
            return self._sample(entry, point, number)
        except TooSlow as slow:
            self._note(str(slow), point)
            entries.remove(entry)
        except WorkerFailed as failure:
            self._leave(entry.team, failure)
            entries[:] = [each for each in entries if each.team is not entry.team]
        return None

    def _sample(self, entry, point, number):
        """None if the cores moved in each attempt."""
        cores = usable_cores()[:point.processes]
        for _ in range(ATTEMPTS):
            self.patience.wait()
            before = self.placement.probe(point.processes)
            with keeping_busy(cores[-1]) if entry.is_busy else contextlib.nullcontext():
                seconds = self._run(entry, *self._best_call(entry, before))
            if before != "unknown" and self.placement.probe(point.processes) == before:
                return Sample(entry.who, entry.memory, number, before, tuple(seconds))
            self.dropped_count += 1
        return None

    def _run(self, entry, call, iterations):
        answers = entry.team.ask("run", entry.memory, call, iterations,
                                 most_seconds=self.effort.answer_seconds)
        return [max(column) for column in zip(*(answer["seconds"] for answer in answers))]

    def _best_call(self, entry, placement):
        """What is best when the cores are near is not when they are far."""
        if entry.best and entry.call_count == 1:
            return next(iter(entry.best.values()))
        if placement not in entry.best:
            entry.best[placement] = self._choose(entry)
        return entry.best[placement]

    def _choose(self, entry):
        """The fastest call, and how often it fits into a turn."""
        timed = []
        for call in range(entry.call_count):
            self._run(entry, call, 1)  # first calls map memory
            median, wall = self._time(entry, call, 2)
            if wall > self.effort.most_call_seconds:
                raise TooSlow(f"{entry.team.name} takes {wall:.1f} s for one call: not measured")
            iterations = min(200, int(self.effort.seconds / 4 / wall))
            if iterations > 2:
                median, wall = self._time(entry, call, iterations)
            timed.append((median, call, wall))
        _, call, wall = min(timed)
        return call, max(3, min(3000, int(self.effort.seconds / wall)))

    def _time(self, entry, call, iterations):
        """The median of the calls, and what one iteration takes with all that is around it."""
        begin = time.monotonic()
        seconds = self._run(entry, call, iterations)
        return statistics.median(seconds), (time.monotonic() - begin) / iterations


class TooSlow(Exception):
    """One call takes longer than a benchmark can wait for; the message is a sentence."""
