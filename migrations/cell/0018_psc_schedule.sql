-- How sites work that take appointments here: opening hours, slots and places, as the operator keeps them.
create table psc_schedule (
  lab_id      integer not null,
  site_code   text not null,
  schedule    jsonb not null,
  updated_at  timestamptz not null,
  primary key (lab_id, site_code),
  foreign key (lab_id, site_code) references psc_site (lab_id, site_code) on delete cascade
);
