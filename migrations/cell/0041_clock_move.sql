-- compatible with programs from migration 0030 on
-- Who is moving the clock of a sandbox team: a lease (src/platform/leases.ts), which ends by itself when the process was killed. Programs
-- before this one lock by a connection instead: while both run, a clock may be moved by one of each.
create table clock_move (
  team_id       uuid primary key references team,
  owner         uuid,
  fence         integer not null default 0,
  leased_until  timestamptz
);
