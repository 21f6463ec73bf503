"""The benchmark `schedules`: all-reduce in one process, beside one hand-written pass."""
import contextlib
import statistics
import time

from environments import build_program, fanin_version
from rows import Row, own_times
from schedule_cases import list_cases
from turns import FULL, QUICK, Turns
from worker import Worker


def make_row(case, answers):
    fanin, limit = own_times(case, answers)
    return Row(str(case), "us", "none", statistics.median(fanin), statistics.median(limit),
               case.target_limit, [each / own for each, own in zip(limit, fanin)],
               panel=case.panel, label=case.label)


def run(choice):
    """Rows, the versions of who was measured, and sentences on what was not."""
    cases = choice.of(list_cases(choice.quick))
    program = build_program("bench_schedules")
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        worker = Worker("fanin", [program])
        stack.callback(worker.close)
        turns = Turns([worker], QUICK if choice.quick else FULL)
        rows = [make_row(case, answers) for case, answers in turns.take(cases, begin)]
    return rows, {"fanin": fanin_version()}, turns.notes
