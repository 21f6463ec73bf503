"""Tests of what ./bench/run overlap is made of; nothing is measured."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from overlap import Effort  # noqa: E402
from overlap_cases import FIXED_PACKS, KIB, MIB, Case, list_cases  # noqa: E402
from overlap_rows import make_memory_row, make_rows  # noqa: E402
from overlap_teams import Ddp, Fanin  # noqa: E402
from overlap_turns import OverlapTurns, Sample  # noqa: E402
from page import make_page  # noqa: E402
from quiet import Patience  # noqa: E402
from worker import WorkerFailed  # noqa: E402


def sample(number=0, placement="near", who="fanin", **millis):
    """The median of each part is as given; one iteration is slow."""
    return Sample(who, number, placement,
                  {part: [value * 1e-3, value * 1e-3, 9] for part, value in millis.items()})


def packs_sample(automatic, *fixed, number=0):
    return Sample("fanin", number, "near", {"step": [automatic * 1e-3], **{
        packs: [millis * 1e-3] for packs, millis in zip(FIXED_PACKS, fixed)}})


class Rows(unittest.TestCase):
    def test_a_backward_that_waits_hides_the_shorter_of_both(self):
        row, = make_rows(Case("hide"), [sample(step=11, compute=8, communicate=10)], [MIB])
        self.assertAlmostEqual(row.limit, 10_000)
        self.assertAlmostEqual(row.ratio_to_limit, 10 / 11)
        self.assertAlmostEqual(row.target_limit, 1 / 1.1)
        self.assertAlmostEqual(row.more["shown_us"], 3000)
        self.assertAlmostEqual(row.more["hidden_share"], 0.7)
        self.assertEqual(row.more["bytes_per_pack"], [MIB])

    def test_the_longer_of_both_is_found_round_by_round(self):
        rows = make_rows(Case("hide"), [sample(0, step=10, compute=10, communicate=5),
                                        sample(1, step=10, compute=5, communicate=8)], [MIB])
        self.assertEqual([round(each, 6) for each in rows[0].ratios], [1, 0.8])

    def test_on_the_same_cores_both_take_their_time_and_ddp_stands_beside(self):
        samples = [sample(step=63, compute=50, communicate=10),
                   sample(who="ddp", step=126, compute=50)]
        row, = make_rows(Case("hide", backward="computes"), samples, [MIB])
        self.assertAlmostEqual(row.limit, 60_000)
        self.assertAlmostEqual(row.target_limit, 1 / 1.05)
        self.assertAlmostEqual(row.peers["ddp"].ratio, 2)
        self.assertEqual(row.peers["ddp"].target, 1.5)
        self.assertAlmostEqual(row.peers["ddp"].more["shown_us"], 76_000)

    def test_automatic_packs_stand_beside_the_best_fixed_ones_of_all_rounds(self):
        rows = make_rows(Case("packs"), [packs_sample(11, 20, 15, 10, 12, 13, 14),
                                         packs_sample(11, 5, 15, 10, 12, 13, 14, number=1),
                                         packs_sample(11, 20, 15, 10, 12, 13, 14, number=2)],
                         [4 * MIB, MIB, MIB])
        self.assertAlmostEqual(rows[0].limit, 10_000)
        self.assertEqual([round(each, 6) for each in rows[0].ratios], [round(10 / 11, 6)] * 3)
        self.assertEqual(rows[0].more["bytes_per_pack"], [MIB, 4 * MIB])
        self.assertAlmostEqual(rows[0].more["step_us_by_bytes_per_pack"][str(256 * KIB)], 20_000)

    def test_a_trace_stands_beside_the_step_without(self):
        row, = make_rows(Case("trace"), [sample(traced=10.1, step=10)], [MIB])
        self.assertAlmostEqual((row.fanin, row.limit), (10_100, 10_000))
        self.assertAlmostEqual(row.target_limit, 1 / 1.02)

    def test_placements_are_apart(self):
        samples = [sample(placement=placement, step=11, compute=10, communicate=10)
                   for placement in ("far", "near")]
        self.assertEqual([row.placement for row in make_rows(Case("hide"), samples, [])],
                         ["near", "far"])

    def test_memory_is_what_is_there_beside_what_is_needed(self):
        ranks = [{"grown_bytes": 102 * MIB, "needed_bytes": 100 * MIB},
                 {"grown_bytes": 104 * MIB, "needed_bytes": 100 * MIB}]
        row = make_memory_row(Case("memory", optimizer="sgd"), [ranks] * 3)
        self.assertEqual((row.fanin, row.limit, row.unit, row.target_limit), (3, 4, "MiB", 1))


class Pages(unittest.TestCase):
    def test_a_page_has_a_curve_of_packs_and_columns_that_have_a_value(self):
        rows = make_rows(Case("packs"), [packs_sample(11, 20, 15, 10, 12, 13, 14)], [4 * MIB])
        rows += make_rows(Case("hide"), [sample(step=11, compute=8, communicate=10)], [MIB])
        page = make_page(rows, "title", [], [])
        for words in ("step over bytes of a pack, ms", "<title>automatic, 4 MiB: 11.0 ms</title>",
                      "<title>256 KiB: 20.0 ms</title>", "<title>all: 14.0 ms</title>",
                      "<th>communication</th>", "<td>8 ms</td>"):
            self.assertIn(words, page)
        self.assertNotIn("p99", page)
        self.assertNotIn("bytes of a pack", make_page(rows[1:], "title", [], []))


class Cases(unittest.TestCase):
    def test_each_is_named_once(self):
        for quick in (True, False):
            names = [str(case) for case in list_cases(quick)]
            self.assertEqual(len(set(names)), len(names))

    def test_memory_has_processes_of_its_own(self):
        self.assertEqual(Case("hide").where, Case("packs", backward="computes").where)
        self.assertNotIn(Case("memory", optimizer="sgd").where,
                         (Case("hide").where, Case("memory", optimizer="adam").where))


class FakeTeam:
    """Answers as two ranks do, the second slower, and remembers what it was asked."""

    def __init__(self, name, ranks=(1, 2)):
        self.name, self.ranks, self.asked = name, ranks, []

    def ask(self, verb, *words, most_seconds):
        self.asked.append((verb, *words))
        if verb == "choose":
            return [{"bytes_per_pack": MIB} for _ in self.ranks]
        if verb == "calibrate":
            return [{"sweeps": [1000.0 * rank]} for rank in self.ranks]
        iterations = max(i for i, word in enumerate(words) if not isinstance(word, str))
        parts = words[iterations + 1:]
        return [{"seconds": [[0.01 * rank * (at + 1)] * words[iterations] for at in range(len(parts))]}
                for rank in self.ranks]


class FailingTeam(FakeTeam):
    def ask(self, *_, **__):
        raise WorkerFailed("ddp ended early: it fell over")


class StillCores:
    def probe(self, _):
        return "near"


class MovingCores:
    probes = 0

    def probe(self, _):
        self.probes += 1
        return "near" if self.probes % 2 else "far"


class Turns(unittest.TestCase):
    effort = Effort(rounds=2, seconds=0, patience=0, most_seconds=1e9, answer_seconds=60)

    def take(self, case, players, placement=None, deadline=1e18):
        turns = OverlapTurns(placement or StillCores(), self.effort, Patience(0), deadline)
        return turns.take(case, players, lambda words: None), turns

    def test_a_turn_waits_as_long_as_communication_takes_and_counts_the_slowest_rank(self):
        team, case = FakeTeam("fanin"), Case("hide", times=2)
        samples, _ = self.take(case, [Fanin(team, self.effort, case)])
        self.assertEqual([sample.round for sample in samples], [0, 1])
        self.assertEqual(list(samples[0].seconds), ["step", "compute", "communicate"])
        self.assertEqual(samples[0].seconds["step"], [0.02, 0.02, 0.02])
        self.assertIn(("run", "waits", 0, 7, f"communicate:{MIB}"), team.asked)
        self.assertEqual(team.asked[-1], ("run", "waits", 0.04, 3, f"step:{MIB}", "compute",
                                          f"communicate:{MIB}"))

    def test_packs_are_measured_beside_all_fixed_ones(self):
        team, case = FakeTeam("fanin"), Case("packs", backward="computes")
        samples, _ = self.take(case, [Fanin(team, self.effort, case)])
        self.assertEqual(list(samples[0].seconds), ["step", *FIXED_PACKS])
        self.assertEqual(team.asked[-1][:3], ("run", "computes", 1500.0))

    def test_ddp_has_fewer_sweeps_and_its_best_buckets(self):
        case = Case("hide", backward="computes")
        fanin, team = Fanin(FakeTeam("fanin"), self.effort, case), FakeTeam("ddp")
        samples, _ = self.take(case, [fanin, Ddp(team, self.effort, fanin, ["compute", "step:1", "step:2"])])
        self.assertEqual([each.who for each in samples], ["fanin", "ddp", "ddp", "fanin"])
        # Of 50 ms, 20 go without a sweep.
        self.assertEqual(team.asked[-1], ("run", 1500 * 0.6, 3, "step:1", "compute"))

    def test_a_peer_that_dies_goes_and_fanin_stays(self):
        case = Case("hide", backward="computes")
        fanin = Fanin(FakeTeam("fanin"), self.effort, case)
        samples, turns = self.take(case, [fanin, Ddp(FailingTeam("ddp"), self.effort, fanin, ["step:1"])])
        self.assertEqual([each.who for each in samples], ["fanin", "fanin"])
        self.assertEqual(turns.notes, ["ddp ended early: it fell over; it was not asked again"])

    def test_samples_during_which_the_cores_moved_are_dropped(self):
        case = Case("hide")
        samples, turns = self.take(case, [Fanin(FakeTeam("fanin"), self.effort, case)], MovingCores())
        self.assertEqual((samples, turns.dropped_count), ([], 6))

    def test_no_round_begins_after_the_deadline(self):
        case = Case("hide")
        samples, turns = self.take(case, [Fanin(FakeTeam("fanin"), self.effort, case)], deadline=0)
        self.assertEqual(len(samples), 1)
        self.assertEqual(turns.notes, [f"there was time for 1 of 2 rounds ({case})"])


if __name__ == "__main__":
    unittest.main()
