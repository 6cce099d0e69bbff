-- compatible with programs from migration 0030 on
-- A lane of a pipeline has a fencing token (src/platform/leases.ts): a process may have it twice, once since it was lost.
alter table pipeline_lane add column fence integer not null default 0;
