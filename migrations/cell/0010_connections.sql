-- How teams reach the providers of their data.

-- Credentials of a team's own applications and accounts. `client_secret` and `details` are encrypted; the latter is JSON.
create table custom_credential (
  id                     uuid primary key,
  team_id                uuid not null references team,
  provider               text not null,
  client_id              text,
  client_secret          text,
  details                text,
  redirect_url_override  text,
  created_at             timestamptz not null,
  updated_at             timestamptz not null,
  constraint custom_credential__once unique (team_id, provider)
);
create index custom_credential__newest on custom_credential (created_at, id);

-- How far back a provider is asked when somebody connects it, where a team wants it otherwise than usual. `resource_overrides` is a
-- map of resources to days.
create table data_pull_preference (
  team_id             uuid not null references team,
  provider            text not null,
  days                integer not null constraint data_pull_preference__days check (days between 1 and 365),
  resource_overrides  jsonb,
  updated_at          timestamptz not null,
  primary key (team_id, provider)
);
