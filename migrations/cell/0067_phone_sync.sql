-- compatible with programs from migration 0058 on
-- The newest report of a phone about its own synchronization: diagnostics, replaced by the next one.
create table phone_sync (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  received_at timestamptz not null,
  report jsonb not null,
  primary key (team_id, user_id, provider)
);
create index phone_sync__user on phone_sync (user_id);
