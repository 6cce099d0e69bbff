-- compatible with programs from migration 0058 on
-- Sessions of phones: a sign-in token opens one, refresh tokens continue it.
create table phone_session (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  id uuid not null,
  -- SHA-256 of the token that was used last, or of the sign-in token, and of the refresh tokens that it was exchanged for.
  token_hashes text[] not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  expires_at timestamptz not null,
  primary key (team_id, user_id, id)
);
create index phone_session__user on phone_session (user_id);
create index phone_session__expires on phone_session (expires_at);
