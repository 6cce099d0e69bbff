-- The control plane: who there is and which keys exist. Never patients' data.

create table org (
  id          uuid primary key,
  name        text not null,
  created_at  timestamptz not null
);

create table team (
  id          uuid primary key,
  org_id      uuid not null references org,
  name        text not null,
  region      text not null constraint team__region check (region in ('us', 'eu')),
  created_at  timestamptz not null
);
create index team__org on team (org_id);

-- The text of a key is shown once; only its hash and last characters are kept.
create table api_key (
  id          uuid primary key,
  team_id     uuid not null references team,
  cell        text not null constraint api_key__cell check (cell in ('sandbox-us', 'sandbox-eu', 'production-us', 'production-eu')),
  label       text not null,
  key_hash    bytea not null constraint api_key__hash unique,
  hint        text not null,
  created_at  timestamptz not null
);
create index api_key__team on api_key (team_id);

create table management_key (
  id          uuid primary key,
  org_id      uuid not null references org,
  role        text not null constraint management_key__role check (role in ('org_admin', 'team_admin')),
  label       text not null,
  key_hash    bytea not null constraint management_key__hash unique,
  hint        text not null,
  created_at  timestamptz not null
);
create index management_key__org on management_key (org_id);
