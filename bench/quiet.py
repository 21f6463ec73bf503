"""Waiting for a machine on which nobody else computes."""
import time


def _cpu_times():
    with open("/proc/stat") as stat:
        values = list(map(int, stat.readline().split()[1:9]))
    return sum(values) - values[3] - values[4], sum(values)


def wait_until_quiet(busy_share=0.08, window=0.12, most_seconds=2.0):
    """Waits until the cores are idle for a moment, or for `most_seconds`.

    Returns whether they were idle, and the seconds spent.
    """
    begin = time.monotonic()
    while True:
        busy_before, all_before = _cpu_times()
        time.sleep(window)
        busy_after, all_after = _cpu_times()
        if busy_after - busy_before <= busy_share * max(1, all_after - all_before):
            return True, time.monotonic() - begin
        if time.monotonic() - begin > most_seconds:
            return False, time.monotonic() - begin
