"""The benchmark `mpi`: Fanin in an MPI job beside MPI_Allreduce, on one host and across a wire."""
import contextlib
import subprocess
import sys
from dataclasses import replace
from functools import partial

from allreduce import FULL, QUICK, Run
from allreduce_teams import own_rank
from environments import ROOT, build_program, fanin_version
from mpi_cases import HOSTS, list_cases
from mpis import find_mpis
from placement import NoPlacement, Placement
from team import Launch, usable_cores
from wires import Wires, why_not
from worker import Worker

QUICK_WIRE = replace(QUICK, most_call_seconds=4)
FULL_WIRE = replace(FULL, rounds=5, most_call_seconds=15)  # a call takes seconds


def build_rank(mpi):
    """An MPI program that calls Fanin. The build may be older than the MPI: then it is configured
    again."""
    module = ROOT / "build" / "release" / "lib" / "fanin" / f"fanin-{mpi.name}.so"
    if not module.exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, stdout=subprocess.DEVNULL,
                       check=False)
    return build_program(f"bench_{mpi.name}_program")


class Starter:
    """Launches of Fanin, the limit and MPI_Allreduce for each place."""

    def __init__(self, wires):
        self.wires = wires
        self.limits = {1: build_program("bench_allreduce_limit"),
                       HOSTS: build_program("bench_wire_limit")}

    def launches(self, mpi, hosts):
        """None if the MPI's own rank does not compile."""
        program = mpi.compile()
        if not program:
            return None
        fanin = build_rank(mpi)
        if hosts == 1:
            command = mpi.command
            limit = Launch("limit", lambda size: [self.limits[1]], own_rank)
        else:
            command = partial(self.wires.command, mpi.name)
            limit = self.wires.launch_limit(self.limits[hosts])
        return [Launch("fanin", partial(command, program=fanin), has_launcher=True), limit,
                Launch(mpi.name, partial(command, program=program), has_launcher=True)]


def leave_out_wires(cases, notes):
    """The cases of one host, if there can be no other ones here."""
    why = why_not() if any(case.point.hosts > 1 for case in cases) else None
    if not why:
        return cases
    notes.append(f"{why}: nothing was measured across a wire")
    return [case for case in cases if case.point.hosts == 1]


def run(choice):
    """Rows, the versions of who was measured, and sentences on what was not."""
    cases = choice.of(list_cases(choice.quick))
    mpis, notes = find_mpis(may_install=not choice.quick)
    if not mpis:
        sys.exit("./bench/run: there is no MPI; tools/packages.sh mpi installs Open MPI and MPICH")
    cases = leave_out_wires(cases, notes)
    has_wires = any(case.point.hosts > 1 for case in cases)
    near, far = (QUICK, QUICK_WIRE) if choice.quick else (FULL, FULL_WIRE)
    this = Run(near)
    with contextlib.ExitStack() as stack:
        probe = stack.enter_context(
            contextlib.closing(Worker("placement", [build_program("bench_placement")])))
        placement = Placement(probe, usable_cores())
        starter = Starter(stack.enter_context(Wires.making(HOSTS)) if has_wires else None)
        for mpi in mpis:
            measure_mpi(this, starter, mpi, [case for case in cases if case.point.mpi == mpi.name],
                        {1: (placement, near), HOSTS: (NoPlacement(), far)})
    versions = {**this.versions, "fanin": fanin_version()}
    return this.rows, versions, notes + this.notes + list(this.patience.notes())


def measure_mpi(this, starter, mpi, cases, how):
    for where in dict.fromkeys(case.point.where for case in cases):
        some = [case for case in cases if case.point.where == where]
        launches = starter.launches(mpi, some[0].point.hosts)
        if launches is None:
            this.notes.append(f"bench/peers/mpi_allreduce.cc does not compile with {mpi.name}")
            return
        this.measure(launches, some, *how[some[0].point.hosts])
