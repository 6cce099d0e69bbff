-- compatible with programs from migration 0001 on
-- The schema of a cell: everything of the teams of one environment in one region. No statement joins two cells. Nearly every table belongs to
-- a team: `team_id` names it, and its key begins with the team and, for data of a user, with the user. Foreign keys have the team on both sides,
-- so that no row can name a row of another team. The rules are those of Citus: src/platform/db/table-placement.ts.

-- ==== teams and users

-- A team as a cell knows it: its clock and its settings. A deleted team is hidden, and no work is done for it.
-- `source_priorities` is a JSON list, as the team sent it.
create table team (
  id                 uuid primary key,
  org_id             uuid not null,
  clock_offset_s     bigint not null default 0 constraint team__clock_forward check (clock_offset_s >= 0),
  settings           jsonb not null default '{}',
  created_at         timestamptz not null,
  deleted_at         timestamptz,
  source_priorities  text,
  disabled_features  text[] not null default '{}',
  enabled_options    text[] not null default '{}'
);

-- Users of teams. `deleted_at`: the user is hidden and will be erased.
create table "user" (
  team_id              uuid not null references team,
  id                   uuid not null,
  client_user_id       text not null,
  created_on           timestamptz not null,
  fallback_time_zone   jsonb,
  fallback_birth_date  jsonb,
  ingestion_start      date,
  ingestion_end        date,
  deleted_at           timestamptz,
  -- The user's connections as the API shows them, written with each connection: lists of users read no second table.
  connected_sources    jsonb not null default '[]',
  primary key (team_id, id),
  constraint user__ingestion_bounds check (ingestion_end >= ingestion_start)
);
-- The reference of a deleted user is free at once.
create unique index user__client_user_id on "user" (team_id, client_user_id) where deleted_at is null;
create index user__deleted on "user" (team_id, client_user_id) where deleted_at is not null;
create index user__newest on "user" (team_id, created_on desc, id desc) where deleted_at is null;

-- ==== platform

-- One row that /readyz updates, to check that the database accepts writes.
create table readiness (
  single      boolean primary key default true check (single),
  checked_at  timestamptz not null
);
insert into readiness (checked_at) values (clock_timestamp());

-- Events of teams. `body` is sent as it is stored, byte for byte. `user_id` null: the event is about no user. It has no key to
-- its team, because its check would cost each order 7 µs: the objects of events have one, and a team accepts no request for a
-- week before it is erased. Events of orders stay; those of health data and connections expire.
create table event (
  id          uuid not null,
  team_id     uuid not null,
  type        text not null,
  object_id   uuid not null,
  user_id     uuid,
  created_at  timestamptz not null,
  -- Null: the event expires, and its body is in event_body until it is deleted.
  body        text,
  -- The event is about data from before a connection was made. Only pipelines that ask for such events get it.
  historical  boolean not null default false,
  -- By the system clock; null: never.
  expires_at  timestamptz,
  primary key (team_id, id),
  constraint event__body check (body is not null or expires_at is not null)
) with (toast_tuple_target = 8160);
create index event__expires on event (expires_at) where expires_at is not null;
create index event__object on event (object_id, id);
create index event__type on event (team_id, type, id);
create index event__user on event (user_id);

-- The bodies of events that expire. They are deleted sooner than the events, because they are most of their bytes; an update of the
-- event would write more than the event itself.
create table event_body (
  team_id        uuid not null,
  event_id       uuid not null,
  -- From when the retention counts, by the system clock: later than the event if a delivery of it has not arrived.
  retained_from  timestamptz not null,
  body           text not null,
  primary key (team_id, event_id)
);
create index event_body__retained on event_body (retained_from);

-- The events of one transaction, until their deliveries are created. Each look reads the first rows of every team, so that the
-- backlog of one team does not delay another. It has one index only, because a second one would slow down every order.
create table event_outbox (
  id         bigint generated always as identity,
  team_id    uuid not null,
  event_ids  uuid[] not null,
  primary key (team_id, id)
);

-- Teams that have or had receivers of events. Only their events get an outbox entry.
create table event_subscribed_team (
  team_id  uuid primary key references team
);

-- Work to be done. `run_at` is the time of the team, `due_at` the same instant by the system clock. A claimed job has an
-- owner and a fencing token (src/platform/db/leases.ts). `last_error` is the class and the code of its last error. The indexes
-- find: due jobs; jobs that are not tried again, of the cell and of a team; jobs that are tried again; the due jobs of a team behind the backlog of another
-- one.
create table job (
  team_id       uuid not null references team,
  id            uuid not null,
  name          text not null,
  payload       text not null,
  run_at        timestamptz not null,
  due_at        timestamptz not null,
  attempts      integer not null default 0,
  leased_until  timestamptz,
  failed_at     timestamptz,
  owner         uuid,
  fence         integer not null default 0,
  last_error    text,
  primary key (team_id, id)
);
create index job__due on job (due_at, id) where failed_at is null;
create index job__failed on job (failed_at) where failed_at is not null;
create index job__failed_of_team on job (team_id, failed_at, id) where failed_at is not null;
create index job__retrying on job (due_at) where failed_at is null and last_error is not null;
create index job__share on job (team_id, due_at, id) where failed_at is null;
create index job__team on job (team_id, run_at, id);

-- The days of the access log. A day that was dropped keeps its row, because the next day continues from its hash. The first row
-- is the beginning of the chain.
create table access_day (
  day             date primary key,
  -- The number of the day's last line, and its hash.
  seq             bigint not null,
  hash            bytea not null,
  -- Since then the lines of the day are in the files of access_archive, and no longer in access_log.
  archived_at     timestamptz,
  -- Since then they are gone.
  dropped_at      timestamptz,
  -- The retention when the day was dropped.
  retention_days  integer,
  check ((dropped_at is null) = (retention_days is null))
);
insert into access_day (day, seq, hash, dropped_at, retention_days) values ('1970-01-01', 0, sha256(''), '1970-01-01 00:00:00+00', 0);

-- Lines of transactions that are not part of the access log yet. No index and no array: a transaction pays for one row.
create table access_line (
  team_id  uuid,
  -- An array of ids, as text.
  users    text not null,
  line     text not null
);
-- It has no key: logical replication compares whole rows.
alter table access_line replica identity full;
alter table access_line alter column users set storage external;
alter table access_line alter column line set storage external;

-- The access log: who read or changed the data of which patients. A line is JSON text: it is exported as it is, and each hash is
-- computed over the hash before it and the line. Other columns are there to find lines. Rows are never updated; a whole day is
-- dropped at once. Its columns are not compressed: most of their bytes are random ids.
create table access_log (
  -- When the line became part of the log, by the system clock, in UTC.
  day      date not null,
  seq      bigint not null,
  team_id  uuid,
  users    uuid[] not null,
  line     text not null,
  hash     bytea not null,
  primary key (seq, day)
) partition by range (day);
create index access_log__users on access_log using gin (users);
alter table access_log alter column users set storage external;
alter table access_log alter column line set storage external;

-- How many days the access log is kept, and how many of them in the database, as `migrate` read it from the settings. The roles of the
-- program can only read it. It has one row.
create table access_log_retention (
  id             boolean primary key default true check (id),
  days           integer not null check (days >= 1),
  -- Null: all.
  database_days  integer check (database_days >= 1)
);
insert into access_log_retention (days, database_days) values (2192, 90);

-- The last time that a command checked the hashes of the access log. It has one row at most.
create table access_log_check (
  id          boolean primary key default true check (id),
  checked_at  timestamptz not null,
  lines       bigint not null,
  -- The number of the last line that there was.
  last_line   bigint not null,
  -- What was wrong with the first line that was; null: nothing.
  fault       text
);

-- Files of modules: their bytes are in a storage, or here. A row stays until the file has been deleted from its storage.
create table stored_file (
  -- The files of one lab report, for example, have the same.
  set_id     uuid not null,
  name       text not null,
  storage    text not null check (storage in ('disk', 's3', 'database')),
  -- Encrypted, except of the access log, which names nobody; null for a file in another storage.
  bytes      bytea,
  -- By the system clock; null while a row refers to the file.
  delete_at  timestamptz,
  -- It has data of several teams: connections for teams do not see it.
  is_of_cell boolean not null default false,
  primary key (set_id, name)
);
create index stored_file__delete_at on stored_file (delete_at);
alter table stored_file alter column bytes set storage external;
create policy of_team on stored_file using (not is_of_cell) with check (not is_of_cell);

-- The files that hold closed days of the access log, each with some of the lines of a day. The functions of the access log write it. A file
-- that is named here is the only proof of its lines as soon as its day is archived: neither its row nor a connection for a team can delete it.
create table access_archive (
  first_seq      bigint primary key,
  last_seq       bigint not null,
  day            date not null references access_day,
  -- The hash before the first line, and that of the last line.
  previous_hash  bytea not null,
  last_hash      bytea not null,
  set_id         uuid not null,
  name           text not null,
  -- The size of the file, and its SHA-256.
  bytes          integer not null,
  digest         bytea not null,
  -- The last 32 bits of the ids of the users in its lines, each once: a quarter of the bytes, and few files too many are read.
  user_keys      integer[] not null,
  check (last_seq >= first_seq),
  foreign key (set_id, name) references stored_file
);
create index access_archive__day on access_archive (day);
create index access_archive__file on access_archive (set_id, name);
create index access_archive__user_keys on access_archive using gin (user_keys);
create policy of_team on access_archive using (false);

-- A worker archives the access log; others leave it alone until then. It has one row at most.
create table access_archive_lease (
  id            boolean primary key default true check (id),
  leased_until  timestamptz not null
);
create policy of_team on access_archive_lease using (false);

-- Answers that are stored under a key of the caller. Without a status, a running transaction has claimed the key, or it is free
-- again.
create table idempotency_key (
  team_id      uuid not null references team,
  scope        text not null,
  key          text not null,
  status       integer,
  body         text,
  object_id    uuid,
  expires_at   timestamptz not null,
  -- A digest of the body for which the key is valid.
  fingerprint  text,
  -- The users whom a stored answer is about: it is hidden while one of them is deleted, and erased with them.
  user_ids     uuid[],
  primary key (team_id, scope, key)
);
create index idempotency_key__expired on idempotency_key (expires_at);
create index idempotency_key__users on idempotency_key using gin (user_ids) where user_ids is not null;

-- Management writes in this cell. Rows are added and never changed. `actor` is the key that made the request.
create table audit_log (
  id          uuid primary key,
  org_id      uuid not null,
  team_id     uuid,
  actor       text not null,
  member_id   uuid,
  operation   text not null,
  object      text,
  created_at  timestamptz not null
);
create index audit_log__org on audit_log (org_id, id);
create index audit_log__team on audit_log (team_id, id);

