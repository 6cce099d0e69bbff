-- compatible with programs from migration 0092 on
-- A lab test is deleted only when its team is erased, after the orders of the team. Nothing looks for orders by their lab test.
alter table lab_order drop constraint lab_order_lab_test_id_fkey;
drop index lab_order__lab_test;
