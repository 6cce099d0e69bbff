// Each rule for statements on distributed tables by examples. What Citus does with them was tried on Citus 13.2.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readKinds } from './kinds.ts'
import { partsOf } from './parts.ts'
import { findFaults, type Reach } from './rules.ts'

const kinds = readKinds()
const listRules = (text: string, reach: Reach) =>
  [...new Set(findFaults(text, reach, kinds).map(({ rule }) => rule))].sort().join()

const cases: [title: string, text: string, team: string, cell: string][] = [
  ['a select that names the team', 'select from job where team_id = $1::uuid and id = $2', '', ''],
  [
    'a lateral query of no table with a function that is not immutable',
    'select from job j cross join lateral (select now() as at) n',
    'constant,team',
    'constant',
  ],
  [
    'a lateral query of no table with a function that is not immutable, beside the rows of one team',
    'select from job j cross join lateral (select now() as at) n where j.team_id = $1',
    '',
    '',
  ],
  [
    'an insert that selects from a distributed table, with a common table expression on another',
    `with known as (select message_id from delivery where team_id = $1)
     insert into delivery (team_id, destination_id, message_id, state, due_at, trigger, created_at)
     select e.team_id, l.id, e.id, 'pending', $2, 'manual', $2 from event e join destination l on l.team_id = e.team_id
     where e.team_id = $1 and e.id not in (select message_id from known)`,
    'ctes',
    'ctes',
  ],
  [
    'an insert that selects from a common table expression alone',
    `with gone as (delete from job where team_id = $1 and id = $2 returning id, team_id)
     insert into event_outbox (team_id, event_ids) select team_id, array[id] from gone`,
    '',
    '',
  ],
  ['a select that names no team', 'select from job where id = $1', 'team', ''],
  ['a select that names several teams', 'select from job where team_id = any ($1)', 'team', ''],
  ['a select that names the team in one of two cases', 'select from job where team_id = $1 or id = $2', 'team', ''],
  ['a select whose team is not equal', 'select from job where team_id <> $1', 'team', ''],
  ['a select of reference and local tables', 'select from team t join mail m on m.id = t.id for update', '', ''],
  ['a join by the team', 'select from job j join destination d on d.team_id = j.team_id where j.team_id = $1', '', ''],
  ['a join by the table of teams', 'select from team t join job j on j.team_id = t.id where t.id = $1', '', ''],
  [
    'a join by another column',
    'select from job j join destination d on d.owner = j.owner where j.team_id = $1',
    'team',
    'joined',
  ],
  [
    'an outer join by the team',
    'select from job j left join destination d on d.team_id = j.team_id where j.team_id = $1',
    '',
    '',
  ],
  [
    'an outer join whose optional side names the team',
    'select from job j left join destination d on d.team_id = j.team_id and d.team_id = $1',
    'team',
    '',
  ],
  ['a join using the team', 'select from job join destination using (team_id) where job.team_id = $1', '', ''],
  ['a comparison of rows', 'select from job where (team_id, id) = ($1, $2)', '', ''],
  [
    'an exists by the team',
    'select from job j where j.team_id = $1 and not exists (select from event e where e.team_id = j.team_id)',
    '',
    '',
  ],
  [
    'an exists in one of two cases',
    'select from job j where j.team_id = $1 and (j.fence = 1 or exists (select from event e where e.team_id = j.team_id))',
    'team',
    '',
  ],
  [
    'an exists that names no team',
    'select from job j where j.team_id = $1 and exists (select from event e where e.id = j.id)',
    'team',
    'joined',
  ],
  [
    'a column that is a query by the team of the other table',
    'select (select count(*) from event e where e.team_id = j.team_id) from job j where j.team_id = $1',
    'team',
    '',
  ],
  [
    'a column that is a query of the same team',
    'select (select count(*) from event e where e.team_id = $2) from job j where j.team_id = $1',
    '',
    '',
  ],
  [
    'a column that is a query of a reference table',
    'select (select count(*) from job j where j.team_id = t.id) from team t',
    'team',
    'joined',
  ],
  ['a union with a part that names no team', 'select from job where team_id = $1 union all select from event', 'team', ''],
  ['a common table expression that names no team', 'with w as (select * from job) select from w', 'team', ''],
  ['a common table expression with the name of a table', 'with job as (select 1 as id) select from job', '', ''],
  ['a lateral query by the team', 'select from job j, lateral (select from event e where e.team_id = j.team_id) x', 'team', ''],
  ['a lock of rows of one team', 'select from job where team_id = $1 for update skip locked', '', ''],
  ['a lock of rows of several teams', 'select from job where id = $1 for update', 'locked,team', 'locked'],
  [
    'a lock of a select with a volatile function',
    "select nextval('feed_number') from job where team_id = $1 for share",
    'locked',
    'locked',
  ],
  ['an insert of one team', 'insert into event_subscribed_team (team_id) values ($1)', '', ''],
  [
    'an insert whose second row has a team from elsewhere',
    'insert into feed (team_id) values ($1), (default)',
    'values',
    'values',
  ],
  ['an insert with a subquery', 'insert into feed (team_id, seq) values ($1, (select 1))', 'values', 'values'],
  ['an insert with a volatile function', 'insert into job (id, team_id) values (gen_random_uuid(), $1)', '', ''],
  [
    'an insert of rows of the team',
    'insert into event_outbox (team_id, event_ids) select s.team_id, $1 from event_subscribed_team s where s.team_id = $2',
    '',
    '',
  ],
  [
    'an insert of rows that a delete of the team returns',
    'with w as (delete from feed where team_id = $1 returning *) insert into feed (team_id, event_id) select team_id, event_id from w',
    '',
    '',
  ],
  [
    'an insert of rows that a delete of several teams returns',
    'with w as (delete from feed returning *) insert into feed (team_id, event_id) select team_id, event_id from w',
    'team',
    '',
  ],
  [
    'an insert of a union whose second part names no team',
    'insert into feed (team_id) select $1 union all select team_id from event',
    'team',
    '',
  ],
  ['an insert of a union of values', 'insert into feed (team_id) select $1::uuid union all select $2::uuid', '', ''],
  ['an insert of rows of any team', 'insert into feed (team_id, event_id) select team_id, id from event', 'team', ''],
  [
    'an insert that returns a query',
    'insert into feed (team_id) values ($1) returning (select count(*) from team)',
    'values',
    'values',
  ],
  [
    'a conflict with the present time',
    'insert into feed (team_id) values ($1) on conflict (team_id, seq) do update set created_at = now()',
    'conflict',
    'conflict',
  ],
  [
    'a conflict with a value of the insert',
    'insert into feed (team_id) values ($1) on conflict (team_id, seq) do update set created_at = excluded.created_at',
    '',
    '',
  ],
  [
    'a write that returns a part of an instant',
    'update job set fence = 1 where team_id = $1 returning extract(epoch from due_at)',
    'conflict',
    'conflict',
  ],
  ['an update by the clock', 'update job set due_at = statement_timestamp() where team_id = $1', '', ''],
  ['an update with a volatile function', 'update job set owner = gen_random_uuid() where team_id = $1', 'written', 'written'],
  [
    'an update with an interval after a column',
    "update job set due_at = due_at + interval '1 s' where team_id = $1",
    'written',
    'written',
  ],
  [
    'an update by the clock in one of two cases',
    'update job set due_at = coalesce(due_at, now()) where team_id = $1',
    'written',
    'written',
  ],
  [
    'an update by a case with an operand',
    "update job set name = case name when 'a' then 'b' else name end where team_id = $1",
    'written',
    'written',
  ],
  [
    'an insert of a select that returns a parameter',
    'insert into feed (team_id, event_id) select $1, e.id from unnest($2::uuid[]) as e (id) returning seq = $3',
    'conflict',
    'conflict',
  ],
  [
    'an update with a value from a query',
    "with w as (select due_at + interval '1 s' as at from job where team_id = $1) update job set due_at = w.at from w where team_id = $1",
    '',
    '',
  ],
  ['an update that moves a row to another team', 'update job set team_id = $1 where team_id = $2', 'written', 'written'],
  ['a delete of rows of several teams', 'delete from job where failed_at < $1', 'team', ''],
  ['a call of a function that reads tables of teams', 'select from booked_times_of_staff($1, $2, $3, $4)', '', ''],
  [
    'a call of such a function in a statement of the team',
    'select from job j, booked_times_of_staff($1, $2, $3, $4) where j.team_id = $5',
    'called',
    'called',
  ],
  ['a query of several teams without columns', 'select exists (select from job where name = $1)', 'columns,team', 'columns'],
  ['a query of several teams with columns', 'select exists (select 1 from job where name = $1)', 'team', ''],
  ['a query of one team without columns', 'select exists (select from job where team_id = $1)', '', ''],
  ['a merge', 'merge into job using destination on false when not matched then do nothing', 'written', 'written'],
  ['a delete by places of the team', 'delete from job where team_id = $1 and ctid = any ($2)', '', ''],
  ['a delete by places of several teams', 'delete from job where ctid = any ($1)', 'ctid,team', 'ctid'],
  [
    'a conflict of a managed table with the present time',
    'insert into lab_message (id) values ($1) on conflict (id) do update set updated_at = now()',
    'conflict',
    'conflict',
  ],
  [
    'an update of a reference table by an interval',
    "update lab_link set state_at = state_at - interval '1 s'",
    'written',
    'written',
  ],
  [
    'a local table in a query within one of a team',
    'select exists (select from stored_file f where f.set_id = j.id) from parsing_job j where j.team_id = $1',
    'local',
    'local',
  ],
]

for (const [title, text, team, cell] of cases)
  test(`${title} breaks ${[...new Set([team, cell])].filter(Boolean).join(' or ') || 'no'} rule`, () => {
    assert.equal(listRules(text, 'team'), team)
    assert.equal(listRules(text, 'cell'), cell)
  })

test('combined writes are checked one by one', () => {
  const writes = [`insert into a values (')', $1)`, 'with b as (select 1) delete from c', 'update "d)" set e = ((1))']
  assert.deepEqual(
    partsOf(`with w0 as (${writes[0]}), w1 as (${writes[1]}) ${writes[2]}`).map((part) => part.trim()),
    writes,
  )
  assert.deepEqual(partsOf('with w as (select 1) select 2'), ['with w as (select 1) select 2'])
})

test('the kind of a table is that of its team', () => {
  assert.equal(kinds.get('job'), 'distributed')
  assert.equal(kinds.get('event_subscribed_team'), 'distributed')
  assert.equal(kinds.get('lab_order_of_team'), 'distributed')
  assert.equal(kinds.get('team'), 'reference')
  assert.equal(kinds.get('mail'), 'local')
})
