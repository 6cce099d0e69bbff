-- compatible with programs from migration 0089 on
-- Files of modules, outside the rows of teams: a file is in a storage, or in the database with its bytes. It outlives the row that refers to
-- it until it has been deleted from its storage.
create table stored_file (
  -- Of the files that belong together, such as those of one lab report.
  set_id uuid not null,
  name text not null,
  storage text not null check (storage in ('disk', 's3', 'database')),
  -- Encrypted; null for a file that is elsewhere.
  bytes bytea,
  -- Of machine time; null while something refers to it.
  delete_at timestamptz,
  primary key (set_id, name)
);
create index stored_file__delete_at on stored_file (delete_at);
-- Encrypted bytes cannot be compressed.
alter table stored_file alter column bytes set storage external;
