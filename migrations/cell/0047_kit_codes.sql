-- compatible with programs from migration 0030 on
-- Kits are found by their codes as people type them: upper or lower case, with or without hyphens and blanks.
create index lab_order__kit_code on lab_order (upper(regexp_replace(sample_id, '[-[:space:]]', '', 'g')), team_id)
  where sample_id is not null and method = 'testkit';
