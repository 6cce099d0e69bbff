-- compatible with programs from migration 0083 on
-- Uploaded lab reports, what was read of them, and the encrypted bytes of their files.
create table parsing_job (
  team_id uuid not null references team (id),
  id uuid not null,
  user_id uuid not null references "user" (id),
  status text not null check (status in ('upload_pending', 'started', 'pending_review', 'completed', 'failed')),
  failure_reason text,
  needs_human_review boolean not null,
  is_reviewed boolean not null default false,
  -- The key of the files, encrypted.
  file_key text,
  file_types jsonb not null,
  pages integer not null,
  attempts integer not null default 0,
  -- The report with the places of its results.
  extracted jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (team_id, id)
);
create index parsing_job__user on parsing_job (user_id);
-- For the limit of sandbox teams.
create index parsing_job__counted on parsing_job (team_id) where failure_reason is null and status <> 'failed';

create table parsing_job_part (
  team_id uuid not null,
  job_id uuid not null,
  -- Which of the uploaded files, from 0.
  file integer not null,
  -- Where in the file the bytes begin.
  start_byte integer not null,
  bytes bytea not null,
  -- Of machine time; null until the job has ended.
  expires_at timestamptz,
  primary key (team_id, job_id, file, start_byte),
  foreign key (team_id, job_id) references parsing_job (team_id, id) on delete cascade
);
create index parsing_job_part__expires on parsing_job_part (expires_at);
-- Encrypted bytes cannot be compressed.
alter table parsing_job_part alter column bytes set storage external;
