-- compatible with programs from migration 0058 on
-- A record as its provider sent it, without samples; null where it was not kept.
alter table summary add column raw jsonb;
