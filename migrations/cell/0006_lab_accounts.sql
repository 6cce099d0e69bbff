-- Accounts with laboratories, under which orders are placed. Without an organization: the platform's own, for every team, one a lab.
create table lab_account (
  id                      uuid primary key,
  lab_id                  integer not null references lab,
  org_id                  uuid,
  status                  text not null constraint lab_account__status check (status in ('active', 'pending', 'suspended', 'ready_to_launch')),
  delegated_flow          text not null constraint lab_account__delegated_flow check (
                            delegated_flow in ('order_delegated', 'result_delegated', 'fully_delegated', 'not_delegated')),
  provider_account_id     text not null,
  account_name            text,
  default_clinical_notes  text,
  business_units          text[],
  -- Billing type: the states where it is offered.
  allowed_billing         jsonb not null,
  created_at              timestamptz not null
);
create index lab_account__org on lab_account (org_id, created_at, id);
create unique index lab_account__platform on lab_account (lab_id) where org_id is null;

-- Teams that may order under an account of their organization.
create table lab_account_team (
  account_id  uuid not null references lab_account on delete cascade,
  team_id     uuid not null references team,
  primary key (account_id, team_id)
);
create index lab_account_team__team on lab_account_team (team_id);

create index audit__org on audit (org_id, id);
