-- compatible with programs from migration 0001 on
-- The schema of the control plane: the organizations, their teams and members, and all keys. It never has data of patients.

-- ==== organizations and teams

-- From `expires_at` on an organization may only read. `plan` says which groups of operations it has.
create table org (
  id          uuid primary key,
  name        text not null,
  created_at  timestamptz not null,
  plan        text not null default 'scale' constraint org__plan check (plan in ('launch', 'grow', 'scale')),
  expires_at  timestamptz
);

-- A deleted team is hidden; its id stays taken, and the caller's own reference to it is free again.
create table team (
  id                   uuid primary key,
  org_id               uuid not null references org,
  name                 text not null,
  region               text not null constraint team__region check (region in ('us', 'eu')),
  created_at           timestamptz not null,
  integration_team_id  text,
  deleted_at           timestamptz
);
create unique index team__integration_team_id on team (org_id, integration_team_id) where deleted_at is null;
create index team__newest on team (org_id, created_at, id) where deleted_at is null;

-- ==== platform

-- One row that /readyz updates, to check that the database accepts writes.
create table readiness (
  single      boolean primary key default true check (single),
  checked_at  timestamptz not null
);
insert into readiness (checked_at) values (clock_timestamp());

-- Answers that are stored under a key of the caller, as in a cell. Here the keys belong to an organization: `team_id` is its id.
create table idempotency_key (
  team_id      uuid not null references org,
  scope        text not null,
  key          text not null,
  status       integer,
  body         text,
  object_id    uuid,
  expires_at   timestamptz not null,
  -- A digest of the body for which the key is valid.
  fingerprint  text,
  -- Always null here.
  user_ids     uuid[],
  primary key (team_id, scope, key)
);
create index idempotency_key__expired on idempotency_key (expires_at);

-- Management writes on the control plane. Rows are added and never changed. `actor` is the key that made the request.
create table audit_log (
  id          uuid primary key,
  org_id      uuid not null,
  team_id     uuid,
  actor       text not null,
  member_id   uuid,
  operation   text not null,
  object      text,
  created_at  timestamptz not null
);
create index audit_log__org on audit_log (org_id, id);

-- The email outbox. A mail waits while it has a due time. A sender claims it under a lease: an owner, a fencing token and the
-- end of the lease, by the system clock. The text is deleted when the mail is sent. The token of an invite is in the text; it
-- is worthless once the invite is used, repeated, revoked or expired.
create table mail (
  id            uuid primary key,
  recipient     text not null,
  subject       text not null,
  body          text,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  state         text not null constraint mail__state check (state in ('waiting', 'sent', 'failed')),
  attempts      integer not null,
  due_at        timestamptz,
  -- Why the last attempt failed: a code, never the words of a server.
  error         text,
  finished_at   timestamptz,
  owner         uuid,
  fence         integer not null default 0,
  leased_until  timestamptz,
  constraint mail__text check ((state = 'sent') = (body is null)),
  constraint mail__waiting check ((state = 'waiting') = (due_at is not null))
);
create index mail__due on mail (due_at, id) where due_at is not null;
create index mail__failed on mail (finished_at) where state = 'failed';
create index mail__old on mail (created_at);

-- ==== tenancy

-- A white-label domain. It belongs to one organization, which proves it with `verification_token` in the DNS. `cname_target` is
-- where the name `dashboard.` of the domain pointed at the last check, if the organization asked for that check.
create table org_domain (
  id                  uuid primary key,
  org_id              uuid not null references org,
  domain              text not null constraint org_domain__domain unique,
  verification_token  text not null,
  verified_at         timestamptz,
  cname_target        text,
  created_at          timestamptz not null
);
create index org_domain__org on org_domain (org_id, created_at, id);

