-- Appointments of orders: at service centers and at home.

-- What was switched on for a team that no team has by itself.
alter table team add column features_on text[] not null default '{}';

-- `document` is the appointment as the interface shows it, `facts` what of it is not shown; both JSON. `site_code` names the site of
-- the laboratory `provider` where there is one.
create table appointment (
  id            uuid primary key,
  team_id       uuid not null references team,
  order_id      uuid not null references lab_order,
  type          text not null constraint appointment__type check (type in ('phlebotomy', 'patient_service_center')),
  provider      text not null,
  provider_id   text not null,
  site_code     text,
  event_status  text not null constraint appointment__event_status
                check (event_status in ('pending', 'reserved', 'scheduled', 'in_progress', 'completed', 'cancelled')),
  start_at      timestamptz,
  end_at        timestamptz,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  document      text not null,
  facts         text not null,
  constraint appointment__span check (end_at > start_at)
);
-- An order has one appointment at a time.
create unique index appointment__one_active on appointment (order_id) where event_status <> 'cancelled';
create index appointment__order on appointment (order_id, created_at);
create index appointment__team on appointment (team_id);
-- How many come to a site at a time.
create index appointment__site on appointment (provider, site_code, start_at) where event_status <> 'cancelled' and site_code is not null;
-- How providers name theirs.
create index appointment__provider on appointment (provider, provider_id);
