#!/usr/bin/env bash
# What mpirun takes for ssh on hosts that are namespaces (tests/mpi/wires.sh): agent.sh ADDRESS COMMAND...
# The address's last number names the host, FANIN_HOSTS the namespaces.
set -euo pipefail

while [[ $1 == -* ]]; do shift; done
host=${1##*.}
shift
exec ip netns exec "$FANIN_HOSTS-$host" unshare --uts sh -c "hostname fanin-host$host; $*"
