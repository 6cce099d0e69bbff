-- compatible with programs from migration 0058 on
-- When continuous queries were and will be evaluated, and what came out. Keys start with team and user.
create table query_task (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  query_id uuid not null references continuous_query (id),
  id uuid not null,
  status text not null,
  scheduled_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  error_details text,
  -- The local days whose data changed.
  from_day date not null,
  to_day date not null,
  -- Machine time, for retention.
  created_at timestamptz not null default statement_timestamp(),
  primary key (team_id, user_id, query_id, id),
  constraint query_task__status check (status in ('scheduled', 'started', 'completed', 'error', 'skipped'))
);
create unique index query_task__scheduled on query_task (team_id, user_id, query_id) where status = 'scheduled';
create index query_task__newest on query_task (team_id, user_id, query_id, scheduled_at, id);
create index query_task__user on query_task (user_id);
create index query_task__query on query_task (query_id);
create index query_task__created on query_task (created_at);

create table query_result (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  query_id uuid not null references continuous_query (id),
  -- JSON lists of rows: as they were computed, and with gaps filled.
  computed text not null,
  shown text not null,
  evaluated_at timestamptz not null,
  primary key (team_id, user_id, query_id)
);
create index query_result__user on query_result (user_id);
create index query_result__query on query_result (query_id);
