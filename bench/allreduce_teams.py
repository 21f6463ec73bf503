"""Who takes part in the benchmark `allreduce`, and how each is started at its best."""
from functools import partial

from beside_peers import SETTINGS
from environments import ROOT, build_program, find_python
from mpis import OPENMPI, find_intel, find_mpis, tell
from peer_ranks import BENCH, compile_rank
from team import Launch

# Memory that Open MPI has given back to the allocator stays mapped.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "8000000000",
               "MALLOC_TOP_PAD_": "268435456"}


def own_rank(rank, size, _):
    return {"BENCH_RANK": str(rank), "BENCH_SIZE": str(size)}


def launch_fanin(program):
    def environment(rank, size, folder):
        return {"FANIN_RANK": str(rank), "FANIN_WORLD_SIZE": str(size),
                "FANIN_RENDEZVOUS": f"file:{folder}/rendezvous"}
    return Launch("fanin", lambda size: [program], environment)


def find_debian_mpis(may_install):
    mpis, missing = find_mpis(may_install)
    tell(missing)
    launches = []
    for mpi in mpis:
        program = mpi.compile()
        if not program:
            continue
        command = partial(mpi.command, program=program)
        launches.append(Launch(mpi.name, command, has_launcher=True))
        if mpi is OPENMPI:
            launches.append(Launch("openmpi_tuned", command, lambda *_: KEEP_MEMORY,
                                   has_launcher=True))
    return launches


def launch_by_intel(name, program, folder, more=None):
    """By the mpiexec of Intel MPI in this folder, through shared memory, on cores of the ranks' own."""
    environment = {"LD_LIBRARY_PATH": str(folder / "lib"), "I_MPI_ROOT": str(folder),
                   "I_MPI_FABRICS": "shm", "I_MPI_PIN": "0", **(more or {})}
    launcher = str(folder / "bin" / "mpiexec.hydra")
    return Launch(name, lambda size: [launcher, "-n", str(size), program], lambda *_: environment,
                  has_launcher=True)


def find_intel_mpi(may_install):
    found = find_intel(may_install)
    return [launch_by_intel("intelmpi", *found)] if found else []


def find_oneccl(may_install):
    python = find_python("oneccl", may_install)
    if not python:
        return []
    folder = ROOT / ".venvs" / "oneccl"
    libraries = folder / "lib"
    program = compile_rank("oneccl", "oneccl_allreduce.cc", "g++",
                           ["-isystem", folder / "include", "-L", libraries, "-lccl",
                            f"-Wl,-rpath,{libraries}"])
    if not program:
        return []
    return [launch_by_intel("oneccl", program, folder,
                            {"CCL_ATL_TRANSPORT": "mpi", "CCL_WORKER_OFFLOAD": "0"})]


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
    return [fanin, Launch("limit", lambda size: [limit], own_rank), *find_debian_mpis(may_install),
            *find_intel_mpi(may_install), *find_oneccl(may_install), *find_gloo(may_install)]
