#!/usr/bin/env bash
# Installs the Debian packages for the purposes named (build, unit, format, lint, fuzz, clients,
# package, mpi). Does nothing, and needs no root, when all are there.
set -euo pipefail

packages_for() {
  case $1 in
    build) echo g++ cmake ninja-build libhwy-dev libfmt-dev nlohmann-json3-dev libcli11-dev libssl-dev ;;
    unit) echo libgtest-dev libgmock-dev libmpfr-dev ;;
    format) echo clang-format ;;
    lint) echo clang-tidy shellcheck python3 ;;
    fuzz) echo clang libclang-rt-14-dev ;;
    clients) echo python3 python3-venv chromium fonts-dejavu-core nodejs ;;
    package) echo pkg-config ;;
    mpi) echo libopenmpi-dev openmpi-bin libmpich-dev mpich libpmix-dev iproute2 ;;
    *) echo "packages.sh: unknown purpose '$1'; it is one of build, unit, format, lint, fuzz, clients, package, mpi" >&2
       return 2 ;;
  esac
}

# Prints those of its arguments that are not installed.
missing() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] || echo "$package"
  done
}

# One purpose, or several: the lists are short, and one dpkg-query costs a few milliseconds.
wanted=()
for purpose in "$@"; do
  list=$(packages_for "$purpose")
  read -ra some <<<"$list"
  wanted+=("${some[@]}")
done

if ! command -v dpkg-query >/dev/null; then
  echo "This is no Debian; install what stands for: ${wanted[*]}" >&2
  exit 0
fi
mapfile -t absent < <(missing "${wanted[@]}" | sort -u)
((${#absent[@]})) || exit 0

install=(apt-get install --no-install-recommends -y "${absent[@]}")
as_root=()
if ((EUID != 0)); then
  if ! sudo -n true 2>/dev/null; then
    echo "Packages are missing; run as root: apt-get update && ${install[*]}" >&2
    exit 1
  fi
  as_root=(sudo -n)
fi

export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
try() {
  "$@" </dev/null >"$log" 2>&1 && return
  tail -n 20 "$log" >&2
  echo "apt-get failed (see above); mend its sources, then try again: ${install[*]}" >&2
  exit 1
}

echo "Installing Debian packages: ${absent[*]}" >&2
try "${as_root[@]}" apt-get update
apt-get install --no-install-recommends --assume-no "${absent[@]}" </dev/null 2>/dev/null |
  grep -E '^(Need to get|After this operation)' >&2 || true
try "${as_root[@]}" "${install[@]}"
