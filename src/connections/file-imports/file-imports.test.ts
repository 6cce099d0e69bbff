// Files through HTTP: they are stored encrypted, imported by a job, and deleted.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { exportXml, exportZip, imported, record, upload } from '../../../test/support/file-imports.ts'
import { at, events, post, read, types, watch } from '../../../test/support/samples.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const Count = T.Object({ n: T.Integer() })
const parts = async ({ db, team }: TestTeam): Promise<number> =>
  (await db.queries.one(Count, sql`select count(*) as n from file_import_part where team_id = ${team}`)).n

const rates = (...values: [time: string, value: number][]) =>
  exportXml(...values.map(([time, value]) => record('HeartRate', value, 'count/min', `2026-01-31 ${time} +0000`)))

describe('the import of a file', () => {
  test('a zip archive of an Apple Health export becomes samples, events about history and a notice', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const { id, created_at, finished_at, ...shown } = await imported(
      team,
      user,
      await exportZip(rates(['09:00:00', 61], ['09:05:00', 64])),
    )
    assert(id && created_at && finished_at)
    const counts = { accepted: 2, created: 2, updated: 0, dropped: 0 }
    assert.deepEqual(
      { ...shown, received_bytes: 0 },
      {
        user_id: user,
        status: 'completed',
        format: 'apple_health',
        received_bytes: 0,
        progress: 1,
        ...counts,
        resources: { heartrate: counts },
        skipped: {},
        error: null,
      },
    )
    const { groups } = await read(team, user, 'heartrate')
    assert.equal(groups.apple_health_kit[0].source.type, 'watch')
    assert.deepEqual(
      groups.apple_health_kit[0].data.map(({ timestamp, value }: Record<string, unknown>) => [timestamp, value]),
      [
        ['2026-01-31T09:00:00+00:00', 61],
        ['2026-01-31T09:05:00+00:00', 64],
      ],
    )
    assert.deepEqual(types(await events(team)), ['daily.data.heartrate.created', 'historical.data.heartrate.created'])
    assert.equal(await parts(team), 0)
  })

  test('a longer export changes nothing that is there', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await imported(team, user, await exportZip(rates(['09:00:00', 61])))
    const again = await imported(team, user, await exportZip(rates(['09:00:00', 61], ['10:00:00', 70])))
    assert.deepEqual([again.accepted, again.created, again.updated], [2, 1, 0])
  })

  test('what a phone has sent before is left as it is, and counted', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await post(team, user, 'heartrate', [at('09:00:00', 61, watch)])
    const shown = await imported(team, user, await exportZip(rates(['09:00:00', 61], ['10:00:00', 70])))
    assert.deepEqual([shown.accepted, shown.created, shown.updated], [1, 1, 0])
    assert.deepEqual(shown.skipped, { already_there: { heartrate: 1 } })
    const { groups } = await read(team, user, 'heartrate')
    assert.deepEqual(groups.apple_health_kit.map(({ data }: { data: unknown[] }) => data.length).toSorted(), [1, 1])
  })

  test('a file is sent in parts, of which the last one may be sent again', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const xml = Buffer.from(rates(['09:00:00', 61]) + ' '.repeat(300_000))
    const begun = await upload(team, user, xml.subarray(0, 280_000), '?is_last=false')
    assert.deepEqual([begun.status, begun.body.status, begun.body.received_bytes], [202, 'uploading', 280_000])
    const path = `/v2/user/${user}/file_import/${begun.body.id}`
    const put = (from: number, file = xml.subarray(from)) => team.api.call('PUT', `${path}?offset=${from}`, file)
    assert.equal((await put(1)).status, 409)
    assert.equal((await put(280_000)).body.status, 'queued')
    assert.equal((await put(280_000)).status, 202)
    assert.equal((await put(280_000, xml.subarray(0, 5))).status, 409)
    await team.settle()
    const { body } = await team.api.get(path)
    assert.deepEqual([body.status, body.received_bytes, body.accepted], ['completed', xml.length, 1])
  })

  test('parts that are empty, too small or too large are rejected', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    assert.equal((await upload(team, user, Buffer.alloc(0))).status, 422)
    assert.equal((await upload(team, user, Buffer.alloc(1000), '?is_last=false')).status, 422)
    assert.equal((await upload(team, user, Buffer.alloc(8 * 1024 * 1024 + 1))).status, 413)
    assert.equal(await parts(team), 0)
  })

  test('the bytes of a file are stored encrypted', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const secret = 'Fictional secret of a file'
    await upload(team, user, Buffer.from(secret))
    const Bytes = T.Object({ bytes: T.Unsafe<Buffer>({}) })
    const { bytes } = await team.db.queries.one(Bytes, sql`select bytes from file_import_part where team_id = ${team.team}`)
    assert(bytes.length > secret.length && !bytes.includes('Fictional'))
  })

  test('a user and a team see only their own imports', async () => {
    const [team, stranger] = [await createTestTeam(), await createTestTeam()]
    const [user, other] = [await team.user(), await team.user()]
    const { id } = (await upload(team, user, Buffer.from('x'))).body
    assert.equal((await team.api.get(`/v2/user/${other}/file_import/${id}`)).status, 404)
    assert.equal((await stranger.api.get(`/v2/user/${user}/file_import/${id}`)).status, 404)
    const { data } = (await team.api.get(`/v2/user/${user}/file_import`)).body
    assert.deepEqual(
      data.map((one: { id: string }) => one.id),
      [id],
    )
  })

  test('a team has at most 20 imports that have not ended, and they run one after another', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    for (let i = 0; i < 20; i++) assert.equal((await upload(team, user, Buffer.from(rates([`09:00:${10 + i}`, 61])))).status, 202)
    assert.equal((await upload(team, user, Buffer.from('x'))).status, 400)
    await team.settle()
    const { data } = (await team.api.get(`/v2/user/${user}/file_import`)).body
    assert(data.every(({ status, created }: { status: string; created: number }) => status === 'completed' && created === 1))
  })

  test('the import of a user who was deleted ends, and the next one of the team runs', async () => {
    const team = await createTestTeam()
    const [user, other] = [await team.user(), await team.user()]
    await upload(team, user, Buffer.from(rates(['09:00:00', 61])))
    await upload(team, other, Buffer.from(rates(['09:00:00', 61])))
    await team.api.delete(`/v2/user/${user}`)
    await team.settle()
    const { data } = (await team.api.get(`/v2/user/${other}/file_import`)).body
    assert.equal(data[0].status, 'completed')
    assert.equal(await parts(team), 0)
  })

  test('while the connection is paused everything is left out', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await post(team, user, 'heartrate', [])
    await team.db.queries.run(sql`update connection set status = 'paused' where team_id = ${team.team}`)
    const shown = await imported(team, user, rates(['09:00:00', 61]))
    assert.deepEqual([shown.status, shown.accepted, shown.skipped], ['completed', 0, { paused: { heartrate: 1 } }])
  })
})
