-- compatible with programs from migration 0058 on
-- What is known of each day of a resource of a user: a row for a month, with a bit for each of its days, from the lowest on.
create table day_record (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  resource text not null,
  month date not null check (extract(day from month) = 1),
  asked integer not null,
  -- The source has sent everything that it has of the day.
  answered integer not null,
  received integer not null,
  stored integer not null,
  failed integer not null,
  -- Of the last failure in the month.
  error_type text,
  error_message text,
  errored_at timestamptz,
  primary key (team_id, user_id, provider, resource, month)
);
create index day_record__user on day_record (user_id);
