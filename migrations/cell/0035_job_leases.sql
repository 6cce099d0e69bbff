-- compatible with programs from migration 0030 on
-- A claimed job has an owner and a fencing token (src/platform/leases.ts), and keeps the class and code of its last error. `job__share` finds
-- the jobs of a team behind the backlog of another one; `job__failed` finds what is
-- tried no more, `job__retrying` what is tried again.
alter table job
  add column owner uuid,
  add column fence integer not null default 0,
  add column last_error text;
update job set last_error = 'unknown' where failed_at is not null;
-- Erasing is not given up any more.
update job set failed_at = null, attempts = 0, due_at = statement_timestamp() where failed_at is not null and name = 'users.erase';
create index job__share on job (team_id, due_at, id) where failed_at is null;
create index job__failed on job (failed_at) where failed_at is not null;
create index job__retrying on job (due_at) where failed_at is null and last_error is not null;
