"""The MPI libraries of this system: how each compiles a rank, and how it starts some on one host."""
import shutil
import subprocess
import sys
from dataclasses import dataclass

from environments import ROOT, find_python
from peer_ranks import compile_rank
from team import usable_cores

SOURCE = "mpi_allreduce.cc"


@dataclass(frozen=True)
class Mpi:
    """One from Debian, where the names of programs end in the library's."""
    name: str
    packages: str

    def is_installed(self):
        return bool(shutil.which(f"mpirun.{self.name}") and shutil.which(f"mpicxx.{self.name}"))

    def compile(self):
        """The path of a rank that calls MPI_Allreduce, or None after a sentence."""
        return compile_rank(self.name, SOURCE, f"mpicxx.{self.name}",
                            ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"])

    def command(self, size, program):
        """Ranks choose their cores themselves; those of Open MPI that share one yield."""
        if self.name == "mpich":
            return ["mpirun.mpich", "-bind-to", "none", "-np", str(size), program]
        shared = ["--oversubscribe"] if size > len(usable_cores()) else []
        return ["mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", *shared, "-np",
                str(size), program]


OPENMPI = Mpi("openmpi", "openmpi-bin and libopenmpi-dev")
MPICH = Mpi("mpich", "mpich and libmpich-dev")


def find_mpis(may_install):
    """Those that are there or could be installed, and a sentence for each other one."""
    if may_install:
        subprocess.run([ROOT / "tools" / "packages.sh", "mpi"], check=False)
    found = [mpi for mpi in (OPENMPI, MPICH) if mpi.is_installed()]
    why = "" if may_install else ", and --quick installs nothing"
    return found, [f"{mpi.name} needs the packages {mpi.packages}{why}: not measured"
                   for mpi in (OPENMPI, MPICH) if mpi not in found]


def find_intel(may_install):
    """(rank, folder) of Intel MPI from PyPI, or None after a sentence."""
    if not find_python("intelmpi", may_install):
        return None
    folder = ROOT / ".venvs" / "intelmpi"
    libraries = folder / "lib"
    program = compile_rank("intelmpi", SOURCE, "g++",
                           ["-DMPICH_SKIP_MPICXX", "-isystem", folder / "include", "-L", libraries,
                            "-lmpi", f"-Wl,-rpath,{libraries}"])
    return (program, folder) if program else None


def tell(sentences):
    for sentence in sentences:
        print(sentence, file=sys.stderr)
