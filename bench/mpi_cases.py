"""The cases of the benchmark `mpi`, with their targets."""
from dataclasses import dataclass

from allreduce_cases import KIB, MIB, SIZES
from allreduce_cases import Case as HostCase
from allreduce_cases import Point as HostPoint

HOSTS = 2
LIMIT_OF_WIRE = {16 * MIB: 0.9, 128 * MIB: 0.9}
MODEL = "resnet50"
# Also where the sum is still short, but the wire matters.
WIRE_SIZES = sorted((*SIZES, 8 * KIB))


@dataclass(frozen=True)
class Point(HostPoint):
    """What is summed by ranks of an MPI job, on this host or across a wire."""
    mpi: str = ""
    hosts: int = 1

    @property
    def place(self):
        if self.hosts == 1:
            return f"1 host x {self.processes} ranks"
        return f"{self.hosts} hosts x {self.processes // self.hosts} ranks"

    @property
    def where(self):
        return f"{self.mpi}, {self.place}"


@dataclass(frozen=True)
class Case(HostCase):
    """Nowhere slower than MPI_Allreduce; on one host what `allreduce` asks of private memory."""
    point: Point
    memory: str = "private"

    def __str__(self):
        return f"all_reduce {self.point}"

    def target(self, placement):
        return (super().target(placement) if self.point.hosts == 1 else None) or 1.0

    def target_limit(self, placement):
        if self.point.hosts == 1:
            return super().target_limit(placement)
        return LIMIT_OF_WIRE.get(self.point.size)

    def panel(self, placement):
        apart = f", {placement}" if self.point.hosts == 1 else ", 1 Gbit/s"
        return f"{'gradients, ' if self.point.model else ''}{self.point.where}{apart}"


def list_points(quick, mpi):
    """Those of one host before those across the wire."""
    def points(hosts, processes, sizes, has_model):
        listed = [Point(processes, size, mpi=mpi, hosts=hosts) for size in sizes]
        return listed + [Point(processes, model=MODEL, mpi=mpi, hosts=hosts)] * has_model

    if quick:
        return [*points(1, 2, (8, 32 * KIB, MIB, 16 * MIB), True), *points(1, 4, (8, MIB), False),
                *points(HOSTS, 2 * HOSTS, (8, 32 * KIB, MIB, 16 * MIB), False)]
    return [*points(1, 2, SIZES, True), *points(1, 4, SIZES, True),
            *points(HOSTS, 2 * HOSTS, WIRE_SIZES, True)]


def list_cases(quick, mpis=("openmpi", "mpich")):
    return [Case(point) for mpi in mpis for point in list_points(quick, mpi)]
