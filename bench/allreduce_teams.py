"""Who takes part in the benchmark `allreduce`, and how each is started at its best."""
import shutil
import subprocess
import sys

from beside_peers import SETTINGS
from environments import ROOT, build_program, find_python
from team import Launch, usable_cores

BENCH, MADE = ROOT / "bench", ROOT / "build" / "bench"

# Memory that Open MPI has given back to the allocator stays mapped.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "8000000000",
               "MALLOC_TOP_PAD_": "268435456"}


def compile_rank(name, compiler, flags):
    """The path of a peer's rank, up to date, or None after a sentence."""
    program = MADE / f"{name}_allreduce"
    sources = [BENCH / "peers" / f"{name}_allreduce.cc", BENCH / "rank.cc", BENCH / "start_line.cc"]
    parts = [*sources, *BENCH.glob("*.h"), *BENCH.glob("peers/*.h")]
    if program.exists() and program.stat().st_mtime > max(part.stat().st_mtime for part in parts):
        return str(program)
    MADE.mkdir(parents=True, exist_ok=True)
    log = MADE / f"{name}_build.log"
    with open(log, "w") as output:
        done = subprocess.run([compiler, "-std=c++20", "-O2", *sources, "-o", program, *flags],
                              stdout=output, stderr=output, check=False)
    if done.returncode == 0:
        return str(program)
    print(f"bench/peers/{name}_allreduce.cc does not compile (see build/bench/{log.name}): "
          "not measured", file=sys.stderr)
    return None


def own_rank(rank, size, _):
    return {"BENCH_RANK": str(rank), "BENCH_SIZE": str(size)}


def launch_fanin(program):
    def environment(rank, size, folder):
        return {"FANIN_RANK": str(rank), "FANIN_WORLD_SIZE": str(size),
                "FANIN_RENDEZVOUS": f"file:{folder}/rendezvous"}
    return Launch("fanin", lambda size: [program], environment)


def find_openmpi(may_install):
    if may_install and subprocess.run([ROOT / "tools" / "packages.sh", "openmpi"],
                                      check=False).returncode != 0:
        return []
    if not shutil.which("mpirun.openmpi"):
        print("mpirun.openmpi is not installed"
              + ("" if may_install else ", and --quick installs nothing") + ": not measured",
              file=sys.stderr)
        return []
    program = compile_rank("openmpi", "mpicxx.openmpi", ["-DOMPI_SKIP_MPICXX"])
    if not program:
        return []

    def command(size):
        # Ranks choose their cores themselves; those that share one must yield.
        shared = ["--oversubscribe"] if size > len(usable_cores()) else []
        return ["mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", *shared, "-np",
                str(size), program]

    return [Launch("openmpi", command, has_launcher=True),
            Launch("openmpi_tuned", command, lambda *_: KEEP_MEMORY, has_launcher=True)]


def find_oneccl(may_install):
    python = find_python("oneccl", may_install)
    if not python:
        return []
    folder = ROOT / ".venvs" / "oneccl"
    libraries = folder / "lib"
    program = compile_rank("oneccl", "g++", ["-isystem", folder / "include", "-L", libraries,
                                             "-lccl", f"-Wl,-rpath,{libraries}"])
    if not program:
        return []

    def environment(*_):
        return {"LD_LIBRARY_PATH": str(libraries), "I_MPI_ROOT": str(folder),
                "I_MPI_FABRICS": "shm", "I_MPI_PIN": "0", "CCL_ATL_TRANSPORT": "mpi",
                "CCL_WORKER_OFFLOAD": "0"}

    launcher = str(folder / "bin" / "mpiexec.hydra")
    return [Launch("oneccl", lambda size: [launcher, "-n", str(size), program], environment,
                   has_launcher=True)]


def find_gloo(may_install):
    python = find_python("torch", may_install)
    if not python:
        return []
    line = build_program("bench_start_line")
    library = line.replace("bench_start_line", "libbench_start_line.so")

    def environment(rank, size, folder):
        return {**own_rank(rank, size, folder), **SETTINGS, "BENCH_START_LINE": library,
                "GLOO_SOCKET_IFNAME": "lo"}

    return [Launch("gloo", lambda size: [python, str(BENCH / "peers" / "gloo_allreduce.py")],
                   environment)]


def find_launches(may_install):
    """Fanin, the limit, and the peers that are there or could be installed."""
    fanin = launch_fanin(build_program("bench_allreduce"))
    limit = build_program("bench_allreduce_limit")
    return [fanin, Launch("limit", lambda size: [limit], own_rank), *find_openmpi(may_install),
            *find_oneccl(may_install), *find_gloo(may_install)]
