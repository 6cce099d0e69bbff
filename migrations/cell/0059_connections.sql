-- compatible with programs from migration 0058 on
-- Connections of users to sources of health data. Keys start with team and user.
create table connection (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  id uuid not null,
  status text not null check (status in ('connected', 'error', 'paused')),
  external_user_id text,
  granted_permissions text[],
  error_type text,
  error_message text,
  errored_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (team_id, user_id, provider),
  constraint connection__error check ((status = 'error') = (error_type is not null and error_message is not null and errored_at is not null))
);
create index connection__created on connection (team_id, created_at);
create index connection__user on connection (user_id);

-- What the API shows of a user's connections, written with them: lists of users need no second table.
alter table "user" add column connected_sources jsonb not null default '[]';
