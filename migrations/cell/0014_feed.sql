-- Events of the last days in the order in which they became known, for those who follow them. Numbered by one transaction at a time,
-- so that a number is never seen before a smaller one. What an erased user leaves here is an id of nothing.
create table feed (
  team_id     uuid not null references team,
  seq         bigint generated always as identity,
  event_id    uuid not null,
  -- On the machine's clock.
  created_at  timestamptz not null,
  primary key (team_id, seq)
);
create index feed__old on feed (created_at);
