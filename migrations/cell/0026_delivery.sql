-- A delivery and its attempt are written once, together, when the attempt is over, as far as that is soon.

-- What a process has taken into hand at once, before anything is written down of it: the `nth` of the endpoints for each of the
-- events. It is gone when all of it is written down; when its lease has ended it becomes deliveries that are due.
create table handful (
  id            uuid primary key,
  leased_until  timestamptz not null,
  webhook_ids   text[] not null,
  event_ids     uuid[] not null,
  nths          integer[] not null
);
alter table handful alter column event_ids set storage external, alter column nths set storage external;

-- The attempt that arrived, when it was not made by hand. Others are in `delivery_attempt`.
alter table delivery
  add column attempt_id uuid,
  add column attempted_at timestamptz,
  add column duration_ms integer,
  add column response_status integer,
  add column response_body text,
  add column signature text,
  add column custom_headers text[];

-- Looked at for each row, these keys cost as much as the row. What they promised is done when the other row goes.
alter table delivery drop constraint delivery__event, drop constraint delivery_webhook_id_fkey;

create function forget_deliveries_of_events() returns trigger language plpgsql as $$
begin
  delete from delivery
  where event_id = any (array(select id from gone)) and team_id = any (array(select distinct team_id from gone));
  return null;
end $$;
create trigger event__deliveries after delete on event
  referencing old table as gone for each statement execute function forget_deliveries_of_events();

create function forget_deliveries_of_webhooks() returns trigger language plpgsql as $$
begin
  delete from delivery where webhook_id = any (array(select id from gone));
  return null;
end $$;
create trigger webhook__deliveries after delete on webhook
  referencing old table as gone for each statement execute function forget_deliveries_of_webhooks();

-- Attempts of five minutes, counted.
create table delivery_tally (
  team_id    uuid not null,
  at         timestamptz not null,
  succeeded  boolean not null,
  n          bigint not null,
  primary key (team_id, at, succeeded)
);
insert into delivery_tally (team_id, at, succeeded, n)
  select team_id, to_timestamp(floor(extract(epoch from at) / 300) * 300), succeeded, count(*) from delivery_attempt group by 1, 2, 3;
drop index delivery_attempt__metric;
