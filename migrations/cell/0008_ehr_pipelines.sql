-- Where a team's records go in an EHR, one pipeline of a type. `secret` is encrypted and not part of `authentication`.
create table ehr_pipeline (
  id               uuid primary key,
  team_id          uuid not null references team,
  ehr_type         text not null constraint ehr_pipeline__ehr_type check (ehr_type in ('fhir', 'hint_health')),
  base_url         text not null,
  authentication   jsonb not null,
  secret           text,
  allowed_mappers  text[],
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  constraint ehr_pipeline__once unique (team_id, ehr_type)
);
