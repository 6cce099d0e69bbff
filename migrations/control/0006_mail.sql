-- The outbox of mail is a queue. A mail waits while it has a due date; whoever sends it moves the date by a lease. All on the
-- machine's clock. What was sent has no text any more.
drop index mail__org;
alter table mail
  drop column org_id,
  alter column body drop not null,
  add column expires_at timestamptz,
  add column state text not null default 'waiting',
  add column attempts integer not null default 0,
  add column due_at timestamptz,
  -- Why the last attempt came to nothing: a code, never what a server said.
  add column error text,
  add column done_at timestamptz;
update mail set due_at = created_at, expires_at = created_at + interval '7 days';
alter table mail
  alter column expires_at set not null,
  alter column state drop default,
  alter column attempts drop default,
  add constraint mail__state check (state in ('waiting', 'sent', 'failed')),
  add constraint mail__waiting check ((state = 'waiting') = (due_at is not null)),
  add constraint mail__text check ((state = 'sent') = (body is null));
create index mail__due on mail (due_at, id) where due_at is not null;
create index mail__old on mail (created_at);
