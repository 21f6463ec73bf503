#!/usr/bin/env bash
# Proves the package lists: makes a bare Debian 12 in a scratch folder and runs a clean clone of the
# last commit in it: ./run, ./test --quick, and then ./test --quick without root. Needs root and
# debootstrap. Arguments are commands to run instead, such as: tests/bare.sh './fanin version'
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

fail() { echo "bare.sh: $1" >&2; exit 1; }
((EUID == 0)) || fail "making a Debian needs root; run it as root"
command -v debootstrap >/dev/null || fail "debootstrap is missing; apt-get install debootstrap"

# Once more in a mount namespace of its own, whose mounts end with it.
if [[ -z ${FANIN_BARE_SCRATCH-} ]]; then
  FANIN_BARE_SCRATCH=$(mktemp -d)
  export FANIN_BARE_SCRATCH
  trap 'rm -rf --one-file-system "$FANIN_BARE_SCRATCH"' EXIT
  unshare --mount "$0" "$@"
  exit
fi
debian=$FANIN_BARE_SCRATCH/debian
clone="/home/a user/fanin"

# The host's own mirror, as apt knows it.
mirror=$(apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
[[ -n $mirror ]] || fail "apt names no mirror of Debian 12; add one to its sources"

echo "Making a bare Debian 12"
debootstrap --variant=minbase bookworm "$debian" "$mirror" >"$FANIN_BARE_SCRATCH/log" 2>&1 ||
  { tail -n 20 "$FANIN_BARE_SCRATCH/log" >&2; fail "debootstrap failed, see above"; }

# It reaches packages and names as the host does.
rm -f "$debian/etc/apt/sources.list"
cp -rL --parents /etc/apt "$debian/" 2>/dev/null || true
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs /usr/local/share/ca-certificates; do
  [[ ! -e $file ]] || cp -r --parents "$file" "$debian/" 2>/dev/null || true
done
mount -t proc proc "$debian/proc"
mount -t tmpfs tmpfs "$debian/dev/shm"

mkdir -p "$debian${clone%/*}"
git clone -q --no-hardlinks . "$debian$clone"

# inside USER COMMAND
inside() {
  local start=$SECONDS
  echo "== $2 ($1)"
  if [[ $1 != root ]]; then chroot "$debian" chown -R 1000:1000 "${clone%/*}"; fi
  env -i HOME="${clone%/*}" PATH=/usr/sbin:/usr/bin:/sbin:/bin CI=true LC_ALL=C.UTF-8 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot --userspec="$([[ $1 == root ]] && echo 0:0 || echo 1000:1000)" "$debian" \
    bash -c "cd '$clone' && $2" </dev/null || fail "'$2' failed on a bare Debian 12"
  echo "== $2: $((SECONDS - start)) s"
}

if (($#)); then
  for command in "$@"; do inside root "$command"; done
else
  inside root ./run
  inside root './test --quick'
  inside user './test --quick'
fi