-- The email outbox of the cell, as in the control plane.
create table mail (
  id            uuid primary key,
  recipient     text not null,
  subject       text not null,
  body          text,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  state         text not null constraint mail__state check (state in ('waiting', 'sent', 'failed')),
  attempts      integer not null,
  due_at        timestamptz,
  error         text,
  finished_at   timestamptz,
  owner         uuid,
  fence         integer not null default 0,
  leased_until  timestamptz,
  constraint mail__text check ((state = 'sent') = (body is null)),
  constraint mail__waiting check ((state = 'waiting') = (due_at is not null))
);
create index mail__due on mail (due_at, id) where due_at is not null;
create index mail__failed on mail (finished_at) where state = 'failed';
create index mail__old on mail (created_at);

-- ==== people

-- How many rows a team has in its lists of users and orders, also those of deleted users: the sum of the slots of a list. A transaction
-- adds to the slot of its connection (src/platform/db/list-counts.ts).
create table list_count (
  team_id    uuid not null references team,
  list       text not null check (list in ('users', 'orders')),
  slot       smallint not null check (slot between 0 and 15),
  row_count  bigint not null,
  primary key (team_id, list, slot)
) with (fillfactor = 50);

-- Who a user is, as the team or an order last said. JSON in the form of the API.
create table user_demographics (
  team_id     uuid not null references team,
  user_id     uuid not null,
  document    jsonb not null,
  updated_at  timestamptz not null,
  primary key (team_id, user_id),
  foreign key (team_id, user_id) references "user"
);

-- Insurances of users. Each is stored as it was sent, with the insurer as it was then.
create table insurance (
  team_id     uuid not null references team,
  id          uuid not null,
  user_id     uuid not null,
  is_primary  boolean not null,
  document    jsonb not null,
  created_at  timestamptz not null,
  primary key (team_id, id),
  foreign key (team_id, user_id) references "user"
);
create index insurance__user on insurance (team_id, user_id, is_primary, id);

-- Diagnosis codes that may be billed: ICD-10-CM, without the dot.
create table icd_code (
  code          text collate "C" primary key,
  description   text not null,
  -- The code is never the first diagnosis of a claim.
  is_secondary  boolean not null
);

-- Codes that begin with `code` exclude codes that begin with `excluded_code`. excludes1: never together; excludes2: together
-- only if the patient has both conditions.
create table icd_exclusion (
  code           text not null,
  excluded_code  text not null,
  type           text not null constraint icd_exclusion__type check (type in ('excludes1', 'excludes2')),
  primary key (code, excluded_code)
);

-- The data of insurers and diagnoses that is loaded, and where it comes from.
create table insurance_data_version (
  part      text primary key,
  checksum  text not null,
  origin    text not null constraint insurance_data_version__origin check (origin in ('shipped', 'imported'))
);

-- Insurers. Without a team: the directory of the platform, shipped or loaded by the operator.
create table payor (
  code            text primary key,
  team_id         uuid references team,
  origin          text not null constraint payor__origin check (origin in ('shipped', 'imported', 'team')),
  name            text not null,
  aliases         text[] not null,
  org_address     jsonb not null,
  -- Its electronic payer id. `external_codes` has the ids of other clearinghouses, by clearinghouse.
  payer_id        text,
  external_codes  jsonb not null,
  -- The public program of the insurer, and its state.
  program         text constraint payor__program check (program in ('medicare', 'medicaid')),
  state           text,
  created_at      timestamptz not null,
  constraint payor__owner check ((team_id is null) = (origin <> 'team'))
);
create unique index payor__program_state on payor (program, state) where program is not null;
create index payor__team on payor (team_id) where team_id is not null;

-- Physicians who order for a team where the customer's own physician does not. Without states: in every state.
create table team_physician (
  team_id     uuid not null references team,
  id          uuid not null,
  first_name  text not null,
  last_name   text not null,
  npi         text not null,
  states      text[] not null,
  created_at  timestamptz not null,
  primary key (team_id, id)
);
create index team_physician__team on team_physician (team_id, created_at, id);

-- ==== events

-- Events of the last days in the order in which they became known, for followers of the feed. One transaction at a time assigns
-- numbers, so that a reader never sees a number before a smaller one. The line of an erased user refers to no event.
create sequence feed_number;
create table feed (
  team_id     uuid not null,
  -- The epoch in units of 10^11, and a number of the sequence.
  seq         bigint not null default nextval('feed_number'),
  event_id    uuid not null,
  -- By the system clock.
  created_at  timestamptz not null,
  primary key (team_id, seq)
);
-- A database that continues from an earlier state gives numbers of its sequences again. Each start, timeline and copy of the database has an
-- epoch of its own.
create table feed_epoch (
  single        boolean primary key default true check (single),
  epoch         integer not null,
  -- System identifier, timeline, oid of the database, and start of PostgreSQL. Null: no event has been numbered.
  server_state  text
);
insert into feed_epoch (epoch) values (0);
create index feed__created on feed (created_at);

-- Webhook endpoints.
create table webhook (
  team_id       uuid not null references team,
  id            text not null,
  url           text not null,
  description   text not null,
  rate_limit    integer constraint webhook__rate_limit check (rate_limit >= 1),
  disabled      boolean not null,
  filter_types  text[],
  -- Encrypted; names are in lower case.
  headers       text not null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (team_id, id)
);
create index webhook__team on webhook (team_id, created_at, id);

-- Signing secrets, encrypted; the newest one has no end.
create table webhook_secret (
  team_id     uuid not null references team,
  id          uuid not null,
  webhook_id  text not null,
  secret      text not null,
  created_at  timestamptz not null,
  expires_at  timestamptz,
  primary key (team_id, id),
  foreign key (team_id, webhook_id) references webhook on delete cascade
);
create index webhook_secret__webhook on webhook_secret (team_id, webhook_id, id);

-- What events are delivered to: a webhook endpoint, or a broker of a pipeline. Which process serves it, and how it responds. By
-- the system clock. Not in `webhook`, because it changes with every batch.
create table destination (
  team_id           uuid not null references team,
  -- That of the webhook, or the kind of the broker with the team: no other team has the same.
  id                text not null,
  kind              text not null check (kind in ('webhook', 'rabbitmq', 'azure_amqp', 'cloud_pubsub')),
  -- It gets the events of a user one after another, also after a failure.
  keeps_order       boolean not null default false,
  owner             uuid,
  leased_until      timestamptz,
  paused_until      timestamptz,
  -- The endpoint has failed several times within a day, and has not succeeded, since.
  first_failure_at  timestamptz,
  -- The endpoint is disabled after five days of failures from here on.
  failing_since     timestamptz,
  -- Nothing is sent since then, because its secrets cannot be decrypted.
  unreadable_since  timestamptz,
  primary key (team_id, id)
);
-- A worker leases destinations of many teams by their ids alone.
create index destination__id on destination (id);

-- Deleted destinations whose log is still to be erased, one batch at a time. `attempts_to` and `deliveries_to` are how far the
-- erasure has come, in the order of messages.
create table deleted_destination (
  team_id         uuid not null,
  destination_id  text not null,
  deleted_at      timestamptz not null default statement_timestamp(),
  attempts_to     uuid,
  deliveries_to   uuid,
  primary key (team_id, destination_id)
);
create index deleted_destination__oldest on deleted_destination (deleted_at);

-- An event or a message for one destination. It is pending while it has a due time. A process that sends it holds a lease on it;
-- when the lease ends, it is due again. The columns from `attempt_id` on are the attempt that succeeded; `delivery_attempt` has
-- the others. It has no foreign keys, because a check for each row costs as much as the row; the statements that delete
-- destinations and events delete it. Columns that change during a delivery are in no index, so that PostgreSQL updates the row in
-- its page.
create table delivery (
  queue_position   bigint,
  team_id          uuid not null,
  destination_id   text not null,
  message_id       uuid not null,
  -- Deliveries with the same key are sent one after another; null: in any order.
  order_key        uuid,
  state            text not null constraint delivery__state check (state in ('pending', 'delivered', 'failed', 'stopped')),
  due_at           timestamptz,
  -- In the present round; a replay begins a new one.
  attempts         integer not null default 0,
  trigger          text not null,
  -- The last operational message about it: `failing` or `exhausted`.
  last_report      text,
  created_at       timestamptz not null,
  leased_until     timestamptz,
  attempt_id       uuid,
  attempted_at     timestamptz,
  duration_ms      integer,
  response_status  integer,
  response_body    text,
  signature        text,
  custom_headers   text[],
  constraint delivery__once primary key (team_id, destination_id, message_id),
  constraint delivery__pending check ((state = 'pending') = (due_at is not null))
) with (fillfactor = 70);
create index delivery__created on delivery (created_at);
create index delivery__due on delivery (destination_id, due_at, queue_position, message_id) where due_at is not null;
create index delivery__failed on delivery (destination_id) where order_key is not null and attempts > 0 and due_at is not null;
create index delivery__ordered on delivery (destination_id, order_key, queue_position) where order_key is not null and due_at is not null;
-- The deliveries that people look for: those that were not delivered.
create index delivery__undelivered on delivery (team_id, message_id) where state in ('failed', 'stopped');
create sequence delivery_queue_position;

-- Attempts that failed or that a person made.
create table delivery_attempt (
  team_id          uuid not null,
  id               uuid not null,
  trigger          text not null,
  at               timestamptz not null,
  duration_ms      integer not null,
  -- Null: there was no response; `error` says why.
  response_status  integer,
  response_body    text not null,
  error            text,
  succeeded        boolean not null,
  signature        text not null,
  -- Names without values.
  custom_headers   text[] not null,
  destination_id   text not null,
  message_id       uuid not null,
  primary key (team_id, id),
  constraint delivery_attempt__of foreign key (team_id, destination_id, message_id) references delivery on delete cascade
);
create index delivery_attempt__delivery on delivery_attempt (team_id, destination_id, message_id, id);

-- How many attempts were made at each destination in each five minutes.
create table delivery_attempt_count (
  team_id         uuid not null,
  bucket_start    timestamptz not null,
  destination_id  text not null,
  succeeded       boolean not null,
  attempts        bigint not null,
  primary key (team_id, bucket_start, destination_id, succeeded)
);
create index delivery_attempt_count__bucket_start on delivery_attempt_count (bucket_start);

-- A destination that was deleted, disabled or changed while a process held its lease. The process stops and deletes the row, or
-- its lease ends.
create table revoked_lease (
  team_id         uuid not null references team,
  destination_id  text not null,
  owner           uuid not null,
  leased_until    timestamptz not null,
  primary key (team_id, destination_id)
);
create index revoked_lease__leased on revoked_lease (leased_until);
create index revoked_lease__owner on revoked_lease (owner);

-- Messages to endpoints that are not events of the team: about deliveries, and samples sent as a test.
create table webhook_message (
  team_id     uuid not null references team,
  id          uuid not null,
  type        text not null,
  created_at  timestamptz not null,
  body        text not null,
  primary key (team_id, id)
);
create index webhook_message__created on webhook_message (created_at);

