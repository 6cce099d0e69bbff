-- Which patients a lab takes: the longest names it can print, and genders; null is no rule.
alter table lab
  add column max_first_name   integer,
  add column max_last_name    integer,
  add column allowed_genders  text[];

-- `pricing` is the price as the interface breaks it down; null is what `price` says.
alter table marker
  add column cpt_codes  text[] not null default '{}',
  add column pricing    jsonb;

-- `made_of`: what a lab test that was made for an order is made of, so that it is found again. `approved`: whether an operator has let it be
-- ordered; a test that was put away before that must not come back as an active one.
alter table lab_test
  add column made_of   text,
  add column approved  boolean not null default true;
create unique index lab_test__made_of on lab_test (team_id, made_of) where made_of is not null;
