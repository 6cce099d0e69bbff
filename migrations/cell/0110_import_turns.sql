-- compatible with programs from migration 0109 on
-- Turns that an import has had; without one it is before others, whose files may be long.
alter table file_import add column turns integer not null default 0;