-- Pipelines to brokers. `destinations` is encrypted: addresses of brokers with their passwords.
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

-- ==== lab

-- Laboratories. The teams of the cell share them. Which patients a laboratory accepts: the longest names that it can print, and
-- genders; null is no rule.
create table lab (
  id                  integer primary key,
  slug                text not null constraint lab__slug unique,
  name                text not null,
  first_line_address  text not null,
  city                text not null,
  state               text not null,
  zipcode             text not null,
  collection_methods  text[] not null,
  sample_types        text[] not null,
  logo_url            text,
  clia                text,
  medical_director    text,
  max_first_name      integer,
  max_last_name       integer,
  allowed_genders     text[],
  -- An accreditation other than CLIA.
  accreditation       text,
  country             text not null default 'United States'
);

-- Lab tests of teams. `composition_key` identifies a lab test that was made for an order by its markers, so that the next order
-- with the same markers uses it. `is_approved`: an operator has allowed orders of it.
create table lab_test (
  team_id                      uuid not null references team,
  id                           uuid not null,
  slug                         text not null,
  name                         text not null,
  description                  text not null,
  lab_id                       integer not null references lab,
  method                       text not null,
  sample_type                  text not null,
  price                        numeric(12,2) not null,
  fasting                      boolean not null,
  status                       text not null constraint lab_test__status check (status in ('active', 'pending_approval', 'inactive')),
  auto_generated               boolean not null default false,
  has_collection_instructions  boolean not null default false,
  created_at                   timestamptz not null,
  updated_at                   timestamptz not null,
  composition_key              text,
  is_approved                  boolean not null default true,
  primary key (team_id, id)
);
create unique index lab_test__composition_key on lab_test (team_id, composition_key) where composition_key is not null;
-- An operator approves a test by its id alone.
create index lab_test__id on lab_test (id);
create index lab_test__team on lab_test (team_id, created_at, id);

-- What a result can be about. `definition` has its unit, type and reference limits.
create table analyte (
  id          integer generated always as identity primary key,
  slug        text not null constraint analyte__slug unique,
  name        text not null,
  loinc       text,
  loinc_name  text,
  definition  jsonb not null
);

-- The version of the catalog's data files that this cell has.
create table catalog_data_version (
  part      text primary key,
  checksum  text not null
);

-- What laboratories offer. `pricing` is the price as the API shows its parts; null: only `price`.
create table marker (
  id                   integer primary key,
  lab_id               integer not null references lab,
  provider_id          text not null,
  name                 text not null,
  slug                 text not null,
  description          text,
  type                 text not null constraint marker__type check (type in ('biomarker', 'panel')),
  unit                 text,
  price                text not null,
  aoe                  jsonb,
  a_la_carte_enabled   boolean not null,
  is_orderable         boolean not null,
  common_tat_days      integer,
  worst_case_tat_days  integer,
  cpt_codes            text[] not null default '{}',
  pricing              jsonb,
  constraint marker__provider_id unique (lab_id, provider_id)
);

create table lab_test_marker (
  team_id      uuid not null,
  lab_test_id  uuid not null,
  marker_id    integer not null references marker,
  position     integer not null,
  primary key (team_id, lab_test_id, position),
  foreign key (team_id, lab_test_id) references lab_test on delete cascade
);
create index lab_test_marker__marker on lab_test_marker (marker_id);

create table marker_analyte (
  marker_id   integer not null references marker on delete cascade,
  analyte_id  integer not null references analyte,
  position    integer not null,
  required    boolean not null,
  primary key (marker_id, position)
);
create index marker_analyte__analyte on marker_analyte (analyte_id);

-- Accounts at laboratories, under which orders are placed. Without an organization: the platform's own, for every team, one for
-- a laboratory.
create table lab_account (
  id                      uuid primary key,
  lab_id                  integer not null references lab,
  org_id                  uuid,
  status                  text not null constraint lab_account__status check (status in ('active', 'pending', 'suspended', 'ready_to_launch')),
  delegated_flow          text not null constraint lab_account__delegated_flow check (delegated_flow in ('order_delegated', 'result_delegated', 'fully_delegated', 'not_delegated')),
  provider_account_id     text not null,
  account_name            text,
  default_clinical_notes  text,
  business_units          text[],
  -- For each billing type, the states where it is offered.
  allowed_billing         jsonb not null,
  created_at              timestamptz not null
);
create index lab_account__org on lab_account (org_id, created_at, id);
create unique index lab_account__platform on lab_account (lab_id) where org_id is null;

-- Teams that may order under an account of their organization.
create table lab_account_team (
  account_id  uuid not null references lab_account on delete cascade,
  team_id     uuid not null references team,
  primary key (account_id, team_id)
);
create index lab_account_team__team on lab_account_team (team_id);

-- Links to laboratories, one for an account: how messages are transported, and what they mean where they leave it open.
create table lab_link (
  account_id     uuid primary key references lab_account,
  -- The options of the profile, as JSON: those that differ from the preset's, or without a preset from the defaults.
  preset         text,
  options        text not null,
  -- The passwords and private keys of the profile: JSON from the path of an option to its value. Encrypted.
  secrets        text,
  -- Whether the profile says how orders go to the laboratory.
  sends_orders   boolean not null,
  -- Whether staff send kits to patients, and not the laboratory.
  sends_kits     boolean not null,
  mode           text not null constraint lab_link__mode check (mode in ('off', 'test', 'shadow', 'live_for_team', 'live')),
  live_team_id   uuid,
  constraint lab_link__live_team check ((mode = 'live_for_team') = (live_team_id is not null)),
  state          text not null constraint lab_link__state check (state in ('ok', 'failing')),
  state_at       timestamptz not null,
  -- Why it fails; without patient data.
  state_reason   text,
  -- The last messages, to within ten seconds.
  received_at    timestamptz,
  sent_at        timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null
);
create index lab_link__live_team on lab_link (live_team_id) where live_team_id is not null;

-- Which process carries the messages of a link.
create table lab_link_lease (
  account_id    uuid primary key references lab_link on delete cascade,
  owner         uuid,
  fence         integer not null default 0,
  leased_until  timestamptz
);

-- The ports to which laboratories connect, of each process that opens them or should.
create table lab_listener (
  owner    uuid not null,
  host     text not null,
  port     integer not null,
  is_tls   boolean not null,
  -- Why laboratories cannot connect; null if they can.
  reason   text,
  -- Processes write it three times a minute.
  seen_at  timestamptz not null,
  primary key (owner, host, port)
);
create index lab_listener__port on lab_listener (port);

-- The checks and trials of links that are running, one for each link.
create table lab_link_claim (
  account_id     uuid primary key references lab_link on delete cascade,
  purpose        text not null constraint lab_link_claim__purpose check (purpose in ('check', 'trial')),
  -- One that was killed no longer counts then.
  expires_at     timestamptz not null
);

-- The newest trial of a link: fictional orders that were sent in mode `test`, and the laboratory's answers.
create table lab_link_trial (
  account_id     uuid not null references lab_link on delete cascade,
  position       integer not null,
  name           text not null,
  contents       text not null,
  results        text not null,
  expected       text not null constraint lab_link_trial__expected check (expected in ('accepted', 'refused', 'cancelled')),
  placer_number  text not null,
  control_id     text not null,
  -- Null: the message could not be written.
  bytes          bytea,
  -- Null: the message was not sent yet, or its trial ended before.
  sent_at        timestamptz,
  answer         bytea,
  error          text,
  created_at     timestamptz not null,
  primary key (account_id, position)
);

-- Orders. `document` is the order in the form of the API, and the record of it. Other columns are there to find, sort and
-- protect orders. `internal_data` has what the caller sent with the order and the API does not show. There are no keys to the
-- team and the lab test: the key to the user prevents that an order outlives its team, a lab test is deleted only with its team,
-- and each check costs an order 7 µs.
create table lab_order (
  team_id           uuid not null,
  id                uuid not null,
  user_id           uuid not null,
  transaction_id    uuid not null,
  lifecycle_name    text not null,
  lab_test_id       uuid not null,
  lab_id            integer not null,
  method            text not null,
  low_level_status  text not null,
  status_at         timestamptz not null,
  sample_id         text,
  activate_by       date,
  interpretation    text,
  patient_name      text,
  patient_dob       date,
  recipient_name    text,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  document          text not null,
  internal_data     text not null,
  -- The detail of the last status, whether the kit has left, and the account: the work list reads these columns in place of the document.
  status_detail     text,
  kit_sent          boolean,
  lab_account_id    uuid,
  primary key (team_id, id),
  foreign key (team_id, user_id) references "user"
) with (toast_tuple_target = 8160);
-- A typed code of a kit is compared in capitals, without spaces and hyphens. Most codes are stored in that form and found by
-- lab_order__sample_id; this index has the others.
create index lab_order__kit_spelling on lab_order (translate(upper(sample_id), E'- \t\n\r\f\x0b', ''), team_id)
  where sample_id is not null and method = 'testkit' and sample_id <> translate(upper(sample_id), E'- \t\n\r\f\x0b', '');