-- The people of an organization. A person belongs to one organization. `team_ids` are the teams of a person with the role
-- team_admin, and `team_roles` names the person's role in those of them where it is not that of an administrator.
create table member (
  id          uuid primary key,
  org_id      uuid not null references org,
  name        text not null,
  email       text not null,
  role        text not null constraint member__role check (role in ('org_admin', 'team_admin', 'no_role')),
  team_ids    uuid[] not null,
  team_roles  jsonb not null default '{}',
  created_at  timestamptz not null
);
create unique index member__email on member (lower(email));
create index member__newest on member (org_id, created_at, id);

-- Sessions of members in the console. The token is stored as a hash. A session lasts until `idle_expires_at`, which requests move on, at
-- most until `expires_at`.
create table console_session (
  id               uuid primary key,
  member_id        uuid not null references member on delete cascade,
  token_hash       bytea not null constraint console_session__token unique,
  method           text not null,
  address          text not null,
  user_agent       text not null,
  created_at       timestamptz not null,
  last_seen_at     timestamptz not null,
  idle_expires_at  timestamptz not null,
  expires_at       timestamptz not null
);
create index console_session__expired on console_session (idle_expires_at);
create index console_session__member on console_session (member_id, last_seen_at, id);

-- Passwords of members, as argon2id hashes with their parameters.
create table member_password (
  member_id      uuid primary key references member on delete cascade,
  password_hash  text not null,
  updated_at     timestamptz not null
);

-- Passkeys of members. The public key is in base64url.
create table passkey (
  id             uuid primary key,
  member_id      uuid not null references member on delete cascade,
  credential_id  text not null constraint passkey__credential unique,
  public_key     text not null,
  counter        bigint not null,
  transports     text[] not null,
  name           text not null,
  created_at     timestamptz not null,
  last_used_at   timestamptz
);
create index passkey__member on passkey (member_id, created_at, id);

-- Whom an OpenID issuer knows as which member.
create table member_identity (
  issuer      text not null,
  subject     text not null,
  member_id   uuid not null references member on delete cascade,
  created_at  timestamptz not null,
  primary key (issuer, subject)
);
create index member_identity__member on member_identity (member_id);

-- Sign-ins that take more than one request, under a token in a cookie: their state between these requests.
create table sign_in_attempt (
  token_hash  bytea primary key,
  purpose     text not null,
  member_id   uuid references member on delete cascade,
  data        jsonb not null,
  expires_at  timestamptz not null
);
create index sign_in_attempt__expired on sign_in_attempt (expires_at);
create index sign_in_attempt__member on sign_in_attempt (member_id) where member_id is not null;

-- Links that work once. Without a member: for the first administrator; else the member sets a password with it.
create table one_time_link (
  id          uuid primary key,
  member_id   uuid references member on delete cascade,
  token_hash  bytea not null constraint one_time_link__token unique,
  created_at  timestamptz not null,
  expires_at  timestamptz not null
);
create index one_time_link__expired on one_time_link (expires_at);
create index one_time_link__member on one_time_link (member_id, created_at, id);

-- Keys of teams. The text of a key is shown once; its hash and its last characters are stored. `last_used_at` is exact to about
-- a minute.
create table api_key (
  id            uuid primary key,
  team_id       uuid not null references team,
  cell          text not null constraint api_key__cell check (cell in ('sandbox-us', 'sandbox-eu', 'production-us', 'production-eu')),
  label         text not null,
  key_hash      bytea not null constraint api_key__hash unique,
  last_four     text not null,
  created_at    timestamptz not null,
  last_used_at  timestamptz,
  last_used_ip  text,
  -- The person for whom a key was issued. The key is removed with the member.
  member_id     uuid references member on delete cascade,
  -- The member who created it, who may have left; null: a key or a command did.
  creator_member_id  uuid
);
create index api_key__member on api_key (member_id) where member_id is not null;
create index api_key__team on api_key (team_id);

