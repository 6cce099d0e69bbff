-- Webhook endpoints and what was sent to them, and management writes in this cell.

-- The events of one transaction, until it is known who is to be told. Numbered in the order of commits as far as they depend on
-- each other.
create table announcement (
  id        bigint generated always as identity primary key,
  team_id   uuid not null references team,
  event_ids uuid[] not null
);

create table webhook (
  id            text primary key,
  team_id       uuid not null references team,
  url           text not null,
  description   text not null,
  rate_limit    integer constraint webhook__rate_limit check (rate_limit >= 1),
  disabled      boolean not null,
  filter_types  text[],
  -- Encrypted; names are kept in lower case.
  headers       text not null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null
);
create index webhook__team on webhook (team_id, created_at, id);

-- Signing secrets, encrypted; the newest has no end.
create table webhook_secret (
  id          uuid primary key,
  team_id     uuid not null references team,
  webhook_id  text not null references webhook on delete cascade,
  secret      text not null,
  created_at  timestamptz not null,
  expires_at  timestamptz
);
create index webhook_secret__webhook on webhook_secret (webhook_id, id);

-- How an endpoint is being served: by which process, and how it answers. All on the machine's clock. Apart from `webhook`, since it
-- changes with every batch.
create table webhook_lane (
  webhook_id       text primary key references webhook on delete cascade,
  team_id          uuid not null references team,
  owner            uuid,
  leased_until     timestamptz,
  throttled_until  timestamptz,
  -- Several failures within a day, and nothing else, since.
  first_failure_at timestamptz,
  -- From here on five days of failures disable the endpoint.
  failing_since    timestamptz
);

-- Messages that are no events of the team: about deliveries, and samples sent for a test.
create table webhook_message (
  id          uuid primary key,
  team_id     uuid not null references team,
  type        text not null,
  created_at  timestamptz not null,
  body        text not null
);
create index webhook_message__team on webhook_message (team_id);

-- An event or a message for one endpoint. It is pending while it has a due date. A process that takes it moves the date by its
-- lease, so that what a killed process had in hand falls due again.
create table delivery (
  id          bigint generated always as identity primary key,
  team_id     uuid not null references team,
  webhook_id  text not null references webhook on delete cascade,
  event_id    uuid,
  message_id  uuid references webhook_message on delete cascade,
  state       text not null constraint delivery__state check (state in ('pending', 'delivered', 'failed', 'stopped')),
  due_at      timestamptz,
  -- Of the present round; somebody who sends again begins a new one.
  attempts    integer not null default 0,
  trigger     text not null,
  -- The last operational message about it: `failing` or `exhausted`.
  reported    text,
  created_at  timestamptz not null,
  constraint delivery__event foreign key (team_id, event_id) references event on delete cascade,
  constraint delivery__one check (num_nonnulls(event_id, message_id) = 1),
  constraint delivery__pending check ((state = 'pending') = (due_at is not null))
);
create unique index delivery__once on delivery (webhook_id, event_id);
create index delivery__event_of on delivery (team_id, event_id);
create index delivery__message on delivery (message_id) where message_id is not null;
create index delivery__due on delivery (webhook_id, due_at, id) where due_at is not null;
create index delivery__list on delivery (webhook_id, id);
create index delivery__old on delivery (created_at);

create table delivery_attempt (
  id               uuid primary key,
  team_id          uuid not null references team,
  delivery_id      bigint not null references delivery on delete cascade,
  trigger          text not null,
  at               timestamptz not null,
  duration_ms      integer not null,
  -- Null: there was no answer; `error` says why.
  response_status  integer,
  response_body    text not null,
  error            text,
  succeeded        boolean not null,
  signature        text not null,
  -- Names only.
  custom_headers   text[] not null
);
create index delivery_attempt__delivery on delivery_attempt (delivery_id, id);
create index delivery_attempt__metric on delivery_attempt (team_id, at) include (succeeded);

create table audit (
  id          uuid primary key,
  org_id      uuid not null,
  team_id     uuid,
  actor       text not null,
  operation   text not null,
  object      text,
  created_at  timestamptz not null
);
create index audit__team on audit (team_id, id);