-- Parts of both names are found by trigrams. `migrate` has created the extension, if another schema did not have it.
do $$
begin
  execute format(
    'create index lab_order__names on lab_order using gin (patient_name %1$I.gin_trgm_ops, recipient_name %1$I.gin_trgm_ops)',
    (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'));
end $$;
-- It has the users, so that a page far down the list reads no order before it.
create index lab_order__newest on lab_order (team_id, created_at, id) include (user_id);
-- For results whose number the laboratory does not know: patients are found by their date of birth.
create index lab_order__patient on lab_order (team_id, patient_dob) where patient_dob is not null;
-- It does not begin with the team, because laboratories name samples without it.
create unique index lab_order__sample_id on lab_order (sample_id, lab_id, team_id) where sample_id is not null;
-- Those that their laboratory does not have.
create index lab_order__unplaced on lab_order (lab_account_id) where status_detail = 'fulfillment_error';
create index lab_order__status on lab_order (team_id, low_level_status, created_at, id);
create index lab_order__transaction on lab_order (team_id, transaction_id);
-- The total of a list of orders subtracts those of deleted users, by this index alone.
create index lab_order__user on lab_order (user_id) include (team_id);

-- The ids of the events in orders. Each process reserves 64 of them.
create sequence order_event_id increment by 64;

-- Results of orders. `document` is in the form of the API. `report` is all that the laboratory has reported on the order, in the neutral
-- form of links: a later report may add to it.
create table lab_result (
  team_id         uuid not null references team,
  order_id        uuid not null,
  status          text not null constraint lab_result__status check (status in ('partial', 'final')),
  interpretation  text not null,
  document        text not null,
  report          text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  -- Results of earlier reports on the order that the present one does not have, as JSON: [{ "key", "name", "loinc" }]. Receivers
  -- are told that they are no longer valid. Null: none.
  withdrawn       text,
  -- The laboratory's documents of the present report. The last one is the PDF of the result; without any it is rendered.
  pdf_ids         uuid[] not null default '{}',
  primary key (team_id, order_id),
  foreign key (team_id, order_id) references lab_order
);

-- The documents of a laboratory with its results, and one that staff uploaded. One may be shown in place of a rendered PDF.
create table lab_result_pdf (
  team_id        uuid not null references team,
  id             uuid not null,
  order_id       uuid not null,
  -- Which report it is: the laboratory's number of it, the test that it belongs to, its own code, and its position among those that agree in these.
  -- A document of the same report replaces it. All are empty for one that staff uploaded.
  report_number  text not null,
  test_code      text not null,
  code           text not null,
  position       integer not null,
  name           text not null,
  checksum       text not null,
  bytes          bytea not null,
  created_at     timestamptz not null,
  primary key (team_id, id),
  foreign key (team_id, order_id) references lab_order
);
create unique index lab_result_pdf__newest on lab_result_pdf (team_id, order_id, report_number, test_code, code, position);

-- What laboratories sent, as it came in, and what it was matched with. A row without a team waits for an operator to assign it.
-- Link, sender, `message_id` and `digest` identify a message, so that it is stored once. `link_account_id`: the lab account over whose
-- link it came; null: it came from a sender of one team. `digest` is of all that the message says, because senders use ids again.
-- `visible_to_team`: the team was notified of it.
-- `candidate_user_ids`: the users whom it may be about; it is erased with the last of them. `search_text` is what reviews are
-- found by, in lower case.
create table raw_result (
  id                  uuid primary key,
  team_id             uuid references team,
  lab_id              integer not null,
  link_account_id     uuid,
  sender              text not null,
  message_id          text not null,
  digest              text not null,
  sample_id           text,
  search_text         text not null,
  payload             text not null,
  -- The laboratory's own documents, until a result without an order has one; null for one that is no PDF.
  pdfs                bytea[] not null default '{}',
  status              text not null constraint raw_result__status check (status in ('matched', 'pending_customer_review', 'pending_ops_review', 'resolved')),
  decision_code       text not null,
  sub_reason_codes    text[] not null default '{}',
  candidates          text not null,
  candidate_user_ids  uuid[] not null default '{}',
  visible_to_team     boolean not null default false,
  note                text,
  resolution_action   text,
  resolved_user_id    uuid,
  resolved_order_id   uuid,
  created_at          timestamptz not null,
  updated_at          timestamptz not null,
  reviewed_at         timestamptz,
  constraint raw_result__once unique nulls not distinct (lab_id, link_account_id, sender, message_id, digest)
);
create index raw_result__review on raw_result (team_id, created_at, id) where status <> 'matched';
create index raw_result__sample on raw_result (sample_id, lab_id, team_id) where sample_id is not null;
create index raw_result__team on raw_result (team_id);
create index raw_result__unassigned on raw_result (created_at, id) where team_id is null;
create index raw_result__users on raw_result (candidate_user_ids);

-- Messages over links to laboratories: incoming ones, stored before they are read, and outgoing ones. `bytes` are the message as it came or
-- goes. An incoming message is identified by link and digest of its bytes. It goes with its result; without a team it has no result, or one
-- that waits for an operator to assign it. Times are machine time.
create table lab_message (
  id                  uuid primary key,
  team_id             uuid references team,
  -- Null: no link is known for its sender.
  link_account_id     uuid references lab_link,
  direction           text not null constraint lab_message__direction check (direction in ('in', 'out')),
  -- Of an incoming message: transport and address, without the port.
  source              text,
  digest              text not null,
  bytes               bytea not null,
  -- Such as `ORU^R01`. Null, as sender and control id: the message cannot be read.
  message_type        text,
  sender              text,
  control_id          text,
  -- A message with other content had the same control id.
  reuses_control_id   boolean not null default false,
  -- Incoming messages with the same key are processed in the order in which they came.
  ordering_key        text,
  state               text not null,
  attempts            integer not null default 0,
  repetitions         integer not null default 0,
  -- What is wrong: a code, and a text without patient data.
  reason              text,
  error               text,
  -- What a person who marked it as done wrote.
  comment             text,
  raw_result_id       uuid references raw_result on delete cascade,
  -- Without a foreign key, because the message is stored before its team is known: the eraser of orders deletes their messages.
  order_id            uuid,
  -- The newest answer to an outgoing message.
  answer              bytea,
  answered_at         timestamptz,
  -- When it is to be processed or sent; null if it is not. Of one that the laboratory has stored, when it expires without an answer.
  due_at              timestamptz,
  -- When an outgoing message was queued, or queued again.
  queued_at           timestamptz,
  owner               uuid,
  fence               integer not null default 0,
  leased_until        timestamptz,
  created_at          timestamptz not null,
  updated_at          timestamptz not null,
  constraint lab_message__state check (
    (direction = 'in' and state in ('received', 'applied', 'review', 'test', 'shadow', 'failed', 'done'))
    or (direction = 'out' and state in ('queued', 'sent', 'committed', 'accepted', 'refused', 'expired', 'done'))),
  constraint lab_message__link check (direction = 'in' or (link_account_id is not null and order_id is not null and team_id is not null))
);
create index lab_message__control_id on lab_message (link_account_id, control_id);
create index lab_message__created on lab_message (created_at, id);
create index lab_message__issues on lab_message (created_at, id) where reason is not null;
create index lab_message__open_issues on lab_message (link_account_id, created_at) where reason is not null and state <> 'done';
create unique index lab_message__once on lab_message (digest, link_account_id) nulls not distinct where direction = 'in';
create index lab_message__order on lab_message (order_id) where order_id is not null;
create unique index lab_message__sent_once on lab_message (link_account_id, control_id) where direction = 'out';
create index lab_message__outbox on lab_message (link_account_id, created_at, id) where direction = 'out' and due_at is not null;
create index lab_message__pending on lab_message (ordering_key) where state = 'received';
create index lab_message__queue on lab_message (link_account_id, created_at, id) where state = 'received';
create index lab_message__raw_result on lab_message (raw_result_id) where raw_result_id is not null;
create index lab_message__received on lab_message (link_account_id, created_at, id) where direction = 'in';
create index lab_message__sent on lab_message (link_account_id, created_at, id) where direction = 'out';
create index lab_message__team on lab_message (team_id) where team_id is not null;
create index lab_message__unknown on lab_message (source, created_at) where link_account_id is null;

-- Results over links in mode `shadow`, which no team sees: the laboratory's report, and the order that it matches. Null: none is certain, and
-- `mismatch` says why.
create table lab_shadow_result (
  team_id          uuid not null references team,
  id               uuid not null,
  order_id         uuid,
  link_account_id  uuid not null references lab_link,
  message_id       uuid not null,
  control_id       text not null,
  mismatch         text,
  report           text not null,
  created_at       timestamptz not null,
  primary key (team_id, id),
  constraint lab_shadow_result__once unique (team_id, message_id, control_id),
  foreign key (team_id, order_id) references lab_order
);
create index lab_shadow_result__created on lab_shadow_result (created_at);
create index lab_shadow_result__link on lab_shadow_result (team_id, link_account_id, created_at);
create index lab_shadow_result__order on lab_shadow_result (team_id, order_id);

-- The results of a message: one for each of its orders, and of the messages of a batch.
create table lab_message_result (
  message_id     uuid not null references lab_message on delete cascade,
  raw_result_id  uuid not null references raw_result on delete cascade,
  team_id        uuid references team,
  primary key (message_id, raw_result_id)
);
create index lab_message_result__result on lab_message_result (raw_result_id);
create index lab_message_result__team on lab_message_result (team_id);

-- What a person must look at on links, besides the messages that have a reason: of an applied message, or of a link as a whole. While one is
-- open, the same again is counted. An issue `link_down` is open from the mail that the link fails to the mail that it works again.
create table lab_link_issue (
  id               uuid primary key,
  link_account_id  uuid references lab_link,
  message_id       uuid references lab_message on delete cascade,
  source           text,
  -- The team of the order that `source` names. The issue itself is of the link's organization.
  order_team_id    uuid,
  reason           text not null,
  -- Without patient data.
  detail           text,
  count            integer not null default 1,
  state            text not null constraint lab_link_issue__state check (state in ('open', 'done')),
  -- What a person who marked it as done wrote.
  comment          text,
  created_at       timestamptz not null,
  updated_at       timestamptz not null
);
create index lab_link_issue__created on lab_link_issue (created_at, id);
create index lab_link_issue__link on lab_link_issue (link_account_id);
create index lab_link_issue__message on lab_link_issue (message_id);
create unique index lab_link_issue__open on lab_link_issue (link_account_id, message_id, source, reason) nulls not distinct
  where state = 'open';

-- The numbers by which laboratories name an order over a link: ours, and their own, which they report with results.
create table lab_order_number (
  team_id          uuid not null references team,
  order_id         uuid not null,
  link_account_id  uuid not null,
  kind             text not null constraint lab_order_number__kind check (kind in ('placer', 'filler', 'specimen', 'accession', 'group')),
  number           text not null,
  created_at       timestamptz not null,
  primary key (team_id, order_id, link_account_id, kind, number),
  foreign key (team_id, order_id) references lab_order
);
create index lab_order_number__number on lab_order_number (number, kind, link_account_id, team_id);

-- ==== wearables

-- The devices that recorded data of users.
create table device (
  team_id       uuid not null references team,
  user_id       uuid not null,
  provider      text not null,
  -- What distinguishes devices of one provider: the provider's id, or manufacturer, model and type.
  key           text not null,
  id            uuid not null,
  source_type   text not null,
  app_id        text,
  manufacturer  text,
  model         text,
  version       text,
  -- The provider's own id.
  device_id     text,
  -- The time of the newest data that changed this row.
  seen_at       timestamptz not null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (team_id, user_id, provider, key),
  foreign key (team_id, user_id) references "user"
);

-- Summaries of health data: one row for a day, a night, a workout, a measurement or a profile.
create table summary (
  team_id            uuid not null references team,
  user_id            uuid not null,
  kind               text not null,
  provider           text not null,
  -- What distinguishes records of one kind and provider: a day, or the provider's id.
  key                text not null,
  id                 uuid not null,
  source_type        text not null,
  app_id             text,
  calendar_date      date,
  -- What the API shows in addition to the ids, the source and the times of writing; absent fields are shown as null.
  document           jsonb not null,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  device_id          uuid,
  -- A record as its provider sent it, without samples; null where it was not stored.
  raw                jsonb,
  -- The seconds of a workout in six zones of heart rate, as the server computed them. Zones from the source are in the document
  -- and have precedence.
  computed_hr_zones  integer[],
  -- What the source said that only queries show, by the name of the column.
  query_values       jsonb,
  -- The keys of the other sessions that were joined to this night; null: none.
  joined_keys        text[],
  primary key (team_id, user_id, kind, provider, key),
  foreign key (team_id, user_id) references "user"
);
create index summary__date on summary (team_id, user_id, kind, calendar_date);
create index summary__id on summary (team_id, id);

-- Series of samples, by their source.
create table series (
  id           bigint generated always as identity,
  team_id      uuid not null references team,
  user_id      uuid not null,
  resource     text not null,
  provider     text not null,
  source_type  text not null,
  app_id       text,
  device_id    uuid,
  workout_id   uuid,
  sport        text,
  changed_at   timestamptz not null,
  primary key (team_id, user_id, id),
  constraint series__source unique nulls not distinct (team_id, user_id, resource, provider, source_type, app_id, device_id, workout_id, sport),
  foreign key (team_id, user_id) references "user"
);

-- Samples of health data: one row for a series and an hour, with arrays of instants and values.
create table chunk (
  team_id    uuid not null,
  user_id    uuid not null,
  series_id  bigint not null,
  -- The beginning of the hour.
  hour       timestamptz not null,
  samples    integer not null,
  -- Milliseconds after the beginning of the hour, ascending.
  at         integer[] not null,
  "values"   double precision[] not null,
  -- The second number of a sample: the diastolic blood pressure.
  seconds    double precision[],
  -- Milliseconds from the beginning of a sample to its end.
  lengths    integer[],
  -- Seconds east of UTC.
  zones      integer[],
  types      text[],
  primary key (team_id, user_id, series_id, hour),
  foreign key (team_id, user_id, series_id) references series
);

-- Streams of workouts: one row for a workout, as it is read. It is deleted with its workout.
create table workout_stream (
  team_id     uuid not null references team,
  user_id     uuid not null,
  provider    text not null,
  key         text not null,
  kind        text not null default 'workouts' check (kind = 'workouts'),
  -- The number of its instants.
  samples     integer not null,
  -- JSON of parallel lists.
  stream      text not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (team_id, user_id, provider, key),
  foreign key (team_id, user_id, kind, provider, key) references summary on delete cascade
);

-- Histories of connections, by resource. A history that has begun and has not ended has no `ended_at`.
create table historical_pull (
  team_id         uuid not null references team,
  user_id         uuid not null,
  provider        text not null,
  resource        text not null,
  range_start     timestamptz not null,
  range_end       timestamptz not null,
  ended_at        timestamptz,
  started_at      timestamptz,
  days_with_data  integer not null default 0,
  scheduled_at    timestamptz,
  -- The reason of the last failure. With `ended_at` the history has failed, without it there will be another attempt.
  error           text,
  primary key (team_id, user_id, provider, resource),
  foreign key (team_id, user_id) references "user"
);

-- The data of each resource of a user that came in.
create table resource_state (
  team_id          uuid not null references team,
  user_id          uuid not null,
  provider         text not null,
  resource         text not null,
  last_attempt_at  timestamptz not null,
  -- Null until there is data.
  oldest_data      timestamptz,
  newest_data      timestamptz,
  -- Records that were new or changed.
  sent_count       bigint not null,
  primary key (team_id, user_id, provider, resource),
  foreign key (team_id, user_id) references "user"
);

-- Posts with data that changed nothing, by user, provider and resource, within a day from the first of them.
create table repeated_post (
  team_id   uuid not null references team,
  user_id   uuid not null,
  provider  text not null,
  resource  text not null,
  posts     integer not null,
  first_at  timestamptz not null,
  last_at   timestamptz not null,
  primary key (team_id, user_id, provider, resource),
  foreign key (team_id, user_id) references "user"
);
create index repeated_post__many on repeated_post (team_id, user_id, provider, resource) where posts >= 100;

-- Posts of health data that were rejected, whole or in part: by user, provider, resource and bytes, so that a client that sends
-- the same rejected data again and again is noticed.
create table rejected_post (
  team_id   uuid not null references team,
  user_id   uuid not null,
  provider  text not null,
  resource  text not null,
  digest    bytea not null,
  is_whole  boolean not null,
  records   integer not null,
  message   text not null,
  posts     integer not null,
  first_at  timestamptz not null,
  last_at   timestamptz not null,
  primary key (team_id, user_id, provider, resource, digest),
  foreign key (team_id, user_id) references "user"
);

-- What is known of each day of a resource of a user: a row for a month, with a bit for each of its days, from the lowest on.
create table day_record (
  team_id        uuid not null references team,
  user_id        uuid not null,
  provider       text not null,
  resource       text not null,
  month          date not null check (extract(day from month) = 1),
  asked          integer not null,
  -- The source has sent all its data of the day.
  answered       integer not null,
  received       integer not null,
  stored         integer not null,
  failed         integer not null,
  -- The last failure in the month.
  error_type     text,
  error_message  text,
  errored_at     timestamptz,
  primary key (team_id, user_id, provider, resource, month),
  foreign key (team_id, user_id) references "user"
);

-- Queries over health data that are evaluated again when the data of a user changes; without a team, for every user of the
-- organization. Archived queries stay, and their slugs stay taken. JSON is stored as it was sent, because the order of its keys
-- is the order of the columns.
create table continuous_query (
  id                           uuid primary key,
  org_id                       uuid not null,
  team_id                      uuid references team,
  slug                         text not null,
  title                        text not null,
  status                       text not null constraint continuous_query__status check (status in ('active', 'archived')),
  query                        json not null,
  provider_priority_overrides  text[],
  minimum_gap_duration_second  integer constraint continuous_query__gap check (minimum_gap_duration_second >= 1800),
  data_events                  boolean not null,
  fhir_observations            boolean not null,
  result_table_schema          json not null,
  resource_dependencies        text[] not null,
  created_at                   timestamptz not null,
  updated_at                   timestamptz not null
);
create index continuous_query__newest on continuous_query (org_id, created_at, id);
create unique index continuous_query__platform_slug on continuous_query (org_id, slug) where team_id is null;
create unique index continuous_query__slug on continuous_query (team_id, slug) where team_id is not null;

-- When queries were and will be evaluated.
create table query_task (
  team_id        uuid not null references team,
  user_id        uuid not null,
  query_id       uuid not null references continuous_query,
  id             uuid not null,
  status         text not null constraint query_task__status check (status in ('scheduled', 'started', 'completed', 'error', 'skipped')),
  scheduled_at   timestamptz not null,
  started_at     timestamptz,
  ended_at       timestamptz,
  error_details  text,
  -- The local days whose data changed.
  from_day       date not null,
  to_day         date not null,
  -- By the system clock, for retention.
  created_at     timestamptz not null default statement_timestamp(),
  -- Attempts that have begun. The next task takes over the days of one that has used all attempts.
  attempts       integer not null default 0,
  primary key (team_id, user_id, query_id, id),
  foreign key (team_id, user_id) references "user"
);
create index query_task__created on query_task (created_at);
create index query_task__newest on query_task (team_id, user_id, query_id, scheduled_at, id);
create index query_task__query on query_task (query_id);
create unique index query_task__scheduled on query_task (team_id, user_id, query_id) where status = 'scheduled';
-- When a query was last evaluated for a user, which every post reads.
create index query_task__started on query_task (team_id, user_id, query_id, started_at desc);

-- Results of queries.
create table query_result (
  team_id       uuid not null references team,
  user_id       uuid not null,
  query_id      uuid not null references continuous_query,
  -- JSON lists of rows: as they were computed, and as they are shown, with gaps filled.
  computed      text not null,
  shown         text not null,
  evaluated_at  timestamptz not null,
  primary key (team_id, user_id, query_id),
  foreign key (team_id, user_id) references "user"
);
create index query_result__query on query_result (query_id);

-- How long a team keeps its health data; resource null: every resource that has no rule.
create table data_retention (
  team_id     uuid not null references team,
  resource    text,
  days        integer not null,
  updated_at  timestamptz not null,
  constraint data_retention__rule unique nulls not distinct (team_id, resource)
);
-- It has no primary key: logical replication, which moves shards of Citus, compares whole rows.
alter table data_retention replica identity full;

-- How far the deletion of a team's expired health data has come, and when it begins again.
create table data_retention_check (
  team_id     uuid primary key references team,
  next_at     timestamptz not null,
  -- Users up to this one are checked; null at the beginning.
  after_user  uuid
);
create index data_retention_check__next on data_retention_check (next_at);

-- ==== lab-reports

-- Laboratory terms of the LOINC release that the operator has imported. Empty without an import.
create table loinc_release_term (
  code        text collate "C" primary key,
  long_name   text not null,
  component   text not null,
  property    text not null,
  timing      text not null,
  system      text not null,
  scale       text not null,
  method      text not null,
  class       text not null,
  short_name  text not null,
  units       text not null,
  -- 1 is the most frequent.
  rank        integer not null,
  -- The words of all names.
  search      tsvector not null,
  -- False only during an import, for terms that its file does not have.
  is_in_file  boolean not null
);
create index loinc_release_term__search on loinc_release_term using gin (search);

-- Uploaded lab reports and what was read from them.
create table parsing_job (
  team_id             uuid not null references team,
  id                  uuid not null,
  user_id             uuid not null,
  status              text not null check (status in ('upload_pending', 'started', 'pending_review', 'completed', 'failed')),
  failure_reason      text,
  needs_human_review  boolean not null,
  is_reviewed         boolean not null default false,
  -- The key of the files, encrypted.
  file_key            text,
  file_types          jsonb not null,
  pages               integer not null,
  attempts            integer not null default 0,
  -- The report as it was read, with the positions of its results.
  extracted           jsonb,
  created_at          timestamptz not null,
  updated_at          timestamptz not null,
  -- How many times the report was corrected: a reviewer names the version that the correction changes.
  review_version      integer not null default 0,
  -- The report as a person approved it, who decided, and when.
  reviewed            jsonb,
  decided_by          text,
  decided_at          timestamptz,
  primary key (team_id, id),
  foreign key (team_id, user_id) references "user"
);
-- For the limit of sandbox teams.
create index parsing_job__counted on parsing_job (team_id) where failure_reason is null and status <> 'failed';
create index parsing_job__pending_review on parsing_job (team_id, created_at, id) where status = 'pending_review';
-- The next job of a team.
create index parsing_job__unfinished on parsing_job (team_id, id) where status in ('upload_pending', 'started');
create index parsing_job__user on parsing_job (team_id, user_id);

-- Corrections of parsed reports.
create table parsing_job_correction (
  team_id     uuid not null,
  job_id      uuid not null,
  -- From 1, in the order in which they apply.
  number      integer not null,
  action      text not null check (action in ('change_metadata', 'change_result', 'add_result', 'remove_result')),
  result_id   integer,
  fields      jsonb not null,
  -- The key of the request.
  key_id      text not null,
  created_at  timestamptz not null,
  primary key (team_id, job_id, number),
  foreign key (team_id, job_id) references parsing_job on delete cascade
);

-- ==== connections

-- Credentials of a team's own applications and accounts at providers. `client_secret` and `details` are encrypted; `details` is
-- JSON.
create table custom_credential (
  team_id                uuid not null references team,
  id                     uuid not null,
  provider               text not null,
  client_id              text,
  client_secret          text,
  details                text,
  redirect_url_override  text,
  created_at             timestamptz not null,
  updated_at             timestamptz not null,
  primary key (team_id, id),
  constraint custom_credential__once unique (team_id, provider)
);
-- A manager deletes credentials of several teams by their ids alone.
create index custom_credential__id on custom_credential (id);
create index custom_credential__newest on custom_credential (created_at, id);

-- How many days of history a new connection to a provider pulls, for teams that do not use the default. `resource_overrides` is
-- a map of resources to days.
create table data_pull_preference (
  team_id             uuid not null references team,
  provider            text not null,
  days                integer not null constraint data_pull_preference__days check (days >= 1 and days <= 365),
  resource_overrides  jsonb,
  updated_at          timestamptz not null,
  primary key (team_id, provider)
);

-- Connections of users to sources of health data.
create table connection (
  team_id              uuid not null references team,
  user_id              uuid not null,
  provider             text not null,
  id                   uuid not null,
  status               text not null check (status in ('connected', 'error', 'paused')),
  external_user_id     text,
  granted_permissions  text[],
  error_type           text,
  error_message        text,
  errored_at           timestamptz,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  -- The data of the connection is made up.
  is_demo              boolean not null default false,
  -- The scopes of a cloud that the user has granted; null: the provider has no scopes, or did not say.
  granted_scopes       text[],
  primary key (team_id, user_id, provider),
  constraint connection__error check ((status = 'error') = ((error_type is not null) and (error_message is not null) and (errored_at is not null))),
  foreign key (team_id, user_id) references "user"
);
create index connection__created on connection (team_id, created_at);
create index connection__failing on connection (team_id, errored_at, id) where status = 'error';

-- Grants of users at clouds of vendors. Tokens are encrypted.
create table provider_grant (
  team_id           uuid not null references team,
  id                uuid not null,
  user_id           uuid not null,
  provider          text not null,
  connection_id     uuid not null,
  -- The user's id at the vendor.
  external_user_id  text,
  access_token      text not null,
  refresh_token     text,
  expires_at        timestamptz,
  scopes            text[],
  -- Grows when the tokens are replaced.
  version           integer not null,
  -- The version that the vendor refused to refresh.
  refused_version   integer,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  -- The connection has ended, and the grant is to be revoked at the vendor.
  ended_at          timestamptz,
  -- The lease of the process that refreshes the tokens: a random id, and its end by the clock of the database.
  refresh_owner     uuid,
  refreshing_until  timestamptz,
  -- When the vendor refused to refresh the tokens of `refused_version`.
  refused_at        timestamptz,
  primary key (team_id, id),
  foreign key (team_id, user_id) references "user"
);
create unique index provider_grant__current on provider_grant (team_id, user_id, provider) where ended_at is null;
create index provider_grant__ended on provider_grant (ended_at) where ended_at is not null;
create index provider_grant__external on provider_grant (team_id, provider, external_user_id) where ended_at is null;
create index provider_grant__user on provider_grant (team_id, user_id);

-- What was requested at clouds of vendors: by user, provider and resource.
create table provider_pull (
  team_id     uuid not null references team,
  user_id     uuid not null,
  provider    text not null,
  resource    text not null,
  -- The times whose data was requested and stored.
  covered     tstzmultirange not null default '{}',
  asked_at    timestamptz,
  -- `data`, `empty` or `failed`.
  result      text,
  error       text,
  -- The last refresh on request that is done.
  refresh_id  uuid,
  primary key (team_id, user_id, provider, resource),
  foreign key (team_id, user_id) references "user"
);

-- When the vendor of a connection last notified, and when it was last polled.
create table provider_watermark (
  team_id      uuid not null references team,
  user_id      uuid not null,
  provider     text not null,
  notified_at  timestamptz,
  polled_at    timestamptz,
  primary key (team_id, user_id, provider),
  foreign key (team_id, user_id) references "user"
);

-- What is left of the limits of a team's application at a vendor, by the system clock.
create table provider_limit (
  team_id        uuid not null references team,
  provider       text not null,
  -- One for each limit of the connector.
  tokens         double precision[] not null,
  refilled_at    timestamptz not null,
  blocked_until  timestamptz,
  primary key (team_id, provider)
);

-- The newest report of a phone about its own synchronization: diagnostics, replaced by the next report.
create table phone_sync (
  team_id      uuid not null references team,
  user_id      uuid not null,
  provider     text not null,
  received_at  timestamptz not null,
  report       jsonb not null,
  primary key (team_id, user_id, provider),
  foreign key (team_id, user_id) references "user"
);

-- Imports of files of health data.
create table file_import (
  team_id         uuid not null references team,
  id              uuid not null,
  user_id         uuid not null,
  status          text not null check (status in ('uploading', 'queued', 'importing', 'completed', 'partial', 'failed')),
  format          text,
  -- The key of the file, encrypted; null when the import has ended.
  file_key        text,
  received_bytes  bigint not null,
  -- Where the last received part begins.
  last_start      bigint not null default 0,
  progress        double precision not null default 0,
  -- Attempts since the last batch that was stored.
  attempts        integer not null default 0,
  -- Stored batches, and the version of the program that reads the file.
  batches         integer not null default 0,
  reader          text,
  results         jsonb not null default '{}',
  skipped         jsonb not null default '{}',
  error           text,
  created_at      timestamptz not null,
  finished_at     timestamptz,
  -- By the system clock; null until the import has ended.
  expires_at      timestamptz,
  -- Turns that the import has had. An import without one is before others, whose files may be long.
  turns           integer not null default 0,
  primary key (team_id, id),
  foreign key (team_id, user_id) references "user"
);
create index file_import__expires on file_import (expires_at);
create index file_import__unfinished on file_import (team_id, id) where finished_at is null;
create index file_import__user on file_import (team_id, user_id);

-- The encrypted bytes of files whose import has not ended.
create table file_import_part (
  team_id     uuid not null,
  import_id   uuid not null,
  -- Where in the file the bytes begin.
  start_byte  bigint not null,
  bytes       bytea not null,
  primary key (team_id, import_id, start_byte),
  foreign key (team_id, import_id) references file_import on delete cascade
);
alter table file_import_part alter column bytes set storage external;

-- Sessions of phones: a sign-in token opens one, refresh tokens continue it.
create table phone_session (
  team_id       uuid not null references team,
  user_id       uuid not null,
  id            uuid not null,
  -- SHA-256 of the token that was used last, or of the sign-in token, and of the refresh tokens that replaced it.
  token_hashes  text[] not null,
  created_at    timestamptz not null,
  ended_at      timestamptz,
  expires_at    timestamptz not null,
  primary key (team_id, user_id, id),
  foreign key (team_id, user_id) references "user"
);
create index phone_session__expires on phone_session (expires_at);

-- Link sessions: what the token of a session names, and the state of the session.
create table link_session (
  team_id              uuid not null references team,
  user_id              uuid not null,
  id                   uuid not null,
  -- The provider for which the token was issued; null: the user picks one.
  provider             text,
  redirect_url         text,
  filter_on_providers  text[],
  redirects_on_error   boolean not null,
  redirects_on_close   boolean not null,
  -- The provider of the start step of older clients.
  started_provider     text,
  -- SHA-256 of the `state` of the last redirect to a provider that has not returned, and that provider.
  state_hash           text,
  state_provider       text,
  -- The error of the last attempt to link.
  error_type           text,
  -- The provider that was linked, and when: a session links once.
  linked_provider      text,
  consumed_at          timestamptz,
  created_at           timestamptz not null,
  expires_at           timestamptz not null,
  primary key (team_id, user_id, id),
  foreign key (team_id, user_id) references "user"
);
create index link_session__expires on link_session (expires_at);
create index link_session__id on link_session (team_id, id);

-- Codes with which a user signs in to an app on a phone. A code has 32 bits, so wrong codes are limited.
create table link_code (
  team_id     uuid not null references team,
  user_id     uuid not null,
  -- SHA-256 of the code.
  code_hash   text not null,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  primary key (team_id, user_id, code_hash),
  foreign key (team_id, user_id) references "user"
);
create index link_code__expires on link_code (expires_at);
create index link_code__hash on link_code (code_hash);

-- Operations on the connections of many users to a provider.
create table bulk_operation (
  team_id     uuid not null references team,
  id          uuid not null,
  type        text not null check (type in ('link_bulk_import', 'link_bulk_historical_trigger')),
  provider    text not null,
  status      text not null check (status in ('in_progress', 'success', 'failure', 'aborted')),
  total       integer not null,
  processed   integer not null default 0,
  started_at  timestamptz not null,
  ended_at    timestamptz,
  -- By the system clock; null while the operation is in progress.
  expires_at  timestamptz,
  primary key (team_id, id)
);
create index bulk_operation__expires on bulk_operation (expires_at);
create index bulk_operation__unfinished on bulk_operation (team_id, id) where ended_at is null;

-- What an operation does for each user.
create table bulk_operation_user (
  team_id       uuid not null,
  operation_id  uuid not null,
  position      integer not null,
  -- As the caller sent it: there may be no such user.
  user_id       uuid not null,
  -- The tokens of an import, encrypted; null as soon as they are stored with the connection.
  recipe        text,
  result        text check (result in ('done', 'failed')),
  primary key (team_id, operation_id, position),
  foreign key (team_id, operation_id) references bulk_operation on delete cascade
);
create index bulk_operation_user__user on bulk_operation_user (team_id, user_id);

-- ==== visits

-- Responses of the geocoder; without `lat` it knew no such place.
create table geocoding_cache (
  country       text not null,
  postal_code   text not null,
  city          text not null,
  lat           double precision,
  lng           double precision,
  result_city   text not null,
  result_state  text not null,
  fetched_at    timestamptz not null,
  primary key (country, postal_code, city)
);
create index geocoding_cache__fetched on geocoding_cache (fetched_at);
create index geocoding_cache__unknown on geocoding_cache (fetched_at) where lat is null;

-- Postal codes that the operator has imported, without spaces and hyphens. Those of the United States come with the program.
create table postal_code_location (
  country      text not null,
  postal_code  text not null,
  city         text not null,
  state        text not null,
  lat          double precision not null,
  lng          double precision not null,
  primary key (country, postal_code, city)
);

-- `document` is the appointment in the form of the API, `internal_data` what the API does not show; both are JSON. `site_code`
-- is the site of the laboratory in `provider`, if there is one.
create table appointment (
  team_id        uuid not null references team,
  id             uuid not null,
  order_id       uuid not null,
  type           text not null constraint appointment__type check (type in ('phlebotomy', 'patient_service_center')),
  provider       text not null,
  provider_id    text not null,
  site_code      text,
  event_status   text not null constraint appointment__event_status check (event_status in ('pending', 'reserved', 'scheduled', 'in_progress', 'completed', 'cancelled')),
  start_at       timestamptz,
  end_at         timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  document       text not null,
  internal_data  text not null,
  primary key (team_id, id),
  foreign key (team_id, order_id) references lab_order,
  constraint appointment__span check (end_at > start_at)
);
-- An operator names a booking by its id alone.
create index appointment__id on appointment (id);
-- An order has one appointment at a time.
create unique index appointment__one_active on appointment (team_id, order_id) where event_status <> 'cancelled';
create index appointment__order on appointment (team_id, order_id, created_at);
-- The providers' own ids.
create index appointment__provider on appointment (provider, provider_id);
-- How many appointments a site has at a time.
create index appointment__site on appointment (provider, site_code, start_at) where event_status <> 'cancelled' and site_code is not null;

-- A laboratory's sites as a whole. `version` grows with every change; `sandbox_data_revision` is the revision of the fictional
-- sites that are loaded.
create table psc_directory_version (
  lab_id                 integer primary key references lab,
  version                bigint not null,
  sandbox_data_revision  text
);

-- Patient service centers: sites of laboratories that collect samples. `site_code` is the laboratory's own.
create table psc_site (
  lab_id                integer not null references lab,
  site_code             text not null,
  name                  text not null,
  first_line            text not null,
  second_line           text,
  city                  text not null,
  state                 text not null,
  zip_code              text not null,
  phone_number          text,
  fax_number            text,
  hours                 jsonb,
  website               text,
  lat                   double precision not null,
  lng                   double precision not null,
  capabilities          text[] not null,
  supported_bill_types  text[] not null,
  active                boolean not null,
  updated_at            timestamptz not null,
  primary key (lab_id, site_code)
);

-- Schedules of sites that accept appointments here: opening hours, slots and places, as the operator set them.
create table psc_schedule (
  lab_id      integer not null,
  site_code   text not null,
  schedule    jsonb not null,
  updated_at  timestamptz not null,
  primary key (lab_id, site_code),
  foreign key (lab_id, site_code) references psc_site on delete cascade
);

-- Phlebotomists or teams of them: of an organization or, without one, of the operator for every team. `document` is JSON in the
-- form of the API. `service_box` is the box around the circle that is served.
create table phlebotomist (
  id             uuid primary key,
  org_id         uuid,
  reference      text not null,
  is_active      boolean not null,
  service_types  text[] not null,
  zips           text[] not null,
  service_box    box,
  document       text not null,
  constraint phlebotomist__reference unique nulls not distinct (org_id, reference)
);
create index phlebotomist__service_box on phlebotomist using gist (service_box) where service_box is not null;
create index phlebotomist__zips on phlebotomist using gin (zips);

-- Visits that are planned or in progress. `visit_details` is JSON: what the phlebotomist needs to know. `staff_id` is null until a
-- time is reserved, and for providers with a calendar of their own.
create table phlebotomy_visit (
  team_id          uuid not null references team,
  appointment_id   uuid not null,
  user_id          uuid not null,
  provider         text not null,
  staff_id         uuid,
  start_at         timestamptz,
  end_at           timestamptz,
  blocked_minutes  integer,
  visit_details    text not null,
  primary key (team_id, appointment_id),
  -- It is deferred: the visit is written before its appointment.
  foreign key (team_id, appointment_id) references appointment on delete cascade deferrable initially deferred,
  constraint phlebotomy_visit__staff foreign key (staff_id) references phlebotomist,
  constraint phlebotomy_visit__booked check (staff_id is null or (start_at is not null and end_at is not null and blocked_minutes > 0)),
  constraint phlebotomy_visit__span check (end_at > start_at)
);
-- A patient has one planned visit with a provider.
create unique index phlebotomy_visit__patient on phlebotomy_visit (team_id, user_id, provider);
create index phlebotomy_visit__staff_time on phlebotomy_visit (staff_id, start_at) where staff_id is not null;

-- ==== ehr

-- Where a team's records go in an EHR: one pipeline for each type. `secret` is encrypted and not part of `authentication`.
create table ehr_pipeline (
  team_id          uuid not null references team,
  id               uuid not null,
  ehr_type         text not null constraint ehr_pipeline__ehr_type check (ehr_type in ('fhir', 'hint_health')),
  base_url         text not null,
  authentication   jsonb not null,
  secret           text,
  allowed_mappers  text[],
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  primary key (team_id, id),
  constraint ehr_pipeline__once unique (team_id, ehr_type)
);

-- ==== notifications

-- Channels on which a patient receives no messages, by the patient's own choice.
create table patient_message_opt_out (
  team_id     uuid not null references team,
  user_id     uuid not null,
  channel     text not null,
  created_at  timestamptz not null,
  primary key (team_id, user_id, channel),
  foreign key (team_id, user_id) references "user"
);

-- Messages to patients about their orders, also if no gateway carries them. It has no foreign keys, because a check for each row
-- costs as much as the row: the statement that writes an order writes its message, and messages are deleted before their order.
create table patient_message (
  team_id       uuid not null,
  order_id      uuid not null,
  id            uuid not null,
  kind          text not null,
  channel       text not null,
  recipient     text not null,
  body          text not null,
  created_at    timestamptz not null,
  -- The mail that carries the message and has its state.
  mail_id       uuid,
  state         text not null,
  attempts      integer not null default 0,
  due_at        timestamptz,
  error         text,
  finished_at   timestamptz,
  owner         uuid,
  fence         integer not null default 0,
  leased_until  timestamptz,
  primary key (team_id, order_id, id)
);
create index patient_message__due on patient_message (due_at) where due_at is not null;
create index patient_message__failed on patient_message (finished_at) where state = 'failed';
-- The inbox of a team.
create index patient_message__newest on patient_message (team_id, id);
-- The sender of a mail looks its message up, because the user may be deleted.
create index patient_message__mail on patient_message (mail_id) where mail_id is not null;

-- Long-lived links to a patient's portal, for messages of the team. Links that open it at once are signed and not stored.
create table portal_link (
  team_id        uuid not null references team,
  user_id        uuid not null,
  -- SHA-256 of the code in the link.
  code_hash      text not null,
  -- The order that the portal opens with.
  order_id       uuid,
  -- Wrong birth dates in a row.
  wrong_answers  integer not null default 0,
  created_at     timestamptz not null,
  expires_at     timestamptz not null,
  primary key (team_id, user_id, code_hash),
  foreign key (team_id, user_id) references "user"
);
create index portal_link__expires on portal_link (expires_at);
create index portal_link__hash on portal_link (team_id, code_hash);

-- ==== sandbox

-- Which process moves the clock of a sandbox team: a lease (src/platform/db/leases.ts).
create table clock_move (
  team_id       uuid primary key references team,
  owner         uuid,
  fence         integer not null default 0,
  leased_until  timestamptz
);

-- Faults that a sandbox team asks for, of requests and of deliveries of events: how many are left, and until when.
create table sandbox_fault (
  team_id     uuid not null references team,
  kind        text not null check (kind in ('request', 'delivery')),
  position    smallint not null,
  -- The operation, or the type of event; null: every one.
  matches     text,
  fault       jsonb not null,
  remaining   integer not null check (remaining >= 0),
  expires_at  timestamptz not null,
  primary key (team_id, kind, position)
);

-- A simulation that waits until its order is registered.
create table simulation (
  team_id   uuid not null references team,
  order_id  uuid not null,
  plan      jsonb not null,
  primary key (team_id, order_id),
  foreign key (team_id, order_id) references lab_order on delete cascade
);

-- Tests of a sandbox team with results that match no order.
create table unmatched_result_test (
  team_id        uuid not null references team,
  id             uuid not null,
  status         text not null,
  stage          text not null,
  request        text not null,
  orders         text not null,
  plan           text,
  raw_result_id  uuid,
  error          text,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  started_at     timestamptz,
  completed_at   timestamptz,
  primary key (team_id, id)
);

-- Demo connections: the seed and the zone determine their data.
create table demo_connection (
  team_id         uuid not null references team,
  user_id         uuid not null,
  provider        text not null,
  connection_id   uuid not null,
  seed            text not null,
  zone            text not null,
  has_timeseries  boolean not null,
  connected_at    timestamptz not null,
  -- The first day of the history that is not written yet, as days since 1970; null: the history is complete.
  next_day        integer,
  -- Until when data was written.
  written_until   timestamptz not null,
  primary key (team_id, user_id, provider),
  foreign key (team_id, user_id) references "user"
);

-- ==== console

-- Filters of lists that people have saved.
create table saved_view (
  team_id     uuid not null references team,
  id          uuid not null,
  -- The member whose view it is; null: every member of the team sees it.
  member_id   uuid,
  page        text not null,
  name        text not null,
  query       text not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (team_id, id),
  constraint saved_view__name unique nulls not distinct (team_id, member_id, page, name)
);

-- Requests of teams, without bodies, queries and values of paths. Rows are written by many requests together, and some are left out
-- (src/console/request-log/recorder.ts). `at` is by the system clock.
create table request_log (
  team_id      uuid not null,
  id           uuid not null,
  -- As the response named it.
  request_id   text not null,
  at           timestamptz not null,
  method       text not null,
  -- The path of the operation, with the names of its parameters.
  path         text not null,
  operation    text not null,
  status       integer not null,
  duration_ms  double precision not null,
  key_id       text not null,
  member_id    uuid,
  error        text,
  primary key (team_id, id)
);
create index request_log__at on request_log (at);
create index request_log__errors on request_log (team_id, id) where status >= 400;
create index request_log__request on request_log (team_id, request_id);

-- How many requests were made in each five minutes, all of them.
create table request_count (
  team_id       uuid not null,
  bucket_start  timestamptz not null,
  outcome       text not null check (outcome in ('success', 'client_error', 'server_error')),
  requests      bigint not null,
  duration_ms   double precision not null,
  primary key (team_id, bucket_start, outcome)
);
create index request_count__bucket_start on request_count (bucket_start);

-- The size of the database on each day, as a worker found it.
create table database_size (
  day    date primary key,
  bytes  bigint not null
);

-- ==== row-level security
-- `migrate` creates the roles, the grants and, for tables with the column team_id, the policies (src/platform/db/row-security.ts). These are
-- the other policies, and what policies and statements of teams refer to.

-- The team that the transaction names; null if it names none.
create function current_team() returns uuid language sql stable parallel safe
  as $$ select nullif(current_setting('drawbridge.team', true), '')::uuid $$;

create policy of_team on team using (id = current_team()) with check (id = current_team());

-- Payors of the platform are for every team.
create policy of_platform on payor for select using (team_id is null);

-- The organization of that team. A function, because Citus refuses policies with subqueries.
create function current_organization() returns uuid language sql stable parallel safe
  as $$ select t.org_id from team t where t.id = current_team() $$;

-- Queries of an organization are for each of its teams.
create policy of_organization on continuous_query
  using (team_id is null and org_id = current_organization())
  with check (team_id is null and org_id = current_organization());

-- PostgreSQL evaluates a policy before conditions that might reveal a row. `ilike`, `@>` and functions are such conditions: under policies it
-- could not use their indexes. These views have the condition of the policy and leave the planner free. They show a team its rows, the owner of
-- the tables all rows, and the role of the whole cell none, which reads the tables. The conditions are subqueries, so that they are evaluated
-- once for each statement and not for each row.
create view lab_order_of_team as
  select id, team_id, user_id, transaction_id, method, low_level_status, created_at, updated_at, activate_by, interpretation, patient_name,
         recipient_name, patient_dob, lifecycle_name, sample_id
  from lab_order where team_id = (select current_team()) or (select not row_security_active('lab_order'::regclass));

create view idempotency_key_of_team as
  select team_id, scope, key, user_ids
  from idempotency_key where team_id = (select current_team()) or (select not row_security_active('idempotency_key'::regclass));

create view access_log_of_team as
  select seq, team_id, users, line
  from access_log where team_id = (select current_team()) or (select not row_security_active('access_log'::regclass));

create view raw_result_of_team as
  select id, team_id, candidate_user_ids
  from raw_result where team_id = (select current_team()) or (select not row_security_active('raw_result'::regclass));

-- Phlebotomists and sites serve several teams. A team learns which of their times are booked, and not for whom. Functions with `security
-- definer` run as the owner of the tables. Their search path is that of `migrate`: the schema, and temporary tables last, so that no session
-- can let them use its own tables. They are in PL/pgSQL, because Citus plans no statement with the parameters of a function in SQL.
create function booked_times_of_staff(staff_ids uuid[], start_from timestamptz, end_to timestamptz, except_appointment uuid)
  returns table (staff_id uuid, start_at timestamptz, end_at timestamptz, blocked_minutes integer)
  language plpgsql stable security definer set search_path from current as $$
begin
  return query
  select v.staff_id, v.start_at, v.end_at, v.blocked_minutes from phlebotomy_visit v
  where v.staff_id = any (staff_ids) and v.start_at < end_to and v.end_at > start_from
    and v.appointment_id is distinct from except_appointment;
end $$;
create function booked_times_of_sites(lab text, site_codes text[], start_from timestamptz, end_to timestamptz, except_appointment uuid)
  returns table (site_code text, start_at timestamptz, end_at timestamptz, count bigint)
  language plpgsql stable security definer set search_path from current as $$
begin
  return query
  select a.site_code, a.start_at, a.end_at, count(*) from appointment a
  where a.provider = lab and a.site_code = any (site_codes) and a.event_status <> 'cancelled'
    and a.start_at < end_to and a.end_at > start_from and a.id is distinct from except_appointment
  group by a.site_code, a.start_at, a.end_at;
end $$;

-- ==== functions of the access log
-- Over a window, the hash of each line: the first one continues from `first`, every other from the hash before it.
create function access_link(state bytea, first bytea, line text) returns bytea language plpgsql immutable as $$
begin
  return sha256(coalesce(state, first) || convert_to(line, 'UTF8'));
end $$;
create aggregate access_chain(first bytea, line text) (sfunc = access_link, stype = bytea);

-- Appends lines to the access log, under a day: those that transactions have left in access_line, at most 20,000 a call, and those of
-- `new_lines`. There each line has three fields, separated by tabs: the team or nothing, the users, and the line of the log as JSON text,
-- which holds neither tabs nor line breaks. The table of a new day is attached, because creating it as a partition would wait for every
-- reader of the log. Returns the number of appended lines. Whether there are lines is asked only before that table is created: lines that have
-- been appended stay in the pages of access_line until it is vacuumed, so each look reads them all. It has
-- the rights of its caller, of which only those of the owner suffice.
create function append_access_log_on(today date, new_lines text) returns bigint
  language plpgsql as $$
declare
  head access_day;
  appended bigint;
  last_seq bigint;
  last_hash bytea;
begin
  lock table access_day in exclusive mode;
  select * into strict head from access_day order by day desc limit 1;
  if today > head.day then
    if new_lines = '' and not exists (select from access_line) then
      return 0;
    end if;
    execute format('create table %I (like access_log including all)', 'access_log_' || to_char(today, 'YYYYMMDD'));
    execute format('alter table access_log attach partition %I for values from (%L) to (%L)',
                   'access_log_' || to_char(today, 'YYYYMMDD'), today, today + 1);
    insert into access_day (day, seq, hash) values (today, head.seq, head.hash);
    head.day := today;
  end if;
  with
    stored as (
      delete from access_line where ctid = any (array(select ctid from access_line limit 20000)) returning team_id, users, line),
    pending as (
      select team_id, users, line from stored
      union all
      select nullif(split_part(l, E'\t', 1), '')::uuid, split_part(l, E'\t', 2), split_part(l, E'\t', 3)
      from unnest(string_to_array(nullif(new_lines, ''), E'\n')) as t (l)),
    inserted as (
      insert into access_log (day, seq, team_id, users, line, hash)
      select head.day, head.seq + row_number() over w, team_id, users::uuid[], line, access_chain(head.hash, line) over w
      from pending window w as (order by line collate "C" rows unbounded preceding)
      returning seq, hash)
  select count(*) over (), seq, hash into appended, last_seq, last_hash from inserted order by seq desc limit 1;
  if not found then
    return 0;
  end if;
  update access_day set seq = last_seq, hash = last_hash where day = head.day;
  return appended;
end $$;

-- The same under the present day. The clock of the database says which that is: under an old day lines would expire early, and under a day
-- that is far ahead they would never expire.
create function append_access_log(new_lines text) returns bigint
  language sql security definer set search_path from current as $$
  select append_access_log_on((now() at time zone 'UTC')::date, new_lines)
$$;
revoke execute on function append_access_log(text) from public;

-- Whether a day can be archived: it is older than the retention in the database by the clock of the database and not due for deletion, and a
-- later day has begun, so that no line is appended to it any more.
create function is_archivable(tested_day date) returns boolean
  language sql stable as $$
  select exists (
    select from access_day d, access_log_retention r
    where d.day = tested_day and d.seq > 0 and d.archived_at is null and d.dropped_at is null
      and d.day < (now() at time zone 'UTC')::date - r.database_days and d.day >= (now() at time zone 'UTC')::date - r.days
      and exists (select from access_day l where l.day > d.day))
$$;

-- The number and hash of the line after which the next file of a day continues.
create function access_archive_end(of_day date, out seq bigint, out hash bytea)
  language sql stable as $$
  (select last_seq, last_hash from access_archive where day = of_day order by last_seq desc limit 1)
  union all
  (select d.seq, d.hash from access_day d where d.day < of_day order by d.day desc limit 1)
  order by 1 desc limit 1
$$;

-- Records a file with the next lines of a day. Returns false, and does nothing, for a day that cannot be archived and for lines that another
-- worker has recorded. Hashes that are not those of the log are refused.
create function add_access_log_file(file access_archive) returns boolean
  language plpgsql security definer set search_path from current as $$
declare
  previous record;
begin
  lock table access_day in exclusive mode;
  select * into strict previous from access_archive_end(file.day);
  if not is_archivable(file.day) or file.first_seq <> previous.seq + 1 then
    return false;
  end if;
  if file.previous_hash <> previous.hash
    or not exists (select from access_log l where l.day = file.day and l.seq = file.last_seq and l.hash = file.last_hash) then
    raise exception 'the file does not continue the access log' using errcode = 'check_violation';
  end if;
  insert into access_archive values (file.*);
  return true;
end $$;
revoke execute on function add_access_log_file(access_archive) from public;

-- Drops the table of a day whose lines are all in files. Returns false, and does nothing, for any other day and if its files are not those
-- that the caller has read, in their order; refuses a day whose table has further lines. It waits only briefly for readers of the log.
create function archive_access_log_day(archived_day date, read_set_ids uuid[]) returns boolean
  language plpgsql security definer set lock_timeout = '200ms' set search_path from current as $$
declare
  first_seq bigint;
  last_seq bigint;
begin
  lock table access_day in exclusive mode;
  if not is_archivable(archived_day)
    or not exists (select from access_day d, access_archive_end(d.day) e where d.day = archived_day and e.seq = d.seq and e.hash = d.hash)
    or read_set_ids is distinct from array(select a.set_id from access_archive a where a.day = archived_day order by a.first_seq) then
    return false;
  end if;
  select min(a.first_seq), max(a.last_seq) into first_seq, last_seq from access_archive a where a.day = archived_day;
  if exists (select from access_log l where l.day = archived_day and (l.seq < first_seq or l.seq > last_seq)) then
    raise exception 'the table of % has lines that are not part of the chain', archived_day using errcode = 'check_violation';
  end if;
  update access_day set archived_at = now() where day = archived_day;
  execute format('drop table %I', 'access_log_' || to_char(archived_day, 'YYYYMMDD'));
  return true;
end $$;
revoke execute on function archive_access_log_day(date, uuid[]) from public;

-- Forgets the files of a day from a line on, because one of them cannot be read as it was written. Refuses a day whose lines are nowhere else.
create function forget_access_log_files(of_day date, from_seq bigint) returns void
  language plpgsql security definer set search_path from current as $$
begin
  lock table access_day in exclusive mode;
  if not is_archivable(of_day) then
    raise exception 'the lines of % are only in its files', of_day using errcode = 'insufficient_privilege';
  end if;
  delete from access_archive where day = of_day and first_seq >= from_seq;
end $$;
revoke execute on function forget_access_log_files(date, bigint) from public;

-- Drops a day of the access log: its table, or its files, which the caller then deletes. It takes locks in the order of append_access_log.
-- Refuses a day that is not older than the retention by the clock of the database, so that no caller can shorten the log, and changes nothing
-- for a day that the log does not have: the year in the name of its table would be that of another day, as for the years before Christ. It
-- waits only briefly for readers of the log, for example a backup; the retention tries again.
create function drop_access_log_day(dropped_day date) returns void
  language plpgsql security definer set lock_timeout = '200ms' set search_path from current as $$
declare
  current_days integer;
begin
  select days into strict current_days from access_log_retention;
  if dropped_day >= (now() at time zone 'UTC')::date - current_days then
    raise exception 'the access log is kept for % days, and % is younger', current_days, dropped_day using errcode = 'insufficient_privilege';
  end if;
  lock table access_day in exclusive mode;
  update access_day set dropped_at = now(), retention_days = current_days where day = dropped_day and dropped_at is null;
  if found then
    delete from access_archive where day = dropped_day;
    execute format('drop table if exists %I', 'access_log_' || to_char(dropped_day, 'YYYYMMDD'));
  end if;
end $$;
revoke execute on function drop_access_log_day(date) from public;
