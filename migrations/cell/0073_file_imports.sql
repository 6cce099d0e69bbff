-- compatible with programs from migration 0058 on
-- Imports of files of health data, and the encrypted bytes of those that have not ended.
create table file_import (
  team_id uuid not null references team (id),
  id uuid not null,
  user_id uuid not null references "user" (id),
  status text not null check (status in ('uploading', 'queued', 'importing', 'completed', 'partial', 'failed')),
  format text,
  -- The key of the file, encrypted; null when the import has ended.
  file_key text,
  received_bytes bigint not null,
  -- Where the part that was received last begins.
  last_start bigint not null default 0,
  progress double precision not null default 0,
  -- Attempts since the last batch that was stored.
  attempts integer not null default 0,
  -- Batches that are stored, by the version of the program that reads the file.
  batches integer not null default 0,
  reader text,
  results jsonb not null default '{}',
  skipped jsonb not null default '{}',
  error text,
  created_at timestamptz not null,
  finished_at timestamptz,
  -- Of machine time; null while the import is to be done.
  expires_at timestamptz,
  primary key (team_id, id)
);
create index file_import__user on file_import (user_id);
create index file_import__unfinished on file_import (team_id, id) where finished_at is null;
create index file_import__expires on file_import (expires_at);

create table file_import_part (
  team_id uuid not null,
  import_id uuid not null,
  -- Where in the file the bytes begin.
  start_byte bigint not null,
  bytes bytea not null,
  primary key (team_id, import_id, start_byte),
  foreign key (team_id, import_id) references file_import (team_id, id) on delete cascade
);
-- Encrypted bytes cannot be compressed.
alter table file_import_part alter column bytes set storage external;
