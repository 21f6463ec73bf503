"""The cases of the benchmark `allreduce`, with their targets."""
from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20
SIZES = (8, KIB, 32 * KIB, MIB, 16 * MIB, 128 * MIB)
MODELS = ("resnet50", "bert-base")
MEMORIES = ("private", "registered")
MOST_TIMES_SLOWER_WHEN_BUSY = 3

# How many times faster than every peer: {bytes: (private, registered)}.
TWO_NEAR = {8: (1.5, 1.5), KIB: (2, 2), 32 * KIB: (3, 8), MIB: (1.8, 5), 16 * MIB: (2.2, 4),
            128 * MIB: (2, 2.8)}
TWO_FAR = {size: (1.5, 4) for size in SIZES if size >= 32 * KIB}
FOUR_AND_EIGHT_NEAR = {8: (1.3, None), KIB: (1, None),
                       **{size: (2, 4) for size in SIZES if size >= 32 * KIB}}
MODELS_NEAR = {"resnet50": (2, 3.5)}
# Share of the limit, near.
TWO_LIMIT_NEAR = {128 * MIB: (0.7, 0.95)}


def amount(size):
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


@dataclass(frozen=True)
class Point:
    """What is summed among how many processes. Peers do it once for all kinds of memory."""
    processes: int
    size: int = 0  # bytes of one tensor
    model: str = ""  # or all gradients of this
    is_busy: bool = False  # another program keeps a core busy

    @property
    def where(self):
        """Points with the same share the processes."""
        return f"{self.processes} processes"

    @property
    def what(self):
        return f"gradients of {self.model}" if self.model else amount(self.size)

    def __str__(self):
        return f"{self.where}, {self.what}{', one core busy' if self.is_busy else ''}"


@dataclass(frozen=True)
class Case:
    point: Point
    memory: str

    def __str__(self):
        return f"all_reduce {self.point}, {self.memory}"

    def _of(self, table, key):
        return table.get(key, (None, None))[MEMORIES.index(self.memory)]

    def target(self, placement):
        """How many times faster than each peer Fanin must be; None where nothing is asked for."""
        point = self.point
        if point.is_busy:
            return None
        if point.model:
            return self._of(MODELS_NEAR, point.model) if placement == "near" else None
        if point.processes == 2:
            tables = {"near": TWO_NEAR, "far": TWO_FAR}
            return self._of(tables.get(placement, {}), point.size)
        return self._of(FOUR_AND_EIGHT_NEAR, point.size) if placement == "near" else None

    def target_limit(self, placement):
        if self.point.is_busy:
            return 1.0
        if self.point.processes != 2 or self.point.model or placement != "near":
            return None
        return self._of(TWO_LIMIT_NEAR, self.point.size)

    def panel(self, placement):
        if self.point.is_busy:
            return f"one core busy, {placement}, 1 = {MOST_TIMES_SLOWER_WHEN_BUSY} x idle"
        kind = "gradients, " if self.point.model else ""
        return f"{kind}{self.point.processes} processes, {self.memory}, {placement}"

    @property
    def label(self):
        if self.point.is_busy:
            return f"{amount(self.point.size)}, {self.memory}"
        return self.point.model or amount(self.point.size)


def list_points(quick):
    if quick:
        return [Point(2, size) for size in (8, 32 * KIB, MIB, 16 * MIB)] + [
            Point(2, MIB, is_busy=True), Point(2, model="resnet50"), Point(4, 8), Point(4, MIB)]
    points = [Point(processes, size) for processes in (2, 4, 8) for size in SIZES]
    points += [Point(2, model=model) for model in MODELS]
    points.append(Point(2, MIB, is_busy=True))
    return sorted(points, key=lambda point: point.processes)


def list_cases(quick):
    return [Case(point, memory) for point in list_points(quick)
            for memory in (("private",) if point.is_busy else MEMORIES)]
