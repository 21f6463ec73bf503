"""Tests of what ./bench/run is made of; nothing is measured."""
import contextlib
import io
import json
import subprocess
import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from beside_peers import make_row  # noqa: E402
from device_cases import list_cases as list_device_cases  # noqa: E402
from picture import draw  # noqa: E402
from report import print_report  # noqa: E402
from rows import Peer, Row  # noqa: E402
from sum_cases import list_cases  # noqa: E402
from turns import Effort, Turns  # noqa: E402
from worker import Worker, WorkerFailed  # noqa: E402


def example_row():
    row = Row("add_n 2 x 4 KiB float32", "us", "none", 0.25, 0.5, 1.0, [1.8, 2.2], panel="4 KiB")
    row.peers["numpy"] = Peer(0.5, 2.0, 4.0, [1.9, 2.1])
    row.peers["torch"] = Peer(1.0, 4.0, None, [4.0, 4.0])
    return row


def python_worker(name, program):
    return Worker(name, [sys.executable, "-c", program])


class Rows(unittest.TestCase):
    def test_json_has_the_agreed_form(self):
        self.assertEqual(json.loads(json.dumps(example_row().to_json())), {
            "case": "add_n 2 x 4 KiB float32", "unit": "us", "placement": "none", "fanin": 0.25,
            "limit": 0.5, "ratio_to_limit": 2.0, "target_limit": 1.0,
            "peers": {"numpy": {"value": 0.5, "ratio": 2.0, "target": 4.0},
                      "torch": {"value": 1.0, "ratio": 4.0, "target": None}}})

    def test_only_what_has_a_target_is_checked(self):
        self.assertEqual(list(example_row().checks()), [("limit", 2.0, 1.0), ("numpy", 2.0, 4.0)])

    def test_a_row_holds_medians_and_leaves_out_a_peer_that_failed(self):
        case, problems = list_cases(quick=True)[0], {}
        rounds = ((1e-6, 1e-6), (2e-6, "it fell over"), (3e-6, 1e-6))
        answers = [{"fanin": fanin, "limit": 1.0, "way": "one", "numpy": 6e-6, "torch": torch}
                   for fanin, torch in rounds]
        row = make_row(case, answers, problems)
        self.assertAlmostEqual(row.fanin, 2.0)
        self.assertEqual(row.limit, 0.5)
        self.assertEqual(list(row.peers), ["numpy"])
        self.assertAlmostEqual(row.peers["numpy"].ratio, 3.0)
        self.assertEqual(row.peers["numpy"].target, 4.0)
        self.assertEqual(problems, {"torch: it fell over": {str(case): True}})


class Reports(unittest.TestCase):
    def test_the_summary_names_what_was_missed(self):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            print_report([example_row()], {"fanin": "1.2"}, ["something was left out"])
        for words in ("1 of 2 targets met, 1 missed",
                      "missed: add_n 2 x 4 KiB float32: 2.00, the target is 4.00 times numpy",
                      "2.00* [1.90, 2.10]", "note: something was left out", "fanin 1.2"):
            self.assertIn(words, output.getvalue())

    def test_the_picture_has_a_bar_for_everyone(self):
        picture = xml.etree.ElementTree.fromstring(draw([example_row()], "a < b", ["footer"]))
        titles = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(titles, ["add_n 2 x 4 KiB float32, fanin: 2.00",
                                  "add_n 2 x 4 KiB float32, numpy: 1.00",
                                  "add_n 2 x 4 KiB float32, torch: 0.50"])


    def test_labels_that_would_meet_are_slanted(self):
        rows = [Row(f"a case with a long name {i}", "us", "none", 1, 1, 1, panel="p") for i in (1, 2)]
        self.assertIn("rotate(-45", draw(rows, "title", []))
        self.assertNotIn("rotate(-45", draw(rows[:1], "title", []))


class Cases(unittest.TestCase):
    def test_devices_are_measured_beside_peers_once_for_each_list(self):
        cases = list_device_cases(quick=False)
        self.assertEqual(len({str(case) for case in cases}), len(cases))
        self.assertTrue(all(case.has_peers or case.limit_us
                            for case in list_device_cases(quick=True)))


class Workers(unittest.TestCase):
    def expect_failure(self, worker, words, **arguments):
        with contextlib.closing(worker), self.assertRaises(WorkerFailed) as caught:
            worker.ask("add_n", **arguments)
        self.assertIn(words, str(caught.exception))

    def test_one_that_ends_says_its_last_words(self):
        self.expect_failure(python_worker("test_ends", "import nothing_like_it"),
                            "test_ends ended early: ModuleNotFoundError", most_seconds=60)

    def test_one_that_sleeps_is_ended(self):
        self.expect_failure(python_worker("test_sleeps", "import time; time.sleep(600)"),
                            "test_sleeps did not answer within 1 s", most_seconds=1)

    def test_turns_go_on_without_a_peer_that_died(self):
        echo = "while True: input(); print('{\"fanin\": 1.0, \"limit\": 1.0}', flush=True)"
        workers = [python_worker("test_fanin", echo),
                   python_worker("test_dies", "raise SystemExit(3)")]
        effort = Effort(rounds=2, seconds=0, patience=0, most_seconds=1e9, answer_seconds=60)
        turns = Turns(list(workers), effort)
        with contextlib.ExitStack() as stack:
            for worker in workers:
                stack.callback(worker.close)
            cases = list_cases(quick=True)[:1]
            answers = dict((str(case), answers) for case, answers in turns.take(cases, 0))
        self.assertEqual(answers, {str(cases[0]): [{"fanin": 1.0, "limit": 1.0}] * 2})
        self.assertEqual(turns.notes[0],
                         "test_dies ended early: exit code 3; it was not asked again")
        self.assertEqual(turns.workers, workers[:1])


class Commands(unittest.TestCase):
    def expect_refused(self, words, *arguments):
        program = Path(__file__).resolve().parent / "run"
        run = subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True,
                             check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn(words, run.stderr)

    def test_wrong_ones_are_answered_with_a_sentence(self):
        self.expect_refused('there is no benchmark "sum"; use one of: sums', "sum")
        self.expect_refused('--only: no case has "no such" in its name; one is "overhead direct',
                            "schedules", "--only", "no such")
        self.expect_refused("--only: missing )", "schedules", "--only", "(")
        self.expect_refused("its folder is not there", "sums", "--json", "no/such/folder/a.json")


if __name__ == "__main__":
    unittest.main()
