-- Looked at for each row on the busiest path there is, these cost as much as the rows. An order's message is written in one statement with
-- the order, which has a key to its team; announcements are made from `followed_team`, which has one too. States and channels of messages
-- are values of the program's own.
alter table patient_message
  drop constraint patient_message_team_id_fkey,
  drop constraint patient_message__channel,
  drop constraint patient_message__state,
  drop constraint patient_message__waiting;
alter table announcement drop constraint announcement_team_id_fkey;
