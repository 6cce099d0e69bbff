-- One cell: everything of the teams of one environment in one region. No statement joins two cells.

-- A team as it is in this cell: its clock and its settings.
create table team (
  id              uuid primary key,
  org_id          uuid not null,
  clock_offset_s  bigint not null default 0 constraint team__clock_forward check (clock_offset_s >= 0),
  settings        jsonb not null default '{}',
  created_at      timestamptz not null
);

create table "user" (
  id                    uuid primary key,
  team_id               uuid not null references team,
  client_user_id        text not null,
  created_on            timestamptz not null,
  fallback_time_zone    jsonb,
  fallback_birth_date   jsonb,
  ingestion_start       date,
  ingestion_end         date,
  deleted_at            timestamptz,
  constraint user__ingestion_bounds check (ingestion_end >= ingestion_start)
);
-- A deleted user's reference is free at once.
create unique index user__client_user_id on "user" (team_id, client_user_id) where deleted_at is null;
create index user__newest on "user" (team_id, created_on desc, id desc) where deleted_at is null;
create index user__deleted on "user" (team_id, client_user_id) where deleted_at is not null;

-- Catalog: labs and what they offer. Shared by the teams of the cell; lab tests belong to a team.
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
  medical_director    text
);

-- What a result can be of. `definition` holds unit, type and reference limits.
create table analyte (
  id          integer generated always as identity primary key,
  slug        text not null constraint analyte__slug unique,
  name        text not null,
  loinc       text,
  loinc_name  text,
  definition  jsonb not null
);

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
  constraint marker__provider_id unique (lab_id, provider_id)
);

create table marker_analyte (
  marker_id   integer not null references marker on delete cascade,
  analyte_id  integer not null references analyte,
  position    integer not null,
  required    boolean not null,
  primary key (marker_id, position)
);
create index marker_analyte__analyte on marker_analyte (analyte_id);

-- Which state of the catalog's data files this cell holds.
create table catalog_load (
  part      text primary key,
  checksum  text not null
);

create table lab_test (
  id                           uuid primary key,
  team_id                      uuid not null references team,
  slug                         text not null,
  name                         text not null,
  description                  text not null,
  lab_id                       integer not null references lab,
  method                       text not null,
  sample_type                  text not null,
  price                        numeric(12, 2) not null,
  fasting                      boolean not null,
  status                       text not null constraint lab_test__status check (status in ('active', 'pending_approval', 'inactive')),
  auto_generated               boolean not null default false,
  has_collection_instructions  boolean not null default false,
  created_at                   timestamptz not null,
  updated_at                   timestamptz not null
);
create index lab_test__team on lab_test (team_id, created_at, id);

create table lab_test_marker (
  lab_test_id  uuid not null references lab_test on delete cascade,
  marker_id    integer not null references marker,
  position     integer not null,
  primary key (lab_test_id, position)
);
create index lab_test_marker__marker on lab_test_marker (marker_id);

-- An order. `document` is the order as the interface shows it and is the record of it; the columns beside it are what orders are
-- found, sorted and guarded by. `intake` holds what was given with the order and is not shown.
create table lab_order (
  id               uuid primary key,
  team_id          uuid not null references team,
  user_id          uuid not null references "user",
  transaction_id   uuid not null,
  lifecycle        text not null,
  lab_test_id      uuid not null references lab_test,
  lab_id           integer not null,
  method           text not null,
  low_status       text not null,
  status_at        timestamptz not null,
  sample_id        text,
  activate_by      date,
  interpretation   text,
  patient_name     text,
  patient_dob      date,
  recipient_name   text,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  document         text not null,
  intake           text not null
) with (toast_tuple_target = 8160);
create unique index lab_order__sample_id on lab_order (team_id, sample_id) where sample_id is not null;
create index lab_order__newest on lab_order (team_id, created_at, id);
create index lab_order__status on lab_order (team_id, low_status, created_at, id);
create index lab_order__user on lab_order (user_id);
create index lab_order__transaction on lab_order (transaction_id);

-- Ids of the events shown in an order: they increase over all orders.
create sequence order_event_id;

-- Every so often along the list of a team's orders, how many come before: deep pages and totals start from the nearest mark.
create table order_mark (
  team_id     uuid not null references team,
  rank        bigint not null,
  created_at  timestamptz not null,
  id          uuid not null,
  primary key (team_id, rank)
);

create table lab_result (
  order_id        uuid primary key references lab_order,
  team_id         uuid not null references team,
  status          text not null constraint lab_result__status check (status in ('partial', 'final')),
  interpretation  text not null,
  document        text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null
);

-- A simulation that waits for the outside: its order has to be registered before it can go on.
create table simulation (
  order_id    uuid primary key references lab_order on delete cascade,
  team_id     uuid not null references team,
  plan        jsonb not null
);

-- What was told to the team: the body as it is sent, byte for byte.
create table event (
  id          uuid not null,
  team_id     uuid not null references team,
  type        text not null,
  object_id   uuid not null,
  user_id     uuid not null,
  created_at  timestamptz not null,
  body        text not null,
  primary key (team_id, id)
) with (toast_tuple_target = 8160);
create index event__object on event (object_id, id);
create index event__type on event (team_id, type, id);
create index event__user on event (user_id);

-- Work to be done. `run_at` is team time, `due_at` the same instant on the machine's clock.
create table job (
  id            uuid primary key,
  team_id       uuid not null references team,
  name          text not null,
  payload       text not null,
  run_at        timestamptz not null,
  due_at        timestamptz not null,
  attempts      integer not null default 0,
  leased_until  timestamptz,
  failed_at     timestamptz
);
create index job__due on job (due_at, id) where failed_at is null;
create index job__team on job (team_id, run_at, id);

-- Answers kept under a caller's key. Without a status: claimed by a running transaction, or free again.
create table idempotency (
  team_id     uuid not null references team,
  scope       text not null,
  key         text not null,
  status      integer,
  body        text,
  object_id   uuid,
  expires_at  timestamptz not null,
  primary key (team_id, scope, key)
);
create index idempotency__expired on idempotency (expires_at);
