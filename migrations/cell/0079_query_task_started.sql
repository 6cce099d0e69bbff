-- compatible with programs from migration 0077 on
-- When a query was last evaluated for a user, which every post reads.
create index query_task__started on query_task (team_id, user_id, query_id, started_at desc);
