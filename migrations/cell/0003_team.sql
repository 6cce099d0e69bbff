-- A deleted team is hidden and nothing is done for it any more. `source_priorities` is a JSON list, as it was given.
alter table team
  add column deleted_at timestamptz,
  add column source_priorities text;
