// Files through HTTP: they are stored encrypted, imported by a job, and deleted.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { ImportRunner } from './run-import.ts'
import { exportXml, exportZip, importFile, record, upload } from '../../../test/support/file-imports.ts'
import { sentSample, events, post, read, storedTypes, types, watch } from '../../../test/support/samples.ts'
import { createTestTeam, vault, type TestTeam } from '../../../test/support/server.ts'

const Count = T.Object({ n: T.Integer() })
const parts = async ({ db, team }: TestTeam): Promise<number> =>
  (await db.queries.one(Count, sql`select count(*) as n from file_import_part where team_id = ${team}`)).n

const rates = (...values: [time: string, value: number][]) =>
  exportXml(...values.map(([time, value]) => record('HeartRate', value, 'count/min', `2026-01-31 ${time} +0000`)))

describe('the import of a file', () => {
  test('a zip archive of an Apple Health export becomes samples, events about history and a notice', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const { id, created_at, finished_at, ...shown } = await importFile(
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
        skipped: { unsupported: { clinical_document: 1 } },
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
    assert.deepEqual(await storedTypes(team), ['daily.data.heartrate.created', 'historical.data.heartrate.created'])
    assert.deepEqual(types(await events(team)), ['historical.data.heartrate.created'])
    assert.equal(await parts(team), 0)
  })

  test('a longer export changes nothing that is there', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await importFile(team, user, await exportZip(rates(['09:00:00', 61])))
    const again = await importFile(team, user, await exportZip(rates(['09:00:00', 61], ['10:00:00', 70])))
    assert.deepEqual([again.accepted, again.created, again.updated], [2, 1, 0])
  })

  test('data that a phone sent before is unchanged, and counted', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await post(team, user, 'heartrate', [sentSample('09:00:00', 61, watch)])
    const shown = await importFile(team, user, await exportZip(rates(['09:00:00', 61], ['10:00:00', 70])))
    assert.deepEqual([shown.accepted, shown.created, shown.updated], [1, 1, 0])
    assert.deepEqual(shown.skipped, { already_there: { heartrate: 1 }, unsupported: { clinical_document: 1 } })
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
    const put = (offset: number, file = xml.subarray(offset)) => team.api.call('PUT', `${path}?offset=${offset}`, file)
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
      data.map((sample: { id: string }) => sample.id),
      [id],
    )
  })

  test('a team has at most 5 imports that have not ended', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await team.db.queries.run(sql`
      insert into file_import (team_id, id, user_id, status, received_bytes, created_at)
      select ${team.team}, gen_random_uuid(), ${user}, 'uploading', 1, ${new Date(0)} from generate_series(1, 4)`)
    assert.equal((await upload(team, user, Buffer.from('x'))).status, 202)
    assert.equal((await upload(team, user, Buffer.from('x'))).status, 400)
  })

  test('the imports of a team run one after another', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const [first, second] = [await upload(team, user, Buffer.from('x')), await upload(team, user, Buffer.from('y'))]
    const runner = new ImportRunner({ vault })
    const tx = <R>(work: (tx: Tx) => Promise<R>) => team.db.tx(team.tenant, work)
    const run = ({ body }: typeof first) => runner.handlers.first.run({ tenant: team.tenant, tx }, { import_id: body.id })
    const states = async () =>
      (await team.api.get(`/v2/user/${user}/file_import`)).body.data.map(({ status }: { status: string }) => status)
    await run(second)
    assert.deepEqual(await states(), ['queued', 'queued'])
    await run(first)
    assert.deepEqual(await states(), ['queued', 'failed'])
    await run(second)
    assert.deepEqual(await states(), ['failed', 'failed'])
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

  test('an import that is interrupted between batches continues where it ended and counts nothing twice', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const minutes = Array.from({ length: 12_000 }, (_, i) => new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString())
    const all = minutes.map((minute) =>
      record('HeartRate', 61, 'count/min', `${minute.slice(0, 10)} ${minute.slice(11, 19)} +0000`),
    )
    const { body } = await upload(team, user, Buffer.from(exportXml(...all)))
    const whole = { ms: 300_000, bytes: Infinity }
    const runner = new ImportRunner({ vault, turn_limits: { first: whole, further: whole } })
    let batches = 0
    const context = (fails: boolean) => ({
      tenant: team.tenant,
      tx: <R>(work: (tx: Tx) => Promise<R>) =>
        team.db.tx(team.tenant, async (tx) => {
          const result = await work(tx)
          // The results of a batch: it is rolled back with the transaction.
          if (typeof result === 'object' && result !== null && 'apple_health_kit heartrate' in result && ++batches === 2 && fails)
            throw new Error('the database has gone away')
          return result
        }),
    })
    const state = async () => (await team.api.get(`/v2/user/${user}/file_import/${body.id}`)).body
    await assert.rejects(runner.handlers.first.run(context(true), { import_id: body.id }), /the database has gone away/)
    const between = await state()
    assert.deepEqual([between.status, between.accepted], ['importing', 5000])
    assert(between.progress > 0.3 && between.progress < 1)
    batches = 0
    await runner.handlers.first.run(context(false), { import_id: body.id })
    assert.equal(batches, 2)
    const { status, accepted, created, updated } = await state()
    assert.deepEqual([status, accepted, created, updated], ['completed', 12_000, 12_000, 0])
  })

  test('a job that comes back while its import still runs in this process is queued again', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const { body } = await upload(team, user, Buffer.from(rates(['09:00:00', 61])))
    const runner = new ImportRunner({ vault })
    const tx = <R>(work: (tx: Tx) => Promise<R>) => team.db.tx(team.tenant, work)
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = async <R>(work: (tx: Tx) => Promise<R>) => {
      begun.resolve()
      await held.promise
      return tx(work)
    }
    const first = runner.handlers.first.run({ tenant: team.tenant, tx: holding }, { import_id: body.id })
    await begun.promise
    await runner.handlers.first.run({ tenant: team.tenant, tx }, { import_id: body.id })
    assert.deepEqual(await team.jobs(), ['file_imports.run', 'file_imports.run'])
    held.resolve()
    await first
    assert.equal((await team.api.get(`/v2/user/${user}/file_import/${body.id}`)).body.status, 'completed')
  })

  test('an import that another version of the program began counts stored samples once', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const { body } = await upload(team, user, Buffer.from(rates(['09:00:00', 61], ['09:05:00', 64])))
    const counted = { accepted: 1, created: 1, updated: 0, dropped: 0, already_there: 0, paused: 0, provider: 'apple_health_kit' }
    const results = JSON.stringify({ 'apple_health_kit heartrate': { ...counted, oldest_ms: 0, newest_ms: 0 } })
    await team.db.queries.run(sql`
      update file_import set status = 'importing', reader = '0.0.0-other', batches = 1, results = ${results}::jsonb where team_id = ${team.team}`)
    await team.settle()
    const { status, accepted, created } = (await team.api.get(`/v2/user/${user}/file_import/${body.id}`)).body
    assert.deepEqual([status, accepted, created], ['completed', 2, 2])
  })

  test('an import that makes no progress ends after some attempts, and lets others run', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const { body } = await upload(team, user, Buffer.from(rates(['09:00:00', 61])))
    await team.db.queries.run(sql`update file_import set attempts = 5 where team_id = ${team.team}`)
    await team.settle()
    const shown = (await team.api.get(`/v2/user/${user}/file_import/${body.id}`)).body
    assert.deepEqual([shown.status, shown.error.code], ['failed', 'interrupted'])
    assert.equal(await parts(team), 0)
  })

  test('a process that is about to end leaves an import to others', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const { body } = await upload(team, user, Buffer.from(rates(['09:00:00', 61])))
    const runner = new ImportRunner({ vault })
    await runner.stop()
    const tx = <R>(work: (tx: Tx) => Promise<R>) => team.db.tx(team.tenant, work)
    await runner.handlers.first.run({ tenant: team.tenant, tx }, { import_id: body.id })
    assert.equal((await team.api.get(`/v2/user/${user}/file_import/${body.id}`)).body.status, 'queued')
    assert.deepEqual(await team.jobs(), ['file_imports.run', 'file_imports.run'])
  })

  test('while the connection is paused everything is left out', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await post(team, user, 'heartrate', [])
    await team.db.queries.run(sql`update connection set status = 'paused' where team_id = ${team.team}`)
    const shown = await importFile(team, user, rates(['09:00:00', 61]))
    assert.deepEqual([shown.status, shown.accepted, shown.skipped], ['completed', 0, { paused: { heartrate: 1 } }])
  })
})
