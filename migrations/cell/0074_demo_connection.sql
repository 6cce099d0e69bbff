-- compatible with programs from migration 0058 on
-- Connections whose data is made up. Its seed and zone determine the data.
alter table connection add column is_demo boolean not null default false;

create table demo_connection (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  connection_id uuid not null,
  seed text not null,
  zone text not null,
  has_timeseries boolean not null,
  connected_at timestamptz not null,
  -- The first day of the history that was not written yet, as days since 1970; null: the history is complete.
  next_day integer,
  -- Until when data was written.
  written_until timestamptz not null,
  primary key (team_id, user_id, provider)
);
create index demo_connection__user on demo_connection (user_id);
