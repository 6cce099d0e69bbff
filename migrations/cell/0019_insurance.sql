-- Who a user is, as last said by the team or by an order. JSON as the interface shows it.
create table user_demographics (
  user_id     uuid primary key references "user",
  team_id     uuid not null references team,
  document    jsonb not null,
  updated_at  timestamptz not null
);
create index user_demographics__team on user_demographics (team_id);

-- Physicians that order for a team where the customer's own does not. Without states: in every one.
create table team_physician (
  id          uuid primary key,
  team_id     uuid not null references team,
  first_name  text not null,
  last_name   text not null,
  npi         text not null,
  states      text[] not null,
  created_at  timestamptz not null
);
create index team_physician__team on team_physician (team_id, created_at, id);

-- Insurers. Without a team: the platform's directory, shipped or loaded by the operator.
create table payor (
  code            text primary key,
  team_id         uuid references team,
  origin          text not null constraint payor__origin check (origin in ('shipped', 'imported', 'team')),
  name            text not null,
  aliases         text[] not null,
  org_address     jsonb not null,
  -- Its electronic payer id; what clearinghouses call it otherwise stands in external_codes, by clearinghouse.
  payer_id        text,
  external_codes  jsonb not null,
  -- Of a public programme: which, and in which state.
  program         text constraint payor__program check (program in ('medicare', 'medicaid')),
  state           text,
  created_at      timestamptz not null,
  constraint payor__owner check ((team_id is null) = (origin <> 'team'))
);
create index payor__team on payor (team_id) where team_id is not null;
create unique index payor__program_state on payor (program, state) where program is not null;

-- Diagnosis codes that may be billed, ICD-10-CM, without the dot.
create table icd_code (
  code          text collate "C" primary key,
  description   text not null,
  -- Never the first diagnosis of a claim.
  is_secondary  boolean not null
);

-- Codes that begin with `code` go ill with codes that begin with `excluded`. excludes1: never together; excludes2: only when both are so.
create table icd_exclusion (
  code      text not null,
  excluded  text not null,
  type      text not null constraint icd_exclusion__type check (type in ('excludes1', 'excludes2')),
  primary key (code, excluded)
);

-- What of this is loaded, and from where.
create table insurance_load (
  part      text primary key,
  checksum  text not null,
  origin    text not null constraint insurance_load__origin check (origin in ('shipped', 'imported'))
);

-- Insurances of users. Each is kept as it was given, with the insurer as it was then.
create table insurance (
  id          uuid primary key,
  team_id     uuid not null references team,
  user_id     uuid not null references "user",
  is_primary  boolean not null,
  document    jsonb not null,
  created_at  timestamptz not null
);
create index insurance__user on insurance (user_id, is_primary, id);
create index insurance__team on insurance (team_id);
