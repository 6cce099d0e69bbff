-- compatible with programs from migration 0030 on
-- An endpoint that was deleted or disabled while a process had its lane: the process lets go and deletes the row, or its lease ends.
create table lane_recall (
  webhook_id    text primary key,
  team_id       uuid not null references team,
  owner         uuid not null,
  leased_until  timestamptz not null
);
create index lane_recall__owner on lane_recall (owner);
create index lane_recall__leased on lane_recall (leased_until);
create index lane_recall__team on lane_recall (team_id);
