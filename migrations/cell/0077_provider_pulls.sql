-- compatible with programs from migration 0076 on
-- What was asked for at clouds of vendors: by user, provider and resource.
create table provider_pull (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  resource text not null,
  -- The times that were asked for and stored.
  covered tstzmultirange not null default '{}',
  asked_at timestamptz,
  -- `data`, `empty`, `failed`.
  result text,
  error text,
  -- The last refresh on request that is done.
  refresh_id uuid,
  primary key (team_id, user_id, provider, resource)
);
create index provider_pull__user on provider_pull (user_id);
-- The watermark of a connection: when the vendor last notified, and when it was last polled.
create table provider_watermark (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  notified_at timestamptz,
  polled_at timestamptz,
  primary key (team_id, user_id, provider)
);
create index provider_watermark__user on provider_watermark (user_id);
-- What is left of the limits of a team's application at a vendor. Machine time: the vendor has no clock of the team.
create table provider_limit (
  team_id uuid not null references team (id),
  provider text not null,
  -- One for each limit of the connector.
  tokens double precision[] not null,
  refilled_at timestamptz not null,
  blocked_until timestamptz,
  primary key (team_id, provider)
);
alter table historical_pull add column scheduled_at timestamptz;
-- The reason of the last failure; with an end of the history it has failed, without one it is tried again.
alter table historical_pull add column error text;
