-- compatible with programs from migration 0092 on
-- Results that an earlier report on the order had and the present one has not, as JSON: [{ "key", "name", "loinc" }]. Systems that have received
-- them are told that they no longer hold. Null: none.
alter table lab_result add column withdrawn text;
