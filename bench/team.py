"""A participant of a benchmark between processes: some ranks that wait until they are asked."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from worker import LOGS, WorkerFailed

START_LINE_BYTES = 1 << 16  # of the memory that ranks share; see bench/start_line.h


class Refused(WorkerFailed):
    """The ranks said why they cannot do it; they can be asked again."""


def usable_cores():
    return sorted(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Launch:
    """How to start a participant: a program once for each rank, or a launcher of its own once."""
    name: str
    command: Callable  # from the number of ranks to a list of words
    environment: Callable = lambda rank, size, folder: {}  # rank is None for a launcher
    has_launcher: bool = False
    rank_count: int | None = None  # if it is always the same


class Team:
    """Has processes, which `close` ends. What they print goes to build/bench/NAME.log, of a rank that
    was started by itself to NAME.RANK.log.

    A rank connects to the socket FOLDER/driver, says hello with its number and process id, and
    answers each line with a line of JSON. While nobody asks, it sleeps in read.
    """

    def __init__(self, launch, size, shared_bytes=START_LINE_BYTES):
        LOGS.mkdir(parents=True, exist_ok=True)
        self.name, self.size, self.version = launch.name, size, ""
        self.folder = tempfile.TemporaryDirectory(prefix="fanin-bench-")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"{self.folder.name}/driver")
        self.listener.listen(size)
        self.shared = os.memfd_create(f"bench-{launch.name}")
        os.ftruncate(self.shared, shared_bytes)
        self.lines, self.pids = {}, []
        self.processes, self.logs = [], []
        for rank in [None] if launch.has_launcher else range(size):
            environment = {**os.environ, **self._seat(),
                           **launch.environment(rank, size, self.folder.name)}
            self.logs.append(LOGS / f"{launch.name}{'' if rank is None else f'.{rank}'}.log")
            with open(self.logs[-1], "w") as log:
                self.processes.append(subprocess.Popen(
                    launch.command(size), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    env=environment))

    def _seat(self):
        return {"BENCH_FOLDER": self.folder.name,
                "BENCH_SHARED": f"/proc/{os.getpid()}/fd/{self.shared}",
                "BENCH_CORES": ",".join(map(str, usable_cores()))}

    def gather(self, most_seconds):
        """Waits until all ranks have said hello."""
        deadline = time.monotonic() + most_seconds
        self.listener.settimeout(0.1)
        while len(self.lines) < self.size:
            if time.monotonic() > deadline:
                raise WorkerFailed(f"{self.name}: {len(self.lines)} of {self.size} ranks came within "
                                   f"{most_seconds:.0f} s")
            if any(process.poll() is not None for process in self.processes):
                raise WorkerFailed(f"{self.name} ended early: {self._last_words()}")
            with contextlib.suppress(TimeoutError):
                line = self.listener.accept()[0]
                line.settimeout(max(0.1, deadline - time.monotonic()))
                stream = line.makefile("rw")
                hello = self._read(stream)
                self.lines[hello["rank"]] = line, stream
                self.pids.append(hello["pid"])
                self.version = hello["version"]

    def ask(self, *words, most_seconds):
        """The answers of all ranks, in order. Raises Refused if one of them tells an error."""
        deadline = time.monotonic() + most_seconds
        streams = [self.lines[rank][1] for rank in sorted(self.lines)]
        for stream in streams:
            with contextlib.suppress(BrokenPipeError):  # reading says why
                print(*words, file=stream, flush=True)
        answers, error = [], None
        for rank, stream in enumerate(streams):
            self.lines[rank][0].settimeout(max(0.1, deadline - time.monotonic()))
            answers.append(self._read(stream))
            if "error" in answers[-1] and error is None:
                error = answers[-1]["error"]
                deadline = min(deadline, time.monotonic() + 2)  # others may wait for this rank
        if error is not None:
            raise Refused(f"{self.name}: {error}")
        return answers

    def _read(self, stream):
        try:
            line = stream.readline()
        except TimeoutError:
            raise WorkerFailed(f"{self.name} did not answer in time") from None
        except OSError:
            line = ""
        if not line:
            raise WorkerFailed(f"{self.name} ended early: {self._last_words()}")
        return json.loads(line)

    def _last_words(self):
        """Those of a rank that has ended come first: others only miss it."""
        ranks = sorted(zip(self.processes, self.logs), key=lambda rank: rank[0].poll() is None)
        lines = [line.strip() for _, log in ranks
                 for line in reversed(log.read_text(errors="replace").split("\n"))]
        return next(filter(None, lines), "no message")

    def close(self):
        """Hangs up, so that ranks end by themselves; ends those that do not. Twice is as once."""
        if self.shared is None:
            return
        for line, stream in self.lines.values():
            with contextlib.suppress(OSError):
                stream.close()
            line.close()
        self.listener.close()
        self._wait(3)
        for pid in self.pids if self._is_running() else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._wait(2)
        for process in self.processes:
            process.kill()
            process.wait()
        os.close(self.shared)
        self.shared = None
        self.folder.cleanup()

    def _is_running(self):
        return any(process.poll() is None for process in self.processes)

    def _wait(self, most_seconds):
        deadline = time.monotonic() + most_seconds
        while self._is_running() and time.monotonic() < deadline:
            time.sleep(0.01)
