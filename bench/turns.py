"""Workers take turns with each case, several rounds, on a machine that is quiet if it can be."""
import sys
import time
from dataclasses import dataclass

from quiet import Patience
from report import show_progress
from worker import WorkerFailed


@dataclass(frozen=True)
class Effort:
    rounds: int
    seconds: float  # for each thing that is timed, in each round
    patience: float  # seconds of waiting for a quiet machine, in all
    most_seconds: float  # no case begins later than this
    answer_seconds: float  # for one answer; for the first, arrays are made and loops compiled


QUICK = Effort(rounds=3, seconds=0.08, patience=10, most_seconds=90, answer_seconds=40)
FULL = Effort(rounds=7, seconds=0.25, patience=600, most_seconds=3600, answer_seconds=180)


class Turns:
    """Asks workers; says what could not be measured in `notes`, a sentence each."""

    def __init__(self, workers, effort):
        self.workers, self.effort, self.notes = workers, effort, []
        self.patience = Patience(effort.patience)

    def take(self, cases, begin):
        """(case, its answers round by round) for each; an answer joins those of all workers.

        `begin` is when the time of this effort began to run, by the monotonic clock.
        """
        for index, case in enumerate(cases):
            if time.monotonic() - begin > self.effort.most_seconds:
                names = ", ".join(str(left_out) for left_out in cases[index:])
                self.note(f"no time was left for: {names}")
                break
            answers = []
            for number in range(self.effort.rounds):
                show_progress(f"{index + 1}/{len(cases)} {case}, round {number + 1}")
                answers.append(self._one_round(case))
            yield case, answers
        self.notes += self.patience.notes()

    def note(self, sentence):
        if sentence not in self.notes:
            self.notes.append(sentence)

    def _one_round(self, case):
        answer = {}
        asked = self.workers if case.has_peers else self.workers[:1]
        for worker in list(asked):
            self.patience.wait()
            try:
                answer |= worker.ask(case.words(), self.effort.seconds,
                                     most_seconds=self.effort.answer_seconds)
            except WorkerFailed as failure:
                if worker is self.workers[0]:
                    sys.exit(f"./bench/run: {failure}")
                self.note(f"{failure}; it was not asked again")
                self.workers.remove(worker)
        return answer
