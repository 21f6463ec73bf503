#!/usr/bin/env bash
# Builds targets of a preset, one build at a time: tools/build.sh [--progress] PRESET [TARGET...]
# Says nothing when all is up to date, one line when it builds, everything when it fails.
# --progress shows ninja's own line on a terminal.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

progress=false
if [[ ${1-} == --progress ]]; then
  [[ -t 2 ]] && progress=true
  shift
fi
if (($# == 0)); then
  echo "build.sh: name a preset, such as dev or release" >&2
  exit 2
fi
preset=$1
targets=("${@:2}")
folder=build/$preset

# A build folder that was copied with its checkout still points to the old one.
configured() {
  [[ -f $folder/build.ninja ]] &&
    grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$folder/CMakeCache.txt"
}

# ninja's dry run writes nothing, so that it needs no lock.
up_to_date() {
  configured && [[ $(ninja -C "$folder" -n "${targets[@]}" 2>&1) == *"no work to do." ]]
}

build() {
  configured || cmake --fresh --preset "$preset" || return
  ninja -C "$folder" -j "$(nproc)" "${targets[@]}"
}

up_to_date && exit
tools/packages.sh build
mkdir -p build
exec 9>"build/$preset.lock"
if ! flock -n 9; then
  echo "Waiting for another build of build/$preset" >&2
  flock 9
fi
up_to_date && exit

# Whatever a compiler leaves running must not keep the lock: 9>&-.
log=build/$preset.log
echo "Building $folder (log: $log)" >&2
if $progress; then
  build </dev/null >&2 9>&- && exit
else
  build </dev/null >"$log" 2>&1 9>&- && exit
  grep -vE '^\[[0-9]+/[0-9]+\]' "$log" | tail -n 100 >&2
fi
echo "Building $folder failed; mend what the lines above name, then try again" >&2
exit 1
