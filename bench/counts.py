"""Files with the number of elements of each tensor of a case, one a line."""
import json
import subprocess

from environments import ROOT, build_program


def write_counts(name, counts):
    """The path of the file."""
    path = ROOT / "build" / "bench" / f"{name.replace(' ', '_')}.counts"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{count}\n" for count in counts))
    return str(path)


def gradients_of(model):
    """The number of elements of each gradient of a model, as `fanin plan` says."""
    tool = build_program("fanin_tool").removesuffix("_tool")
    command = [tool, "plan", "--gradients", model, "--spec", "xring", "--json"]
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [tensor["bytes"] // 4 for tensor in plan["tensors"]]
