"""Tests of what ./bench/run allreduce is made of; nothing is measured."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from allreduce import Effort  # noqa: E402
from allreduce_cases import KIB, MIB, Case, Point, list_cases  # noqa: E402
from allreduce_rows import make_rows  # noqa: E402
from page import make_page  # noqa: E402
from placement import classify  # noqa: E402
from quiet import Patience  # noqa: E402
from team import Launch, Team  # noqa: E402
from team_turns import Sample, TeamTurns  # noqa: E402
from worker import WorkerFailed  # noqa: E402


def samples_of(who, placements, micros, memory="private"):
    return [Sample(who, memory, number, placement, (micros * 1e-6,) * 9 + (2 * micros * 1e-6,))
            for number, placement in enumerate(placements)]


class Rows(unittest.TestCase):
    def test_placements_are_apart_and_have_targets_of_their_own(self):
        case = Case(Point(2, 32 * KIB), "private")
        samples = (samples_of("fanin", ["near", "near", "far"], 4)
                   + samples_of("limit", ["near", "near", "far"], 3)
                   + samples_of("openmpi", ["near", "far", "near"], 10))
        near, far = make_rows(case, samples, 32 * KIB)
        self.assertEqual((near.placement, far.placement), ("near", "far"))
        self.assertEqual((near.peers["openmpi"].target, far.peers["openmpi"].target), (3, 1.5))
        self.assertAlmostEqual(near.peers["openmpi"].ratio, 2.5)
        self.assertAlmostEqual(near.ratio_to_limit, 0.75)

    def test_without_the_limit_at_a_placement_there_is_no_row(self):
        samples = samples_of("fanin", ["near", "far"], 4) + samples_of("limit", ["near"], 3)
        rows = make_rows(Case(Point(2, 8), "private"), samples, 8)
        self.assertEqual([row.placement for row in rows], ["near"])

    def test_peers_stand_beside_registered_memory_too(self):
        samples = (samples_of("fanin", ["near"], 1, "registered")
                   + samples_of("limit", ["near"], 1, "registered")
                   + samples_of("limit", ["near"], 7) + samples_of("openmpi", ["near"], 8))
        row = make_rows(Case(Point(2, 32 * KIB), "registered"), samples, 32 * KIB)[0]
        self.assertAlmostEqual(row.limit, 1)
        self.assertEqual(row.peers["openmpi"].target, 8)

    def test_figures_are_over_all_calls(self):
        samples = samples_of("fanin", ["near"], 10) + samples_of("limit", ["near"], 10)
        json_row = make_rows(Case(Point(4, MIB), "private"), samples, MIB)[0].to_json()
        self.assertAlmostEqual(json_row["p50_us"], 10)
        self.assertAlmostEqual(json_row["p99_us"], 20)
        self.assertAlmostEqual(json_row["mean_us"], 11)
        self.assertAlmostEqual(json_row["algbw_GBps"], MIB / 1e4)
        self.assertAlmostEqual(json_row["busbw_GBps"], 1.5 * MIB / 1e4)

    def test_with_a_busy_core_three_times_the_idle_time_is_allowed(self):
        samples = samples_of("fanin", ["near"], 12) + samples_of("idle", ["near"], 5)
        row = make_rows(Case(Point(2, MIB, is_busy=True), "private"), samples, MIB)[0]
        self.assertAlmostEqual(row.limit, 15)
        self.assertEqual(row.target_limit, 1.0)
        self.assertEqual(row.peers, {})


class Pages(unittest.TestCase):
    def test_a_page_has_curves_of_rows_with_sizes(self):
        rows = []
        for size in (8, KIB, MIB):
            samples = samples_of("fanin", ["near"], 1) + samples_of("limit", ["near"], 1)
            samples += samples_of("gloo", ["near"], 9)
            rows += make_rows(Case(Point(2, size), "private"), samples, size)
        page = make_page(rows, "a < b", ["footer"], ["a note"])
        for words in ("<h1>a &lt; b</h1>", "2 processes, private, near: time of one call, µs",
                      "<title>gloo, 1 MiB: 9 µs</title>", "bus bandwidth, GB/s", "<li>a note</li>"):
            self.assertIn(words, page)
        self.assertNotIn("time of one call", make_page(rows[:2], "title", [], []))


class Cases(unittest.TestCase):
    def test_all_reduce_has_the_targets_that_were_set(self):
        def target(placement, point, memory):
            case = Case(point, memory)
            return case.target(placement), case.target_limit(placement)

        self.assertEqual(target("near", Point(2, 128 * MIB), "private"), (2, 0.7))
        self.assertEqual(target("near", Point(2, 128 * MIB), "registered"), (2.8, 0.95))
        self.assertEqual(target("far", Point(2, 128 * MIB), "registered"), (4, None))
        self.assertEqual(target("far", Point(2, 8), "private"), (None, None))
        self.assertEqual(target("near", Point(8, 8), "private"), (1.3, None))
        self.assertEqual(target("near", Point(2, model="resnet50"), "registered"), (3.5, None))
        self.assertEqual(target("mixed", Point(2, MIB), "private"), (None, None))

    def test_all_reduce_names_each_case_once(self):
        for quick in (True, False):
            names = [str(case) for case in list_cases(quick)]
            self.assertEqual(len(set(names)), len(names))

    def test_placements_follow_from_how_long_a_line_takes(self):
        for nanoseconds, wanted in (([40], "near"), ([165], "far"), ([15], "mixed"),
                                    ([66, 256], "mixed"), ([], "none"), ([None], "unknown")):
            self.assertEqual(classify(nanoseconds), wanted)


RANK = """
import json, os, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect(os.environ["BENCH_FOLDER"] + "/driver")
driver = line.makefile("rw")
rank = int(os.environ["RANK"])
print(json.dumps({"rank": rank, "pid": os.getpid(), "version": "7"}), file=driver, flush=True)
for request in driver:
    verb, *words = request.split()
    answer = {}
    if verb == "make":
        is_there = words[0] == "private"
        answer = {"calls": ["slow", "fast"]} if is_there else {"error": "there is none"}
    if verb == "run" and sys.argv[1] == "dies" and rank == 0:
        sys.exit("it fell over")
    if verb == "run":
        answer = {"seconds": [(2 - int(words[1])) * (1 + rank)] * 3}
    print(json.dumps(answer), file=driver, flush=True)
