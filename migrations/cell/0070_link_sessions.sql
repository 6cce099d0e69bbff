-- compatible with programs from migration 0058 on
-- Link sessions: what the token of a user's link session names, and what has become of it.
create table link_session (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  id uuid not null,
  -- The provider for which the token was issued; null: the user picks one.
  provider text,
  redirect_url text,
  filter_on_providers text[],
  redirects_on_error boolean not null,
  redirects_on_close boolean not null,
  -- The provider of the older start step.
  started_provider text,
  -- SHA-256 of the `state` of the last redirect to a provider that has not come back, and that provider.
  state_hash text,
  state_provider text,
  -- The error of the last attempt to link.
  error_type text,
  -- The provider that was linked, and when: a session links once.
  linked_provider text,
  consumed_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (team_id, user_id, id)
);
create index link_session__id on link_session (team_id, id);
create index link_session__user on link_session (user_id);
create index link_session__expires on link_session (expires_at);

-- Codes that hand a user to an app on a phone. A code has 32 bits, so that wrong ones are limited.
create table link_code (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  -- SHA-256 of the code.
  code_hash text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (team_id, user_id, code_hash)
);
create index link_code__hash on link_code (code_hash);
create index link_code__user on link_code (user_id);
create index link_code__expires on link_code (expires_at);
