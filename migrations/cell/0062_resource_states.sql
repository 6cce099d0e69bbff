-- compatible with programs from migration 0058 on
-- What came in for each resource of a user, and how far the history of a resource has been sent.
create table resource_state (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  resource text not null,
  last_attempt_at timestamptz not null,
  -- Null until there is data.
  oldest_data timestamptz,
  newest_data timestamptz,
  -- Records that were new or changed.
  sent_count bigint not null,
  primary key (team_id, user_id, provider, resource)
);
create index resource_state__user on resource_state (user_id);

-- A history that has begun and has not ended has no ended_at. Histories recorded before have no started_at.
alter table historical_pull alter column ended_at drop not null;
alter table historical_pull add column started_at timestamptz;
alter table historical_pull add column days_with_data integer not null default 0;
