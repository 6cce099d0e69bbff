-- What users are asked to consent to, where a team wants it otherwise than usual; in both environments.
create table scope_requirement (
  team_id          uuid not null references team,
  provider         text not null,
  user_must_grant  text[] not null,
  user_may_grant   text[] not null,
  updated_at       timestamptz not null,
  primary key (team_id, provider)
);
