-- compatible with programs from migration 0092 on
-- Faults that a sandbox team asks for, of requests and of deliveries of events: how many are left of each, and until when.
create table sandbox_fault (
  team_id uuid not null references team (id),
  kind text not null check (kind in ('request', 'delivery')),
  position smallint not null,
  -- The operation, or the type of event; null for each.
  matches text,
  fault jsonb not null,
  remaining integer not null check (remaining >= 0),
  expires_at timestamptz not null,
  primary key (team_id, kind, position)
);
