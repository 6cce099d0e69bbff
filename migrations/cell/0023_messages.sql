-- What patients were told of their orders, whether anybody carried it to them or not. Not referred to the order by a key: it is written
-- in the statement that writes the order, on the busiest path there is, and goes before the order does.
create table patient_message (
  order_id    uuid not null,
  id          uuid not null,
  team_id     uuid not null references team,
  kind        text not null,
  channel     text not null constraint patient_message__channel check (channel in ('sms', 'email')),
  recipient   text not null,
  body        text not null,
  created_at  timestamptz not null,
  -- Of an e-mail: what became of it stands there.
  mail_id     uuid,
  state       text not null constraint patient_message__state check (state in ('recorded', 'waiting', 'sent', 'failed')),
  attempts    integer not null default 0,
  due_at      timestamptz,
  error       text,
  done_at     timestamptz,
  primary key (order_id, id),
  constraint patient_message__waiting check ((state = 'waiting') = (due_at is not null))
);
create index patient_message__due on patient_message (due_at) where due_at is not null;
