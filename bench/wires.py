"""Hosts that are network namespaces of this machine, with wires between them."""
import contextlib
import os
import shutil
import subprocess

from allreduce_teams import own_rank
from environments import ROOT
from team import Launch

SCRIPTS = ROOT / "tests" / "mpi"
RATE = "1gbit"
FIRST_ADDRESS = "10.83.0.1"


def why_not():
    """A sentence if there can be none here, or None."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if not (shutil.which("ip") and shutil.which("tc")):
        return "ip and tc are not installed (package iproute2)"
    probe = f"fanin-probe{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False).returncode:
        return "this system allows no network namespaces"
    subprocess.run(["ip", "netns", "del", probe], check=False)
    return None


class Wires:
    """Some hosts; `making` gives them back."""

    def __init__(self, hosts):
        self.hosts, self.id = hosts, f"fb{os.getpid()}"

    @classmethod
    @contextlib.contextmanager
    def making(cls, hosts):
        this = cls(hosts)
        try:
            subprocess.run([SCRIPTS / "wires.sh", "make", this.id, str(hosts), RATE], check=True)
            yield this
        finally:
            subprocess.run([SCRIPTS / "wires.sh", "remove", this.id, str(hosts)], check=False)

    def command(self, mpi, size, program):
        """Starts a program by this MPI, as many ranks on each host."""
        return [str(SCRIPTS / "hosts.sh"), "--on", self.id, mpi, str(self.hosts),
                str(size // self.hosts), program]

    def launch_limit(self, program):
        """One rank on each of the first two hosts."""
        def environment(rank, size, _):
            return {**own_rank(rank, size, None), "BENCH_HOST": f"{self.id}-{rank + 1}",
                    "BENCH_ADDRESS": FIRST_ADDRESS}

        command = ["sh", "-c", 'exec ip netns exec "$BENCH_HOST" "$0"', program]
        return Launch("limit", lambda _: command, environment, rank_count=2)
