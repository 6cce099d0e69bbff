-- compatible with programs from migration 0058 on
-- How long a team keeps its health data; resource null: every resource that has no rule of its own.
create table data_retention (
  team_id uuid not null references team (id),
  resource text,
  days integer not null,
  updated_at timestamptz not null,
  constraint data_retention__rule unique nulls not distinct (team_id, resource)
);

-- How far the deletion of a team's expired health data has come, and when it begins again.
create table data_retention_check (
  team_id uuid primary key references team (id),
  next_at timestamptz not null,
  -- Users up to here are checked; null at the beginning.
  after_user uuid
);
create index data_retention_check__next on data_retention_check (next_at);
