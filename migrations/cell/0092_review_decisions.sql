-- compatible with programs from migration 0091 on
-- Who has approved a lab report or let it fail, and when; null: nobody yet, or by a program before this migration.
alter table parsing_job
  add column decided_by text,
  add column decided_at timestamptz;
