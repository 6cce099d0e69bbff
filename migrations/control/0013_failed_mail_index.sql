-- compatible with programs from migration 0007 on
-- What failed is listed and counted by it. On its own, so that the table is read while nothing is locked but writes.
create index mail__failed on mail (done_at) where state = 'failed';