-- Keys of organizations, stored as those of teams.
create table management_key (
  id              uuid primary key,
  org_id          uuid not null references org,
  role            text not null constraint management_key__role check (role in ('org_admin', 'team_admin')),
  label           text not null,
  key_hash        bytea not null constraint management_key__hash unique,
  last_four       text not null,
  created_at      timestamptz not null,
  last_used_at    timestamptz,
  last_used_ip    text,
  -- The former text of a rotated key is accepted until `previous_until`.
  previous_hash   bytea,
  previous_until  timestamptz,
  member_id       uuid references member on delete cascade,
  creator_member_id  uuid
);
create index management_key__member on management_key (member_id) where member_id is not null;
create index management_key__org on management_key (org_id);
create unique index management_key__previous on management_key (previous_hash) where previous_hash is not null;

-- The teams of a management key with the role team_admin. A key with the role org_admin has no rows and may access every team.
create table management_key_team (
  key_id   uuid not null references management_key on delete cascade,
  team_id  uuid not null references team,
  primary key (key_id, team_id)
);
create index management_key_team__team on management_key_team (team_id);

-- Invitations to become a member.
create table invite (
  id          uuid primary key,
  org_id      uuid not null references org,
  email       text not null,
  role        text not null constraint invite__role check (role in ('org_admin', 'team_admin', 'no_role')),
  team_ids    uuid[] not null,
  team_roles  jsonb not null default '{}',
  token_hash  bytea not null constraint invite__token unique,
  invited_at  timestamptz not null,
  resent_at   timestamptz,
  expires_at  timestamptz not null,
  -- The member who sent it first, who may have left; null: a key did.
  creator_member_id  uuid
);
create unique index invite__email on invite (org_id, lower(email));

-- How an organization embeds its dashboard. `origins` is a list of {origin, session_continuation_url}.
create table dashboard_embedding (
  org_id      uuid primary key references org,
  slug        text not null constraint dashboard_embedding__slug unique,
  modalities  text[] not null,
  origins     jsonb not null
);

-- People whom the backend of the organization signs in. `team_ids` null: every team of the organization.
create table integration_member (
  id                     uuid primary key,
  org_id                 uuid not null references org,
  integration_member_id  text not null,
  name                   text not null,
  email                  text not null,
  avatar                 text,
  team_ids               uuid[],
  created_at             timestamptz not null,
  constraint integration_member__reference unique (org_id, integration_member_id)
);
create index integration_member__newest on integration_member (org_id, created_at, id);

-- A launch, and the session that it becomes when its token is used. Until then `expires_at` is the end of the token, afterwards
-- the end of the session. Both tokens are stored as hashes.
create table dashboard_session (
  id                  uuid primary key,
  member_id           uuid not null,
  team_id             uuid not null references team,
  environment         text not null constraint dashboard_session__environment check (environment in ('sandbox', 'production')),
  feature             text not null,
  modality            text not null constraint dashboard_session__modality check (modality in ('feature_embed', 'link_out')),
  launch_token_hash   bytea not null constraint dashboard_session__launch unique,
  session_token_hash  bytea constraint dashboard_session__session unique,
  expires_at          timestamptz not null,
  constraint dashboard_session__member foreign key (member_id) references integration_member on delete cascade
);
create index dashboard_session__expired on dashboard_session (expires_at);
create index dashboard_session__of_member on dashboard_session (member_id);

-- ==== connections

-- The scopes that users are asked to grant, for teams that do not use the default. In both environments.
create table scope_requirement (
  team_id          uuid not null references team,
  provider         text not null,
  user_must_grant  text[] not null,
  user_may_grant   text[] not null,
  updated_at       timestamptz not null,
  primary key (team_id, provider)
);

-- The key that signs the sign-in tokens of phones: one for the installation, encrypted with ENCRYPTION_KEYS.
create table sign_in_key (
  id           smallint primary key check (id = 1),
  private_key  text not null,
  created_at   timestamptz not null
);

-- ==== console

-- Backups that the command made. Backups of other tools are not known here.
create table completed_backup (
  completed_at  timestamptz primary key,
  bytes         bigint not null
);
