-- compatible with programs from migration 0065 on
-- What users have granted at clouds of vendors. Tokens are encrypted.
create table provider_grant (
  team_id uuid not null references team (id),
  id uuid not null,
  user_id uuid not null references "user" (id),
  provider text not null,
  connection_id uuid not null,
  -- The user's id at the vendor.
  external_user_id text,
  access_token text not null,
  refresh_token text,
  expires_at timestamptz,
  scopes text[],
  -- Grows whenever the tokens are replaced.
  version integer not null,
  -- The version that the vendor refused to refresh.
  refused_version integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The connection has ended, and the grant is to be revoked at the vendor.
  ended_at timestamptz,
  primary key (team_id, id)
);
create unique index provider_grant__current on provider_grant (team_id, user_id, provider) where ended_at is null;
create index provider_grant__external on provider_grant (team_id, provider, external_user_id) where ended_at is null;
create index provider_grant__user on provider_grant (user_id);
create index provider_grant__ended on provider_grant (ended_at) where ended_at is not null;
