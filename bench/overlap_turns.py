"""Fanin and its peer take turns with a step, several rounds, and each sample knows where the cores were."""
import sys
import time
from dataclasses import dataclass

from worker import WorkerFailed

ATTEMPTS = 3  # for a sample during which the cores do not move


@dataclass(frozen=True)
class Sample:
    """One turn: of each part of a step, the seconds of each iteration, of the slowest rank."""
    who: str
    round: int
    placement: str
    seconds: dict


class OverlapTurns:
    """Asks players for samples; says what could not be measured in `notes`, a sentence each."""

    def __init__(self, placement, effort, patience, deadline):
        self.placement, self.effort, self.patience = placement, effort, patience
        self.deadline, self.notes, self.dropped_count = deadline, [], 0

    def take(self, case, players, show):
        """All samples of a case. `show(words)` tells how far it is."""
        samples, players = [], list(players)
        for number in range(self.effort.rounds):
            if number > 0 and time.monotonic() > self.deadline:
                self.notes.append(f"there was time for {number} of {self.effort.rounds} rounds ({case})")
                break
            first = number % len(players)
            for player in players[first:] + players[:first]:
                show(f"{case}, round {number + 1} of {self.effort.rounds}, {player.who}")
                try:
                    sample = self._sample(player, case.processes, number)
                    samples += [sample] if sample else []
                except WorkerFailed as failure:
                    if player.who == "fanin":
                        sys.exit(f"./bench/run: {failure}")
                    self.notes.append(f"{failure}; it was not asked again")
                    players.remove(player)
        return samples

    def _sample(self, player, processes, number):
        """None if the cores moved in each attempt."""
        for _ in range(ATTEMPTS):
            self.patience.wait()
            before = self.placement.probe(processes)
            seconds = player.turn(before)
            if before != "unknown" and self.placement.probe(processes) == before:
                return Sample(player.who, number, before, seconds)
            self.dropped_count += 1
        return None
