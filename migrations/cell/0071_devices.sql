-- compatible with programs from migration 0058 on
-- The devices that recorded data of users. Keys start with team and user.
create table device (
  team_id uuid not null references team (id),
  user_id uuid not null references "user" (id),
  provider text not null,
  -- What tells devices of one provider apart: the provider's id, or manufacturer, model and type.
  key text not null,
  id uuid not null,
  source_type text not null,
  app_id text,
  manufacturer text,
  model text,
  version text,
  -- The provider's own id.
  device_id text,
  -- Of the newest data that changed this row.
  seen_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (team_id, user_id, provider, key)
);
create index device__user on device (user_id);

alter table summary add column device_id uuid;
