-- compatible with programs from migration 0081 on
-- Operations on the connections of many users to a provider: how far each is, and what it does for each user.
create table bulk_operation (
  team_id uuid not null references team (id),
  id uuid not null,
  type text not null check (type in ('link_bulk_import', 'link_bulk_historical_trigger')),
  provider text not null,
  status text not null check (status in ('in_progress', 'success', 'failure', 'aborted')),
  total integer not null,
  processed integer not null default 0,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- Of machine time; null while the operation is in progress.
  expires_at timestamptz,
  primary key (team_id, id)
);
create index bulk_operation__unfinished on bulk_operation (team_id, id) where ended_at is null;
create index bulk_operation__expires on bulk_operation (expires_at);

create table bulk_operation_user (
  team_id uuid not null,
  operation_id uuid not null,
  position integer not null,
  -- As it was given: it may be of no user.
  user_id uuid not null,
  -- The tokens of an import, encrypted; null as soon as they are stored with the connection.
  recipe text,
  result text check (result in ('done', 'failed')),
  primary key (team_id, operation_id, position),
  foreign key (team_id, operation_id) references bulk_operation (team_id, id) on delete cascade
);
create index bulk_operation_user__user on bulk_operation_user (user_id);
