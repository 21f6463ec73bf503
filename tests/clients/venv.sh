#!/usr/bin/env bash
# Makes the Python environment .venvs/NAME from tests/clients/NAME.txt, once: venv.sh NAME
# A line of that file is a package with its version, and its size as a comment; a line "# pip: OPTIONS"
# holds options of pip that a requirement file cannot.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

wanted=tests/clients/${1-}.txt
folder=.venvs/${1-}
if (($# != 1)) || [[ ! -f $wanted ]]; then
  known=$(find tests/clients -name '*.txt' -printf '%f\n' | sed 's/\.txt$//' | sort | paste -sd ' ')
  echo "venv.sh: '${1-}' is no environment; it is one of: $known" >&2
  exit 2
fi
cmp -s "$wanted" "$folder/installed.txt" && exit

echo "Downloading from the Python package index into $folder:"
grep -v '^#' "$wanted" | sed 's/^/  /'
read -ra options < <(sed -n 's/^# pip: //p' "$wanted"; echo)
mkdir -p build
{ python3 -m venv --clear "$folder" &&
  "$folder/bin/python" -m pip install -q "${options[@]}" -r "$wanted"; } \
  </dev/null >"build/venv-$1.log" 2>&1 || {
  tail -n 20 "build/venv-$1.log"
  echo "The environment $folder could not be made, see above; is the Python package index reachable?"
  exit 1
}
cp "$wanted" "$folder/installed.txt"
