-- compatible with programs from migration 0030 on
-- Led by the team: while a table has no statistics, PostgreSQL combines an index of transactions with all orders of the team.
create index lab_order__team_transaction on lab_order (team_id, transaction_id);
drop index lab_order__transaction;
alter index lab_order__team_transaction rename to lab_order__transaction;
