-- compatible with programs from migration 0084 on
-- The next job of a team.
create index parsing_job__unfinished on parsing_job (team_id, id) where status in ('upload_pending', 'started');
