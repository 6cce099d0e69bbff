-- compatible with programs from migration 0007 on
-- From which migration on programs can work with the schema after each migration. Programs up to migration 7 do not read it and
-- accept no newer schema.
alter table migration add column compatible_from integer;
update migration set compatible_from = number;
alter table migration alter column compatible_from set not null;
