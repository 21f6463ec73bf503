"""A program that answers lines with lines of JSON, and may fail without harm."""
import contextlib
import json
import os
import subprocess
import threading
from pathlib import Path

LOGS = Path(__file__).resolve().parent.parent / "build" / "bench"


class WorkerFailed(Exception):
    """The program ended, or did not answer in time; the message is a sentence."""


class Worker:
    """Has a process, which `close` ends. What it prints as errors goes to build/bench/NAME.log."""

    def __init__(self, name, command, environment=None):
        LOGS.mkdir(parents=True, exist_ok=True)
        self.name, self.log, self.is_late = name, LOGS / f"{name}.log", False
        with open(self.log, "w") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                env={**os.environ, **(environment or {})})

    def read(self, most_seconds):
        timer = threading.Timer(most_seconds, self._give_up)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        if line:
            return json.loads(line)
        if self.is_late:
            raise WorkerFailed(f"{self.name} did not answer within {most_seconds:.0f} s")
        raise WorkerFailed(f"{self.name} ended early: {self._last_words()}")

    def ask(self, *words, most_seconds):
        try:
            print(*words, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # reading says why
        return self.read(most_seconds)

    def close(self):
        self.process.kill()
        with contextlib.suppress(BrokenPipeError):  # of a line that nobody read
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def _give_up(self):
        self.is_late = True
        self.process.kill()

    def _last_words(self):
        code = self.process.wait()
        words = self.log.read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(words) if line.strip()),
                    f"exit code {code}")
