"""Programs of peers for the benchmarks between processes, compiled against what is installed."""
import subprocess
import sys

from environments import ROOT

BENCH, MADE = ROOT / "bench", ROOT / "build" / "bench"


def compile_rank(name, source, compiler, flags):
    """The path of a peer's rank, up to date, or None after a sentence. `source` is in bench/peers/."""
    program = MADE / f"{name}_allreduce"
    sources = [BENCH / "peers" / source, BENCH / "rank.cc", BENCH / "start_line.cc"]
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
    print(f"bench/peers/{source} does not compile for {name} (see build/bench/{log.name}): "
          "not measured", file=sys.stderr)
    return None
