-- A laboratory's number names one order of a team there; several laboratories may use the same. The number stands first: what a
-- laboratory sends is found by it before the team is known.
drop index lab_order__sample_id;
create unique index lab_order__sample_id on lab_order (sample_id, lab_id, team_id) where sample_id is not null;
