-- compatible with programs from migration 0085 on
-- Of a summary: what its source has said that only queries show, by the name of the column.
alter table summary add column query_values jsonb;
