-- Pipelines: a team's events on their way to brokers.

-- It tells of records from before a connection was made; only pipelines that ask for such events get them.
alter table event add column historical boolean not null default false;

-- `destinations` is encrypted: addresses of brokers with their passwords.
create table pipeline (
  team_id               uuid primary key references team,
  push_historical_data  boolean not null,
  provider_raw_data     boolean not null,
  preferred             text not null,
  enabled               text[] not null,
  event_type_prefixes   text[],
  destinations          text not null,
  created_at            timestamptz not null,
  updated_at            timestamptz not null
);
create index pipeline__newest on pipeline (created_at, team_id);

-- A broker that a pipeline writes to: which process serves it, and since when it fails. All on the machine's clock. Nothing is sent
-- before `due_at`.
create table pipeline_lane (
  team_id       uuid not null references pipeline on delete cascade,
  destination   text not null constraint pipeline_lane__destination check (destination in ('cloud_pubsub', 'rabbitmq', 'azure_amqp')),
  owner         uuid,
  leased_until  timestamptz,
  due_at        timestamptz not null,
  failures      integer not null default 0,
  primary key (team_id, destination)
);
create index pipeline_lane__due on pipeline_lane (due_at);

-- An event that a broker has not acknowledged yet; when it has, the row is gone.
create table pipeline_delivery (
  id           bigint generated always as identity primary key,
  team_id      uuid not null,
  destination  text not null,
  event_id     uuid not null,
  user_id      uuid not null,
  due_at       timestamptz not null,
  attempts     integer not null default 0,
  created_at   timestamptz not null,
  constraint pipeline_delivery__lane foreign key (team_id, destination) references pipeline_lane on delete cascade,
  constraint pipeline_delivery__event foreign key (team_id, event_id) references event on delete cascade
);
create unique index pipeline_delivery__once on pipeline_delivery (team_id, event_id, destination);
create index pipeline_delivery__next on pipeline_delivery (team_id, destination, id, due_at);
create index pipeline_delivery__user on pipeline_delivery (team_id, destination, user_id, id);
create index pipeline_delivery__failed on pipeline_delivery (team_id, destination) where attempts > 0;
create index pipeline_delivery__old on pipeline_delivery (created_at);
