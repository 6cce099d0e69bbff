-- Which patients a lab takes: the longest names it can print, and genders; null is no rule.
alter table lab
  add column max_first_name   integer,
  add column max_last_name    integer,
  add column allowed_genders  text[];

-- `pricing` is the price as the interface breaks it down; null is what `price` says.
alter table marker
  add column cpt_codes  text[] not null default '{}',
  add column pricing    jsonb;

-- What a lab test that was made for an order is made of, so that it is found again.
alter table lab_test add column made_of text;
create unique index lab_test__made_of on lab_test (team_id, made_of) where made_of is not null;
