-- What organizations manage of themselves, and who did it.

-- From `expires_at` on an organization may only read. `plan` says which groups of operations it has.
alter table org
  add column plan text not null default 'scale' constraint org__plan check (plan in ('launch', 'grow', 'scale')),
  add column expires_at timestamptz;

-- A deleted team is hidden; its id stays taken, the caller's own reference is free again.
alter table team
  add column integration_team_id text,
  add column deleted_at timestamptz;
create unique index team__integration_team_id on team (org_id, integration_team_id) where deleted_at is null;
drop index team__org;
create index team__newest on team (org_id, created_at, id) where deleted_at is null;

-- Teams a team management key is bound to. A key of role org_admin has none and reaches every team.
create table management_key_team (
  key_id   uuid not null references management_key on delete cascade,
  team_id  uuid not null references team,
  primary key (key_id, team_id)
);
create index management_key_team__team on management_key_team (team_id);

-- Management writes on the control plane; rows are added, never changed. `actor` is the key that did it.
create table audit (
  id          uuid primary key,
  org_id      uuid not null,
  team_id     uuid,
  actor       text not null,
  operation   text not null,
  object      text,
  created_at  timestamptz not null
);
create index audit__org on audit (org_id, id);

-- People of an organization, and those who are asked to become some. A person belongs to one organization. `team_ids` are theirs by
-- the role team_admin.
create table member (
  id          uuid primary key,
  org_id      uuid not null references org,
  name        text not null,
  email       text not null,
  role        text not null constraint member__role check (role in ('org_admin', 'team_admin', 'no_role')),
  team_ids    uuid[] not null,
  created_at  timestamptz not null
);
create unique index member__email on member (lower(email));
create index member__newest on member (org_id, created_at, id);

create table invite (
  id          uuid primary key,
  org_id      uuid not null references org,
  email       text not null,
  role        text not null constraint invite__role check (role in ('org_admin', 'team_admin', 'no_role')),
  team_ids    uuid[] not null,
  token_hash  bytea not null constraint invite__token unique,
  invited_at  timestamptz not null,
  resent_at   timestamptz,
  expires_at  timestamptz not null
);
create unique index invite__email on invite (org_id, lower(email));

-- The outbox of mail. An invite's token stands in the text; it is worthless once the invite is used, repeated, revoked or expired.
create table mail (
  id          uuid primary key,
  org_id      uuid not null references org,
  recipient   text not null,
  subject     text not null,
  body        text not null,
  created_at  timestamptz not null
);
create index mail__org on mail (org_id, id);

-- Answers kept under a caller's key, as in a cell; here the keys belong to an organization, whose id stands in `team_id`.
create table idempotency (
  team_id     uuid not null references org,
  scope       text not null,
  key         text not null,
  status      integer,
  body        text,
  object_id   uuid,
  expires_at  timestamptz not null,
  primary key (team_id, scope, key)
);
create index idempotency__expired on idempotency (expires_at);
