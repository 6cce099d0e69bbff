-- compatible with programs from migration 0007 on
-- One row that /readyz writes, to find out whether the database takes writes.
create table readiness (
  single boolean primary key default true check (single),
  checked_at timestamptz not null
);
insert into readiness (checked_at) values (clock_timestamp());
