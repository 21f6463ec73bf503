#!/usr/bin/env bash
# Runs a program as MPI ranks on "hosts" that are network namespaces of this machine, with wires of a
# given rate between them and one bridge; needs root, and no ssh. Prints the bytes that crossed each
# wire to standard error.
#   tests/mpi/hosts.sh MPI HOSTS RANKS_PER_HOST RATE PROGRAM...
#   tests/mpi/hosts.sh openmpi 2 2 1gbit ./fanin selftest
set -euo pipefail

if (($# < 5)); then
  sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
mpi=$1 hosts=$2 ranks=$3 rate=$4
shift 4

# Names of interfaces have at most 15 letters.
id=f$$
net=10.83.$((RANDOM % 200 + 20))
agent=$(mktemp)
# shellcheck disable=SC2317  # the trap calls it
clean() {
  local host
  for ((host = 1; host <= hosts; ++host)); do ip netns del "$id-$host" 2>/dev/null || true; done
  ip netns del "$id-0" 2>/dev/null || true
  rm -f "$agent"
}
trap clean EXIT

# The bridge is in a namespace of its own, so that nothing of this machine's network is touched.
ip netns add "$id-0"
ip -n "$id-0" link add bridge type bridge
ip -n "$id-0" link set bridge up
list=()
for ((host = 1; host <= hosts; ++host)); do
  ip netns add "$id-$host"
  ip link add "$id-w$host" type veth peer name wire netns "$id-$host"
  ip link set "$id-w$host" netns "$id-0"
  ip -n "$id-0" link set "$id-w$host" master bridge up
  ip -n "$id-$host" link set lo up
  ip -n "$id-$host" addr add "$net.$host/24" dev wire
  ip -n "$id-$host" link set wire up
  # Both ways: what leaves the host, and what comes from the bridge.
  tc -n "$id-$host" qdisc add dev wire root tbf rate "$rate" burst 256kb latency 100ms
  tc -n "$id-0" qdisc add dev "$id-w$host" root tbf rate "$rate" burst 256kb latency 100ms
  list+=("$net.$host:$ranks")
done

# What mpirun takes for ssh: the address's last number names the host.
cat >"$agent" <<END
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do shift; done
host=\${1##*.}
shift
exec ip netns exec "$id-\$host" unshare --uts sh -c "hostname fanin-host\$host; \$*"
END
chmod +x "$agent"

count() { ip netns exec "$id-$1" cat "/sys/class/net/wire/statistics/$2_bytes"; }
before=()
for ((host = 1; host <= hosts; ++host)); do before+=("$(count "$host" tx)"); done

hosts_list=$(IFS=,; echo "${list[*]}")
case $mpi in
  openmpi)
    start=(mpirun.openmpi --allow-run-as-root --oversubscribe -np $((hosts * ranks))
      --host "$hosts_list" --mca plm_rsh_agent "$agent"
      --mca btl 'self,vader,tcp' --mca pml ob1 --mca mpi_yield_when_idle 1
      --mca btl_tcp_if_include "$net.0/24" --mca oob_tcp_if_include "$net.0/24") ;;
  mpich)
    # Otherwise UCX finds that the hosts are one.
    export UCX_TLS=self,tcp
    start=(mpirun.mpich -np $((hosts * ranks)) -launcher rsh -launcher-exec "$agent"
      -hosts "$hosts_list" -iface wire) ;;
  *)
    echo "hosts.sh: unknown MPI '$mpi'; it is openmpi or mpich" >&2
    exit 2 ;;
esac
status=0
ip netns exec "$id-1" unshare --uts sh -c 'hostname fanin-host1; exec "$@"' - "${start[@]}" "$@" || status=$?
for ((host = 1; host <= hosts; ++host)); do
  echo "host $host sent $(($(count "$host" tx) - before[host - 1])) bytes" >&2
done
exit "$status"
