-- compatible with programs from migration 0085 on
-- What a person corrected in a parsed report. The report as it was read stays in parsing_job.extracted.
alter table parsing_job
  -- How many times the report was corrected: a reviewer names the version that the correction is made to.
  add column review_version integer not null default 0,
  -- The report as a person approved it.
  add column reviewed jsonb;

create index parsing_job__pending_review on parsing_job (team_id, created_at, id) where status = 'pending_review';

create table parsing_job_correction (
  team_id uuid not null,
  job_id uuid not null,
  -- From 1, in the order in which they apply.
  number integer not null,
  action text not null check (action in ('change_metadata', 'change_result', 'add_result', 'remove_result')),
  result_id integer,
  fields jsonb not null,
  -- The key with which it was made.
  key_id text not null,
  created_at timestamptz not null,
  primary key (team_id, job_id, number),
  foreign key (team_id, job_id) references parsing_job (team_id, id) on delete cascade
);
