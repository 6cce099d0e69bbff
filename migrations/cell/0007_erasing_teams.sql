-- What is of a deleted team is found without reading what is of others, and so is what refers to it.
create index user__team on "user" (team_id);
create index lab_result__team on lab_result (team_id);
create index lab_order__lab_test on lab_order (lab_test_id);
