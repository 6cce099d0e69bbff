// Results of queries as Parquet files, read with the reader of the same authors, and the archive with `tar`.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { beats, byDay, create, key, MINUTE_S, queryUrl } from '../../../test/support/continuous-queries.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import { url, type TestTeam } from '../../../test/support/server.ts'
import { night, sampleAt, storeSamples, storeSummaries } from '../../../test/support/wearable-data.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

const DAY = '2026-01-31'
const timeframe = { type: 'relative', anchor: DAY, past: { value: 60, unit: 'day' } }
const ARCHIVE = 'application/vnd.vital.tar+gzip+parquet'

/** Sends a request and returns the bytes of the answer. */
async function readResponseBytes(team: TestTeam, path: string, accept: string, body?: object) {
  const headers = { 'x-service-api-key': team.key, 'content-type': 'application/json', accept }
  const answer = await fetch(url + path, { method: body ? 'POST' : 'GET', headers, ...(body && { body: JSON.stringify(body) }) })
  return { status: answer.status, type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** The files of an archive, unpacked by the `tar` of the system. */
function unpackArchive(archive: Buffer): Map<string, Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'parquet-'))
  try {
    writeFileSync(join(folder, 'all.tar.gz'), archive)
    execFileSync('tar', ['-xzf', 'all.tar.gz'], { cwd: folder })
    rmSync(join(folder, 'all.tar.gz'))
    return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const exact = (bytes: Buffer): ArrayBuffer => new Uint8Array(bytes).buffer
const rowsOf = (bytes: Buffer) => parquetReadObjects({ file: exact(bytes) })

describe('results as Parquet', () => {
  test('are an archive with a file for each query, whose columns have types and nulls', async () => {
    const { team, user_id } = await createTeamWithUser()
    await storeSamples(team, user_id, 'heartrate', [sampleAt(`${DAY}T09:00:00`, 60), sampleAt(`${DAY}T10:00:00`, 61)])
    await storeSummaries(team, user_id, 'sleep', [
      night(DAY, { score: 81, efficiency: 91.5 }),
      night('2026-01-30', { score: null }),
    ])
    const ofRates = {
      select: [key, { func: 'mean', arg: beats }, { func: 'count', arg: beats }],
      group_by: [byDay('timeseries')],
    }
    const ofNights = {
      select: ['score', 'efficiency', 'type', 'session_end', 'hrv_mean_sdnn'].map((name) => ({ sleep: name })),
    }
    const ofDays = { select: [{ activity: 'date' }, { activity: 'wheelchair_use' }] }
    const queries = [ofRates, ofNights, ofDays]
    const { status, type, bytes } = await readResponseBytes(team, `/aggregate/v1/user/${user_id}/query`, ARCHIVE, {
      timeframe,
      queries,
    })
    assert.deepEqual([status, type], [200, ARCHIVE])
    const files = unpackArchive(bytes)
    assert.deepEqual([...files.keys()].toSorted(), ['0.parquet', '1.parquet', '2.parquet'])
    assert.deepEqual(await rowsOf(files.get('0.parquet')!), [
      { 'group_key.0': new Date(`${DAY}T00:00:00Z`), 'mean.value': 60.5, 'count.value': 2n },
    ])
    assert.deepEqual(await rowsOf(files.get('1.parquet')!), [
      { score: null, efficiency: null, type: 'long_sleep', session_end: new Date('2026-01-30T06:00:00Z'), hrv_mean_sdnn: null },
      { score: 81n, efficiency: 91.5, type: 'long_sleep', session_end: new Date(`${DAY}T06:00:00Z`), hrv_mean_sdnn: null },
    ])
    assert.deepEqual(await rowsOf(files.get('2.parquet')!), [])
    const { schema } = parquetMetadata(exact(files.get('1.parquet')!))
    assert.deepEqual(
      schema.slice(1).map(({ name, type }) => [name, type]),
      [
        ['score', 'INT64'],
        ['efficiency', 'DOUBLE'],
        ['type', 'BYTE_ARRAY'],
        ['session_end', 'INT64'],
        ['hrv_mean_sdnn', 'DOUBLE'],
      ],
    )
    // Wall times: no reader may move them into its own zone.
    assert.equal((schema[4]!.logical_type as { isAdjustedToUTC: boolean }).isAdjustedToUTC, false)
  })

  test('have the same values as JSON, for 10,000 rows', async () => {
    const { team, user_id } = await createTeamWithUser()
    const samples = Array.from({ length: 10_000 }, (_, i) =>
      sampleAt(`${DAY}T00:00:00`, i / 7, { at_ms: Date.parse(`${DAY}T00:00:00Z`) + i * 1000 }),
    )
    await storeSamples(team, user_id, 'heartrate', samples)
    const body = { timeframe, queries: [{ select: [beats, { index: 'timeseries' }] }] }
    const path = `/aggregate/v1/user/${user_id}/query`
    const [{ table }] = (await team.api.post(path, body)).body.results
    const rows = await rowsOf(unpackArchive((await readResponseBytes(team, path, ARCHIVE, body)).bytes).get('0.parquet')!)
    assert.deepEqual(
      rows.map(({ value }) => value),
      table.value,
    )
    assert.deepEqual(
      rows.map(({ timestamp }) => (timestamp as Date).toISOString().slice(0, 19)),
      table.timestamp,
    )
  })

  test('are chosen by the preference in `Accept`', async () => {
    const { team, user_id } = await createTeamWithUser()
    const body = { timeframe, queries: [{ select: [{ func: 'count', arg: beats }] }] }
    const typeOf = async (accept: string) => {
      const { status, type } = await readResponseBytes(team, `/aggregate/v1/user/${user_id}/query`, accept, body)
      return status === 200 ? type!.split(';')[0] : status
    }
    for (const accept of [
      ARCHIVE,
      `text/html, ${ARCHIVE}`,
      `application/json;q=0.5, ${ARCHIVE}`,
      `application/json;q=0, ${ARCHIVE}`,
    ])
      assert.equal(await typeOf(accept), ARCHIVE, accept)
    for (const accept of ['*/*', 'application/json', `${ARCHIVE};q=0.1, */*`, 'text/html, application/*;q=0.5'])
      assert.equal(await typeOf(accept), 'application/json', accept)
    for (const accept of ['text/html', 'application/vnd.apache.parquet', `${ARCHIVE};q=0`])
      assert.equal(await typeOf(accept), 406)
  })

  test('of a continuous query are one file', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { id } = await create(team, { select: [key, { func: 'max', arg: beats }], group_by: [byDay('timeseries')] })
    const path = queryUrl(user_id, id, 'result_table')
    const accept = 'application/vnd.apache.parquet'
    const empty = await readResponseBytes(team, path, accept)
    assert.deepEqual([empty.status, empty.type, await rowsOf(empty.bytes)], [200, accept, []])
    await storeSamples(team, user_id, 'heartrate', [sampleAt(`${DAY}T09:00:00`, 60), sampleAt(`${DAY}T10:00:00`, 64.5)])
    await advanceClock(team, MINUTE_S)
    assert.deepEqual(await rowsOf((await readResponseBytes(team, path, accept)).bytes), [
      { 'group_key.0': new Date(`${DAY}T00:00:00Z`), 'max.value': 64.5 },
    ])
  })
})
