-- compatible with programs from migration 0058 on
-- Streams of workouts: one row for a workout, as it is read. It goes with its workout.
create table workout_stream (
  team_id uuid not null references team (id),
  user_id uuid not null,
  provider text not null,
  key text not null,
  kind text not null default 'workouts' check (kind = 'workouts'),
  -- Instants in it.
  samples integer not null,
  -- JSON of parallel lists.
  stream text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (team_id, user_id, provider, key),
  foreign key (team_id, user_id, kind, provider, key) references summary (team_id, user_id, kind, provider, key) on delete cascade
);
create index summary__id on summary (team_id, id);
