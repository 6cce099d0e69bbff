-- compatible with programs from migration 0007 on
-- A management key that was rotated goes on with its former text for a while.
alter table management_key add column previous_hash bytea, add column previous_until timestamptz;
create unique index management_key__previous on management_key (previous_hash) where previous_hash is not null;
