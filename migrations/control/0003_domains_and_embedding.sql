-- White-label domains, and dashboards that organizations embed in their own pages.

-- A name belongs to one organization. `token` has to be found in its DNS. `target` is where its `dashboard.` pointed when it was last
-- checked, if that was asked for.
create table org_domain (
  id           uuid primary key,
  org_id       uuid not null references org,
  domain       text not null constraint org_domain__domain unique,
  token        text not null,
  verified_at  timestamptz,
  target       text,
  created_at   timestamptz not null
);
create index org_domain__org on org_domain (org_id, created_at, id);

-- How an organization embeds. `origins` is a list of {origin, session_continuation_url}.
create table embedding (
  org_id      uuid primary key references org,
  slug        text not null constraint embedding__slug unique,
  modalities  text[] not null,
  origins     jsonb not null
);

-- People whom the organization's own backend signs in. `team_ids` null: every team of the organization.
create table embedded_member (
  id                     uuid primary key,
  org_id                 uuid not null references org,
  integration_member_id  text not null,
  name                   text not null,
  email                  text not null,
  avatar                 text,
  team_ids               uuid[],
  created_at             timestamptz not null,
  constraint embedded_member__reference unique (org_id, integration_member_id)
);
create index embedded_member__newest on embedded_member (org_id, created_at, id);

-- A launch, and the session that it becomes when its token is used. Until then `expires_at` is the end of the token, afterwards that
-- of the session. Of both tokens only hashes are kept.
create table dashboard_session (
  id            uuid primary key,
  member_id     uuid not null constraint dashboard_session__member references embedded_member on delete cascade,
  team_id       uuid not null references team,
  environment   text not null constraint dashboard_session__environment check (environment in ('sandbox', 'production')),
  feature       text not null,
  modality      text not null constraint dashboard_session__modality check (modality in ('feature_embed', 'link_out')),
  launch_hash   bytea not null constraint dashboard_session__launch unique,
  session_hash  bytea constraint dashboard_session__session unique,
  expires_at    timestamptz not null
);
create index dashboard_session__of_member on dashboard_session (member_id);
create index dashboard_session__expired on dashboard_session (expires_at);
