#!/bin/sh
# Copies another PostgreSQL (wal_level = logical) to an empty database of the first node by logical replication. Then grow.sh distributes it. It has
# to end on the day on which it began: the table of a new day of the access log is not copied.
# Use: OLD=postgres://…@old/drawbridge NODE_1=postgres://…@node-1/drawbridge sh deploy/citus/replicate.sh
set -eu
# Roles that exist are reported, and stay.
pg_dumpall --roles-only -d "$OLD" | psql -q "$NODE_1"
pg_dump --schema-only --no-owner --no-privileges "$OLD" | psql -q -v ON_ERROR_STOP=1 "$NODE_1" > /dev/null
psql -q "$OLD" -c 'create publication citus for all tables'
psql -q "$NODE_1" -c "create subscription citus connection '$OLD' publication citus"
until [ "$(psql "$NODE_1" -Atc "select count(*) from pg_subscription_rel where srsubstate <> 'r'")" = 0 ]; do sleep 1; done
printf 'Stop serve and work, then press Enter: '
read -r _
end=$(psql "$OLD" -Atc 'select pg_current_wal_lsn()')
until [ "$(psql "$NODE_1" -Atc "select latest_end_lsn >= '$end' from pg_stat_subscription where subname = 'citus' and relid is null")" = t ]; do sleep 1; done
# Sequences are not replicated.
psql "$OLD" -Atc "select format('select setval(%L, %s)', format('%I.%I', schemaname, sequencename), last_value)
  from pg_sequences where last_value is not null" | psql -q "$NODE_1" > /dev/null
psql -q "$NODE_1" -c 'drop subscription citus'
psql -q "$OLD" -c 'drop publication citus'
