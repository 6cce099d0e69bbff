-- compatible with programs from migration 0060 on
-- Fills in the columns of the work queue, which programs before migration 55 did not write, for the orders whose work type depends on them;
-- other orders get them with their next status. detail_at, which said whether a program had written them, is no longer needed: such a
-- program cannot run since migration 58.
update lab_order
set status_detail = document::json -> 'last_event' ->> 'status_detail',
    -- Quotes within values are escaped, so that no value can look like this.
    kit_sent = document like '%"status":"collecting\_sample.testkit.%'
where low_level_status in ('ordered', 'awaiting_registration', 'registered') and detail_at is distinct from updated_at;
alter table lab_order drop column detail_at;
