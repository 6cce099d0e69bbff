-- compatible with programs from migration 0058 on
-- Samples of health data: one row for a series and an hour, with arrays of instants and values. Keys start with team and user.
create table series (
  id bigint generated always as identity,
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  resource text not null,
  provider text not null,
  source_type text not null,
  app_id text,
  device_id uuid,
  workout_id uuid,
  sport text,
  changed_at timestamptz not null,
  primary key (team_id, user_id, id),
  constraint series__source unique nulls not distinct (team_id, user_id, resource, provider, source_type, app_id, device_id, workout_id, sport)
);
create index series__user on series (user_id);

create table chunk (
  team_id uuid not null,
  user_id uuid not null,
  series_id bigint not null,
  -- Of the hour's beginning.
  hour timestamptz not null,
  samples integer not null,
  -- Milliseconds after the beginning of the hour, ascending.
  at integer[] not null,
  values double precision[] not null,
  -- The second number of a sample: the diastolic blood pressure.
  seconds double precision[],
  -- Milliseconds from the beginning of a sample to its end.
  lengths integer[],
  -- Seconds east of UTC.
  zones integer[],
  types text[],
  primary key (team_id, user_id, series_id, hour),
  foreign key (team_id, user_id, series_id) references series (team_id, user_id, id)
);

-- Histories that phones have sent completely, by resource.
create table historical_pull (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  resource text not null,
  range_start timestamptz not null,
  range_end timestamptz not null,
  ended_at timestamptz not null,
  primary key (team_id, user_id, provider, resource)
);
create index historical_pull__user on historical_pull (user_id);
