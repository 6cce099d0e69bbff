-- The outbox of mail to people whom a cell knows, as in the control plane.
create table mail (
  id          uuid primary key,
  recipient   text not null,
  subject     text not null,
  body        text,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  state       text not null constraint mail__state check (state in ('waiting', 'sent', 'failed')),
  attempts    integer not null,
  due_at      timestamptz,
  error       text,
  done_at     timestamptz,
  constraint mail__waiting check ((state = 'waiting') = (due_at is not null)),
  constraint mail__text check ((state = 'sent') = (body is null))
);
create index mail__due on mail (due_at, id) where due_at is not null;
create index mail__old on mail (created_at);
