// Files that give no zone: the day and the offset are those of where the user lives. Source: users-wearables.md 7.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { importFile } from '../../../test/support/file-imports.ts'
import { createTestTeam } from '../../../test/support/server.ts'

const point = (time: string) =>
  `<trkpt lat="35.6" lon="139.7"><time>2026-01-31T${time}Z</time><extensions><hr>120</hr></extensions></trkpt>`
const gpx = `<gpx creator="Fictional"><trk><type>running</type><trkseg>${point('15:30:00')}${point('15:31:00')}</trkseg></trk></gpx>`

test('a track without a zone belongs to the day on which the user was, if it is known where the user lives', async () => {
  const team = await createTestTeam()
  for (const [fallback_time_zone, day, offset] of [
    ['Asia/Tokyo', '2026-02-01', 32_400],
    [null, '2026-01-31', null],
  ] as const) {
    const { user_id } = (await team.api.post('/v2/user', { client_user_id: randomUUID(), fallback_time_zone })).body
    assert.equal((await importFile(team, user_id as string, gpx)).status, 'completed')
    const range = 'start_date=2026-01-30&end_date=2026-02-02'
    const [workout] = (await team.api.get(`/v2/summary/workouts/${user_id}?${range}`)).body.workouts
    assert.deepEqual([workout.calendar_date, workout.timezone_offset], [day, offset])
    const { groups } = (await team.api.get(`/v2/timeseries/${user_id}/heartrate/grouped?${range}`)).body
    const samples = Object.values(groups as Record<string, { data: { timezone_offset: number | null }[] }[]>).flat()
    assert.deepEqual(
      samples.flatMap(({ data }) => data.map((sample) => sample.timezone_offset)),
      [offset, offset],
    )
  }
})
