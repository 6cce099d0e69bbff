-- compatible with programs from migration 0030 on
-- What failed is listed and counted by these. On their own, so that their tables are read while nothing is locked but writes.
create index mail__failed on mail (done_at) where state = 'failed';
create index patient_message__failed on patient_message (done_at) where state = 'failed';
