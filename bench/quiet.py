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


class Patience:
    """Waits for quiet before samples, but not longer than `seconds` in all."""

    def __init__(self, seconds):
        self.seconds, self.noisy_count = seconds, 0

    def wait(self):
        is_quiet, waited = wait_until_quiet(most_seconds=min(2.0, self.seconds))
        if not is_quiet:
            self.seconds -= waited
            self.noisy_count += 1

    def notes(self):
        if self.noisy_count:
            yield (f"other programs were running before {self.noisy_count} samples: "
                   "do not trust single numbers")
