-- Taking a delivery into hand changes nothing that an index holds, and what an index holds is not there twice.
alter table delivery
  add column leased_until timestamptz,
  drop constraint delivery_team_id_fkey;
alter table delivery set (fillfactor = 70);
alter table delivery_attempt drop constraint delivery_attempt_team_id_fkey;
drop index delivery__once, delivery__event_of, delivery__old;
create unique index delivery__once on delivery (event_id, webhook_id);
create index delivery__old on delivery using brin (created_at);
