#!/usr/bin/env bash
# Network namespaces of this machine as "hosts", ID-1 and so on, each with a wire of a given rate to
# one bridge; their addresses end in 1 and so on. Needs root.
#   tests/mpi/wires.sh make ID HOSTS RATE     (ID has at most 12 letters)
#   tests/mpi/wires.sh remove ID HOSTS
set -euo pipefail

net=10.83.0

make() {
  local host
  # The bridge is in a namespace of its own, so that nothing of this machine's network is touched.
  ip netns add "$id-0"
  ip -n "$id-0" link add bridge type bridge
  ip -n "$id-0" link set bridge up
  for ((host = 1; host <= hosts; ++host)); do
    ip netns add "$id-$host"
    # Names of interfaces have at most 15 letters.
    ip link add "$id-w$host" type veth peer name wire netns "$id-$host"
    ip link set "$id-w$host" netns "$id-0"
    ip -n "$id-0" link set "$id-w$host" master bridge up
    ip -n "$id-$host" link set lo up
    ip -n "$id-$host" addr add "$net.$host/24" dev wire
    ip -n "$id-$host" link set wire up
    # Both ways: what leaves the host, and what comes from the bridge.
    tc -n "$id-$host" qdisc add dev wire root tbf rate "$1" burst 256kb latency 100ms
    tc -n "$id-0" qdisc add dev "$id-w$host" root tbf rate "$1" burst 256kb latency 100ms
  done
}

remove() {
  local host
  for ((host = 0; host <= hosts; ++host)); do ip netns del "$id-$host" 2>/dev/null || true; done
}

case $#${1-} in
  4make | 3remove) ;;
  *)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2 ;;
esac
id=$2 hosts=$3
"$1" "${@:4}"
