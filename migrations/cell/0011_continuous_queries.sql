-- Queries over data of the body that are kept up to date for every user of a team; without a team, for every user of the organization.
-- Archived ones stay, and so does their slug. JSON is kept as it was given: the order of its keys is that of the columns.
create table continuous_query (
  id                           uuid primary key,
  org_id                       uuid not null,
  team_id                      uuid references team,
  slug                         text not null,
  title                        text not null,
  status                       text not null constraint continuous_query__status check (status in ('active', 'archived')),
  query                        json not null,
  provider_priority_overrides  text[],
  minimum_gap_duration_second  integer constraint continuous_query__gap check (minimum_gap_duration_second >= 1800),
  data_events                  boolean not null,
  fhir_observations            boolean not null,
  result_table_schema          json not null,
  resource_dependencies        text[] not null,
  created_at                   timestamptz not null,
  updated_at                   timestamptz not null
);
create unique index continuous_query__slug on continuous_query (team_id, slug) where team_id is not null;
create unique index continuous_query__platform_slug on continuous_query (org_id, slug) where team_id is null;
create index continuous_query__newest on continuous_query (org_id, created_at, id);
