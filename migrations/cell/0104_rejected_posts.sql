-- compatible with programs from migration 0092 on
-- Posts of health data that were rejected, or of which a part was: by user, provider, resource and bytes, so that a client that sends the
-- same rejected data again and again is seen.
create table rejected_post (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  resource text not null,
  digest bytea not null,
  is_whole boolean not null,
  records integer not null,
  message text not null,
  posts integer not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (team_id, user_id, provider, resource, digest)
);
create index rejected_post__user on rejected_post (user_id);
