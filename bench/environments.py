"""Where a benchmark finds itself: the tree, the machine, and the peers' Python environments."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def find_python(name, may_install):
    """The Python that has the peer `name`, or None after a sentence that says why."""
    folder = ROOT / ".venvs" / name
    python = str(folder / "bin" / "python")
    if may_install:
        made = subprocess.run([ROOT / "tests" / "clients" / "venv.sh", name], stdout=sys.stderr,
                              check=False)
        return python if made.returncode == 0 else None
    if (folder / "installed.txt").exists():
        return python
    print(f"{name} is not in .venvs/, and --quick installs nothing: not measured", file=sys.stderr)
    return None


def build_program(target):
    """Path of a program of the release preset, up to date. Ends the benchmark if it does not build."""
    command = [ROOT / "tools" / "build.sh", "--progress", "release", target]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(1)
    return str(ROOT / "build" / "release" / "bin" / target)


def fanin_version():
    for line in (ROOT / "CMakeLists.txt").read_text().splitlines():
        if line.startswith("project(fanin VERSION"):
            return line.split()[2]
    return "unknown"


def _value_of(path, key):
    for line in Path(path).read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


def available_bytes():
    return int(_value_of("/proc/meminfo", "MemAvailable").split()[0]) * 1024


def processor():
    return _value_of("/proc/cpuinfo", "model name") or "unknown processor"
