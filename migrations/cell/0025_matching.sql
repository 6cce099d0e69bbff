-- What laboratories sent, as it came, and what became of it. A row without a team waits for an operator to say whose it is.
-- `sender` and `message_id` name a message: one that is sent again is not taken in again. `shown`: the team has been told of it.
-- `user_ids`: whom it may be of, so that it goes with the last of them. `searched` is what a review is found by, in small letters.
create table raw_result (
  id                 uuid primary key,
  team_id            uuid references team (id),
  lab_id             integer not null,
  sender             text not null,
  message_id         text not null,
  sample_id          text,
  searched           text not null,
  delivery           text not null,
  status             text not null,
  decision_code      text not null,
  sub_reason_codes   text[] not null default '{}',
  candidates         text not null,
  user_ids           uuid[] not null default '{}',
  shown              boolean not null default false,
  note               text,
  resolution_action  text,
  resolved_user_id   uuid,
  resolved_order_id  uuid,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  reviewed_at        timestamptz,
  constraint raw_result__status check (status in ('matched', 'pending_customer_review', 'pending_ops_review', 'resolved')),
  constraint raw_result__once unique (lab_id, sender, message_id)
);
create index raw_result__review on raw_result (team_id, created_at, id) where status <> 'matched';
create index raw_result__sample on raw_result (sample_id, lab_id, team_id) where sample_id is not null;
create index raw_result__users on raw_result (user_ids);
create index raw_result__team on raw_result (team_id);
create index raw_result__unassigned on raw_result (created_at, id) where team_id is null;

-- Patients are looked for by their date of birth when a laboratory's number says nothing.
create index lab_order__patient on lab_order (team_id, patient_dob) where patient_dob is not null;

-- A sandbox's rehearsals of results that cannot be matched.
create table unmatched_result_test (
  id             uuid primary key,
  team_id        uuid not null references team (id),
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
  completed_at   timestamptz
);
create index unmatched_result_test__team on unmatched_result_test (team_id);

-- A key that stands for one body alone remembers which.
alter table idempotency add column fingerprint text;

-- What is told about no user.
alter table event alter column user_id drop not null;
alter table pipeline_delivery alter column user_id drop not null;

-- Redraws are for teams that ask for them.
update team set features_off = array_append(features_off, 'redraws') where not 'redraws' = any (features_off);