"""


class StillCores:
    def probe(self, _):
        return "near"


class MovingCores:
    def __init__(self):
        self.probes = 0

    def probe(self, _):
        self.probes += 1
        return "near" if self.probes % 2 else "far"


class Teams(unittest.TestCase):
    effort = Effort(rounds=2, seconds=0, patience=0, most_seconds=1e9, answer_seconds=60,
                    most_call_seconds=60)

    def start(self, name, behaviour="works"):
        launch = Launch(name, lambda _: [sys.executable, "-c", RANK, behaviour],
                        lambda rank, size, folder: {"RANK": str(rank)})
        team = Team(launch, 2)
        self.addCleanup(team.close)
        team.gather(most_seconds=60)
        return team

    def take(self, teams, placement=None, deadline=1e18):
        turns = TeamTurns(teams, placement or StillCores(), self.effort, Patience(0), deadline)
        return turns.take(Point(2, 8), ["private", "registered"], "counts"), list(turns.notes())

    def test_a_sample_is_the_slowest_rank_by_the_fastest_call(self):
        samples, notes = self.take([self.start("team_test_fanin")])
        self.assertEqual([(each.round, each.memory, each.seconds) for each in samples],
                         [(0, "private", (2, 2, 2)), (1, "private", (2, 2, 2))])
        self.assertEqual(notes, [])

    def test_a_team_that_refuses_stays_and_one_that_dies_goes(self):
        teams = [self.start("fanin"), self.start("team_test_dies", "dies")]
        samples, notes = self.take(teams)
        self.assertEqual([team.name for team in teams], ["fanin"])
        self.assertEqual({sample.who for sample in samples}, {"fanin"})
        self.assertEqual(notes, ["fanin: there is none (2 processes, 8 B, registered)",
                                 "team_test_dies ended early: it fell over; it was not asked again"])

    def test_samples_during_which_the_cores_moved_are_dropped(self):
        samples, notes = self.take([self.start("team_test_fanin")], MovingCores())
        self.assertEqual(samples, [])
        self.assertEqual(notes, ["6 samples were dropped, because the cores moved"])

    def test_no_round_begins_after_the_deadline(self):
        samples, notes = self.take([self.start("team_test_fanin")], deadline=0)
        self.assertEqual([sample.round for sample in samples], [0])
        self.assertEqual(notes, ["there was time for 1 of 2 rounds (2 processes, 8 B)"])

    def test_one_whose_ranks_do_not_come_says_why(self):
        team = Team(Launch("team_test_ends", lambda _: [sys.executable, "-c", "import no_such"]), 2)
        self.addCleanup(team.close)
        with self.assertRaises(WorkerFailed) as caught:
            team.gather(most_seconds=60)
        self.assertIn("team_test_ends ended early: ModuleNotFoundError", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
