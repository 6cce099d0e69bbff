-- compatible with programs from migration 0085 on
-- Of a workout: seconds in six zones of heart rate as the server has computed them. What the source sends is in the document, and wins.
alter table summary add column computed_hr_zones integer[];
