-- The document in which a laboratory wrote a result, where its staff gave us one: shown instead of the one that we draw.
create table lab_result_pdf (
  order_id    uuid primary key references lab_order,
  team_id     uuid not null references team,
  checksum    text not null,
  bytes       bytea not null,
  created_at  timestamptz not null
);
create index lab_result_pdf__team on lab_result_pdf (team_id);
