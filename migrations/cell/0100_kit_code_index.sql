-- compatible with programs from migration 0092 on
-- The code of a kit is nearly always stored as people's typing is compared with it: in capitals, without spaces and hyphens. Those are found
-- by lab_order__sample_id, so only other codes need an index of their own. Codes are random, so each entry in an index of all codes wrote to
-- another page of it. Programs of before find kits through the indexes of the team meanwhile.
create index lab_order__kit_spelling on lab_order (translate(upper(sample_id), E'- \t\n\r\f\x0b', ''), team_id)
  where sample_id is not null and method = 'testkit' and sample_id <> translate(upper(sample_id), E'- \t\n\r\f\x0b', '');
drop index lab_order__kit;
