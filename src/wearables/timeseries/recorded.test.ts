// Samples that are stored already: as many are read as instants are asked for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { recordedSamples } from './chunks.ts'
import { HOUR_MS } from '../../platform/runtime/durations.ts'

const BEGIN_MS = Date.UTC(2026, 0, 1)

/** A user with a sample in each second of so many hours, each of them a minute long in every second series. */
async function createRecording(hours: number) {
  const team = await createTestTeam()
  const user_id = await team.user()
  await team.db.queries.run(sql`
    with s as (
      insert into series (team_id, user_id, resource, provider, source_type, app_id, changed_at)
      select ${team.team}, ${user_id}, 'heartrate', 'apple_health_kit', kind, 'com.fictional.' || kind, ${new Date(0)}
      from unnest(array['watch', 'phone']) kind returning id, source_type)
    insert into chunk (team_id, user_id, series_id, hour, samples, at, values, lengths)
    select ${team.team}, ${user_id}, s.id, ${new Date(BEGIN_MS)}::timestamptz + make_interval(hours => h), 3600,
           array(select i * 1000 from generate_series(0, 3599) i), array(select 60 from generate_series(0, 3599)),
           case when s.source_type = 'phone' then array(select 60000 from generate_series(0, 3599)) end
    from s, generate_series(0, ${hours - 1}::int) h`)
  return (instants_ms: number[]) =>
    team.db.tx(team.tenant, (tx) =>
      recordedSamples(tx, { user_id, resource: 'heartrate', provider: 'apple_health_kit' }, () => true, instants_ms),
    )
}

test('only the samples at the instants are read, and no others of their hours', async () => {
  const samples = await createRecording(20)
  const instants = Array.from({ length: 20 }, (_, hour) => BEGIN_MS + hour * HOUR_MS + 1_800_000)
  const found = await samples([...instants, BEGIN_MS + 1, BEGIN_MS - 1000])
  assert.equal(found.length, 40)
  assert.deepEqual(
    found
      .slice(0)
      .sort((a, b) => a.at_ms - b.at_ms || a.source_type.localeCompare(b.source_type))
      .slice(0, 2),
    [
      { at_ms: instants[0], length_ms: 60_000, source_type: 'phone' },
      { at_ms: instants[0], length_ms: null, source_type: 'watch' },
    ],
  )
})

test('an instant that is asked for twice is read once', async () => {
  const samples = await createRecording(1)
  assert.equal((await samples([BEGIN_MS, BEGIN_MS])).length, 2)
})
