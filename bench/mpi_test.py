"""Tests of what ./bench/run mpi is made of; nothing is measured."""
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import mpi  # noqa: E402
import mpis  # noqa: E402
from allreduce_cases import KIB, MIB  # noqa: E402
from allreduce_rows import make_rows  # noqa: E402
from mpi_cases import Case, Point, list_cases  # noqa: E402
from page import make_page  # noqa: E402
from team_turns import Sample  # noqa: E402
from wires import Wires  # noqa: E402


def samples_of(who, placement, micros):
    return [Sample(who, "private", number, placement, (micros * 1e-6,) * 3) for number in range(3)]


def wire_rows(size, fanin, limit, peer):
    case = Case(Point(4, size, mpi="mpich", hosts=2))
    samples = (samples_of("fanin", "none", fanin) + samples_of("limit", "none", limit)
               + samples_of("mpich", "none", peer))
    return make_rows(case, samples, size)


class Rows(unittest.TestCase):
    def test_across_the_wire_the_limit_and_the_mpi_have_targets(self):
        row, = wire_rows(16 * MIB, 160_000, 140_000, 240_000)
        self.assertEqual(row.name, "all_reduce mpich, 2 hosts x 2 ranks, 16 MiB")
        self.assertEqual([(what, round(ratio, 3), target) for what, ratio, target in row.checks()],
                         [("limit", 0.875, 0.9), ("mpich", 1.5, 1.0)])
        self.assertAlmostEqual(row.more["busbw_GBps"], 1.5 * 16 * MIB / 160e6)

    def test_small_ones_across_the_wire_need_only_be_as_fast_as_the_mpi(self):
        row, = wire_rows(8, 150, 15, 60)
        self.assertEqual([(what, target) for what, _, target in row.checks()], [("mpich", 1.0)])

    def test_on_one_host_targets_are_those_of_private_memory_and_of_the_placement(self):
        case = Case(Point(2, 32 * KIB, mpi="openmpi"))
        samples = [sample for placement in ("near", "far", "mixed") for who in
                   ("fanin", "limit", "openmpi") for sample in samples_of(who, placement, 4)]
        rows = make_rows(case, samples, 32 * KIB)
        self.assertEqual([(row.placement, row.peers["openmpi"].target) for row in rows],
                         [("near", 3), ("far", 1.5), ("mixed", 1.0)])
        self.assertEqual(rows[0].name, "all_reduce openmpi, 1 host x 2 ranks, 32 KiB, near")

    def test_a_page_has_curves_of_each_place(self):
        rows = [row for size in (8, KIB, MIB) for row in wire_rows(size, 3, 2, 4)]
        self.assertIn("mpich, 2 hosts x 2 ranks, 1 Gbit/s: time of one call, µs",
                      make_page(rows, "title", [], []))


class Cases(unittest.TestCase):
    def test_each_is_named_once(self):
        for quick in (True, False):
            names = [str(case) for case in list_cases(quick)]
            self.assertEqual(len(set(names)), len(names))

    def test_all_sizes_and_a_model_are_measured_at_every_place(self):
        names = [str(case) for case in list_cases(quick=False)]
        for place in ("1 host x 2 ranks", "1 host x 4 ranks", "2 hosts x 2 ranks"):
            for what in ("8 B", "128 MiB", "gradients of resnet50"):
                self.assertIn(f"all_reduce mpich, {place}, {what}", names)
        self.assertIn("all_reduce mpich, 2 hosts x 2 ranks, 8 KiB", names)

    def test_without_namespaces_one_host_remains_and_a_note_says_why(self):
        notes, cases = [], list_cases(quick=True)
        with mock.patch("os.geteuid", return_value=1000):
            left = mpi.leave_out_wires(cases, notes)
        self.assertEqual({case.point.hosts for case in left}, {1})
        self.assertEqual(notes, ["only root can make network namespaces: "
                                 "nothing was measured across a wire"])


class Commands(unittest.TestCase):
    def test_what_is_not_installed_is_noted_with_its_packages(self):
        with mock.patch("shutil.which", lambda name: None if "mpich" in name else name):
            found, notes = mpis.find_mpis(may_install=False)
        self.assertEqual(found, [mpis.OPENMPI])
        self.assertEqual(notes, ["mpich needs the packages mpich and libmpich-dev, and --quick "
                                 "installs nothing: not measured"])

    def test_open_mpi_is_told_when_ranks_share_cores(self):
        with mock.patch("mpis.usable_cores", return_value=[0, 1]):
            self.assertNotIn("--oversubscribe", mpis.OPENMPI.command(2, "rank"))
            self.assertIn("--oversubscribe", mpis.OPENMPI.command(4, "rank"))

    def test_ranks_are_spread_over_the_hosts(self):
        command = Wires(2).command("mpich", 4, "rank")
        self.assertEqual(command[3:], ["mpich", "2", "2", "rank"])


if __name__ == "__main__":
    unittest.main()
