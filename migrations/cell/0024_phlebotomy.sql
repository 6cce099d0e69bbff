-- Who takes blood at home: phlebotomists or teams of them, of an organization or, without one, of the operator for every team.
-- `document` is JSON, as it is shown. `area` is the box around the circle that is served.
create table phlebotomist (
  id             uuid primary key,
  org_id         uuid,
  reference      text not null,
  is_active      boolean not null,
  service_types  text[] not null,
  zips           text[] not null,
  area           box,
  document       text not null,
  constraint phlebotomist__reference unique nulls not distinct (org_id, reference)
);
create index phlebotomist__zips on phlebotomist using gin (zips);
create index phlebotomist__area on phlebotomist using gist (area) where area is not null;

-- Visits that are to come or go on. `told` is JSON: what those who come were told. Until somebody's time is taken for a visit, or where
-- that is kept elsewhere, nobody is named.
create table phlebotomy_visit (
  -- The visit is taken before its appointment is written.
  appointment_id  uuid primary key references appointment on delete cascade deferrable initially deferred,
  team_id         uuid not null references team,
  user_id         uuid not null,
  provider        text not null,
  staff_id        uuid constraint phlebotomy_visit__staff references phlebotomist,
  start_at        timestamptz,
  end_at          timestamptz,
  busy_min        integer,
  told            text not null,
  constraint phlebotomy_visit__span check (end_at > start_at),
  constraint phlebotomy_visit__taken check (staff_id is null or (start_at is not null and end_at is not null and busy_min > 0))
);
-- A patient has one visit to come with a provider.
create unique index phlebotomy_visit__patient on phlebotomy_visit (team_id, user_id, provider);
create index phlebotomy_visit__staff_time on phlebotomy_visit (staff_id, start_at) where staff_id is not null;
