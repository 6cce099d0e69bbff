-- compatible with programs from migration 0058 on
-- Posts with data that changed nothing, by user, provider and resource, within a day from the first of them.
create table repeated_post (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  resource text not null,
  posts integer not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (team_id, user_id, provider, resource)
);
create index repeated_post__user on repeated_post (user_id);
create index repeated_post__many on repeated_post (team_id, user_id, provider, resource) where posts >= 100;
