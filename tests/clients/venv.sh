#!/usr/bin/env bash
# Makes the Python environment .venvs/NAME from tests/clients/NAME.txt, once: venv.sh NAME
# A line of that file is a package with its version, and its size as a comment.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

wanted=tests/clients/$1.txt
folder=.venvs/$1
cmp -s "$wanted" "$folder/installed.txt" && exit
echo "Downloading from the Python package index into $folder:"
sed 's/^/  /' "$wanted"
mkdir -p build
{ python3 -m venv --clear "$folder" && "$folder/bin/python" -m pip install -q -r "$wanted"; } \
  </dev/null >"build/venv-$1.log" 2>&1 || {
  tail -n 20 "build/venv-$1.log"
  echo "The environment $folder could not be made; is the Python package index reachable? Without it: ./test --without clients"
  exit 1
}
cp "$wanted" "$folder/installed.txt"
