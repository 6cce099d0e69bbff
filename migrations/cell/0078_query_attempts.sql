-- compatible with programs from migration 0077 on
-- Attempts to evaluate that have begun. Tasks that have used all of them are taken up by the next one.
alter table query_task add column attempts integer not null default 0;
