-- compatible with programs from migration 0082 on
-- Laboratory terms of the LOINC release that the operator has imported. Empty without an import.
create table loinc_release_term (
  code        text collate "C" primary key,
  long_name   text not null,
  component   text not null,
  property    text not null,
  timing      text not null,
  system      text not null,
  scale       text not null,
  method      text not null,
  class       text not null,
  short_name  text not null,
  units       text not null,
  -- 1 is the most frequent.
  rank        integer not null,
  -- The words of all names.
  search      tsvector not null,
  -- False only within an import: terms that its file does not have.
  is_in_file  boolean not null
);
create index loinc_release_term__search on loinc_release_term using gin (search);
