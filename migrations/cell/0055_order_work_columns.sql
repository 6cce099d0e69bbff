-- compatible with programs from migration 0030 on
-- The list of work reads columns in place of the text of an order: what was said of its status, and whether its kit has left. Programs of
-- before do not write them: detail_at is the updated_at that they are of. Orders of before are filled in by the program.
alter table lab_order add column status_detail text, add column kit_sent boolean, add column detail_at timestamptz;
