#!/bin/sh
# From one node to several, which have the settings of node.conf. `serve` and `work` are stopped until `migrate` has copied the rows; they use
# the first node, and need ROW_SECURITY=off. Rebalancing stops no process.
# Use: NODE_1=postgres://…@node-1/drawbridge NODES="postgres://…@node-2/drawbridge …" sh deploy/citus/grow.sh
set -eu
host() { node -p 'new URL(process.argv[1]).hostname' "$1"; }
port() { node -p 'new URL(process.argv[1]).port || 5432' "$1"; }
for url in $NODE_1 $NODES; do psql -q "$url" -c 'create extension if not exists citus'; done
DATABASE_URL=$NODE_1 ROW_SECURITY=off bin/drawbridge migrate --engine citus
psql -q "$NODE_1" -Atc "select citus_set_coordinator_host('$(host "$NODE_1")', $(port "$NODE_1"))"
for url in $NODES; do psql -q "$NODE_1" -Atc "select citus_add_node('$(host "$url")', $(port "$url"))"; done
psql -q "$NODE_1" -Atc 'select citus_rebalance_start()' -c 'select citus_rebalance_wait()'
