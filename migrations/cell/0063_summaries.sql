-- compatible with programs from migration 0060 on
-- Summaries of health data: one row for a day, a night, a workout, a measurement or a profile. Keys start with team and user.
create table summary (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  kind text not null,
  provider text not null,
  -- What tells records of one kind and provider apart: a day, or the provider's id.
  key text not null,
  id uuid not null,
  source_type text not null,
  app_id text,
  calendar_date date,
  -- What the API shows beside the ids, the source and the times of writing; absent fields are shown as null.
  document jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (team_id, user_id, kind, provider, key)
);
create index summary__date on summary (team_id, user_id, kind, calendar_date);
create index summary__user on summary (user_id);
