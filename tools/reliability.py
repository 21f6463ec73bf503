#!/usr/bin/env python3
"""Runs the trials and writes docs/reliability.md from what they give.

    tools/reliability.py [--quick-of TRIAL,TRIAL] [--output FILE]

All of them in full take about twenty minutes on two cores; those named by --quick-of are run as a
sample, and the page says so. Returns 1 if a figure is not what it must be.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRIALS = {
    "kill": "a process is killed at a step of an operation",
    "stop": "a process is stopped beyond the deadline, and goes on later",
    "sleep": "a process is late, by less and by more than the deadline",
    "mismatch": "one process asks for something else than the others",
    "stranger": "others come to the rendezvous who do not belong to the job",
    "storm": "starts and stops, two jobs at once",
    "hostile": "messages are lost, late, damaged or cut short; processes die",
}
HEAD = """# Reliability

What happens when something goes wrong between the processes of one host. Every figure is from runs with real processes:
`fanin trial NAME` does them again, `tools/reliability.py` writes this page. Processes are 2, 3, 4, 5 and 8, by every algorithm;
what goes wrong does so at steps from the first to the 144th: publishing something, waiting for somebody and getting access to
the memory of others are steps. In half of the runs, by lot, the numbers are in registered memory, where ranks write into each
other's: after a failure its owner marks it, and a mark that somebody wrote over counts as a wrong answer.

- **in time**: calls of those who had no fault that returned, with the right result or an error, before the deadline and a second.
- **named**: errors that named the rank at fault (of strangers: those that were turned away).
- **wrong**: answers that were not the sum. **stuck**: ranks that did not come together again with the others: in a new epoch,
  or after a death in a group without the dead. **left**: files that were still there when all processes had ended.

| trial | what | runs | calls | in time | errors | named | wrong | stuck | left |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def run_trial(name, is_quick):
    """What the trial gives as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "figures.json"
        command = [str(ROOT / "fanin"), "trial", name, "--json", str(path)]
        subprocess.run(command + (["--quick"] if is_quick else []), check=False)
        return json.loads(path.read_text())


def row_of(figures):
    sample = ", a sample" if figures["quick"] else ""
    return (f"| `{figures['trial']}` | {TRIALS[figures['trial']]}{sample} | {figures['runs']} | {figures['calls']} | "
            f"{100 * figures['returned_in_time']:.2f} % | {figures['errors']} | "
            f"{100 * figures['named_the_right_rank']:.2f} % | {figures['wrong_answers']} | "
            f"{figures['did_not_come_back']} | {figures['left_behind']} |\n")


def is_good(figures):
    return (figures["returned_in_time"] == 1 and figures["named_the_right_rank"] == 1
            and figures["wrong_answers"] == figures["did_not_come_back"] == figures["left_behind"] == 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick-of", default="")
    parser.add_argument("--output", default=str(ROOT / "docs" / "reliability.md"))
    arguments = parser.parse_args()
    samples = [name for name in arguments.quick_of.split(",") if name]
    unknown = set(samples) - TRIALS.keys()
    if unknown:
        parser.error(f"there is no trial {', '.join(sorted(unknown))}; use {', '.join(TRIALS)}")
    all_figures = [run_trial(name, name in samples) for name in TRIALS]
    page = HEAD + "".join(row_of(figures) for figures in all_figures)
    noticed = [f for f in all_figures if "deaths_noticed" in f]
    for figures in noticed:
        page += (f"\nDeaths in `{figures['trial']}`, where each rank has a core of its own: "
                 f"{100 * figures['within_100_ms']:.1f} % of {figures['deaths_noticed']} calls ended within 100 ms, "
                 f"all within {figures['longest_ms']:.0f} ms.\n")
    page += (f"\nMeasured with seed {all_figures[0]['seed']} on {os.cpu_count()} cores, Linux "
             f"{platform.release().split('-')[0]}.\n")
    pathlib.Path(arguments.output).write_text(page)
    return 0 if all(is_good(figures) for figures in all_figures) else 1


if __name__ == "__main__":
    sys.exit(main())
