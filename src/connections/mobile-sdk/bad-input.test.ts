// What broken and hostile clients send as health data: documented errors, nothing half-stored, memory bounded.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { sentSample, post, read } from '../../../test/support/samples.ts'
import { url, type TestTeam } from '../../../test/support/server.ts'
import { list } from '../../../test/support/summaries.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

const MB = 1_000_000
const head = '{"stage":"daily","time_zone":"UTC","provider":"apple_health_kit","data":'
const sample = JSON.stringify(sentSample('09:30:00', 61))

/** Sends bytes as they are. The server may close the connection before it has taken all of them. */
async function sendBytes(team: TestTeam, path: string, body: Buffer | ReadableStream, extraHeaders: Record<string, string> = {}) {
  const headers = { 'x-service-api-key': team.key, 'content-type': 'application/json', ...extraHeaders }
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  try {
    return (await fetch(url + path, init)).status
  } catch {
    return 'closed'
  }
}

/** So many bytes of JSON that never ends, made as they are read. */
function endless(bytes: number): { stream: ReadableStream; sentBytes: () => number } {
  const block = Buffer.from(`${sample},`.repeat(500))
  let sent = 0
  const stream = new ReadableStream({
    pull(controller) {
      if (sent === 0) controller.enqueue(Buffer.from(`${head}[`))
      if (sent >= bytes) return controller.close()
      sent += block.length
      controller.enqueue(block)
    },
  })
  return { stream, sentBytes: () => sent }
}
const paths = (user_id: string) => [
  `/v2/timeseries/${user_id}/heartrate`,
  `/v2/timeseries/${user_id}/blood_pressure`,
  ...['activity', 'body', 'profile', 'sleep', 'workouts', 'menstrual_cycle', 'meal', 'electrocardiogram'].map(
    (kind) => `/v2/summary/${kind}/${user_id}`,
  ),
]
async function assertNothingStored(team: TestTeam, user_id: string) {
  assert.deepEqual((await read(team, user_id, 'heartrate')).groups, {})
  assert.deepEqual((await list(team, 'activity', user_id)).activity, [])
  assert.deepEqual((await team.api.get(`/v2/user/providers/${user_id}`)).body.providers, [])
}

describe('a body that is too large', () => {
  test('of 200 MB is refused long before its end', async () => {
    const { team, user_id } = await createTeamWithUser()
    for (const path of paths(user_id).slice(0, 3)) {
      const { stream, sentBytes } = endless(200 * MB)
      assert.ok([413, 'closed'].includes(await sendBytes(team, path, stream)), path)
      // What the sockets hold besides is not the program's.
      assert.ok(sentBytes() < 120 * MB, `${path} took ${sentBytes()} bytes`)
    }
    await assertNothingStored(team, user_id)
  })

  test('of 200 MB that are packed into less than 1 MB is unpacked no further than the limit', async () => {
    const { team, user_id } = await createTeamWithUser()
    const bomb = gzipSync(Buffer.concat([Buffer.from(`${head}[`), Buffer.alloc(200 * MB, ' ')]), { level: 1 })
    assert.ok(bomb.length < MB)
    const before = process.memoryUsage().rss
    for (const path of paths(user_id)) assert.equal(await sendBytes(team, path, bomb, { 'content-encoding': 'gzip' }), 413, path)
    assert.ok(process.memoryUsage().rss - before < 150 * MB, 'it was held in memory')
    await assertNothingStored(team, user_id)
  })

  test('of a million tiny samples is refused whole, however it is packed', async () => {
    const { team, user_id } = await createTeamWithUser()
    const tiny = '{"value":1,"unit":"","start_date":"2026-01-31T09:30:00Z","end_date":"2026-01-31T09:30:00Z"}'
    const million = Buffer.from(`${head}[${Array(1_000_000).fill(tiny).join()}]}`)
    assert.equal(await sendBytes(team, paths(user_id)[0]!, gzipSync(million, { level: 1 }), { 'content-encoding': 'gzip' }), 413)
    // As many as fit into 16 MiB, which are more than a post may have.
    const many = Buffer.from(`${head}[${Array(150_000).fill(tiny).join()}]}`)
    assert.equal(await sendBytes(team, paths(user_id)[0]!, gzipSync(many, { level: 1 }), { 'content-encoding': 'gzip' }), 422)
    await assertNothingStored(team, user_id)
  })
})

describe('a body whose form costs more than its length', () => {
  const ofLength = (text: string, length: number) => text.repeat(Math.floor(length / text.length))
  const names = (count: number) => Array.from({ length: count }, (_, i) => `"n${i}":1`).join()
  const bodies: [what: string, body: string, error: string][] = [
    ['5 million brackets', '['.repeat(5 * MB), 'more than 64 levels'],
    ['5 million brackets within a sample', `${head}[{"metadata":${'['.repeat(5 * MB)}`, 'more than 64 levels'],
    ['objects within objects', `${head}${ofLength('{"a":', 5 * MB)}`, 'more than 64 levels'],
    [
      '100 levels of a field that is not known',
      `${head}[],"more":${'['.repeat(100)}${']'.repeat(100)}${' '.repeat(20_000)}}`,
      'more than 64 levels',
    ],
    [
      'short nests of lists',
      `${head}[${ofLength(`${'['.repeat(50)}${']'.repeat(50)},`, 5 * MB)}1]}`,
      'more than 500000 objects and lists',
    ],
    ['an object of a million fields', `${head}[],${names(MB)}}`, 'more than 100000 different sequences of field names'],
    [
      'metadata of a million fields',
      `${head}[{"metadata":{${names(MB)}}}]}`,
      'more than 100000 different sequences of field names',
    ],
  ]
  for (const [i, [what, body, error]] of bodies.entries())
    test(`${what}: is refused before it is parsed`, async () => {
      const { team, user_id } = await createTeamWithUser()
      // The form is looked at before anything else of the operation: the first body is sent to each kind of data, the others in turn.
      const three = paths(user_id).slice(0, 3)
      for (const path of i === 0 ? three : [three[i % 3]!]) {
        const reply = await fetch(url + path, {
          method: 'POST',
          headers: { 'x-service-api-key': team.key, 'content-type': 'application/json' },
          body,
        })
        assert.equal(reply.status, 422, path)
        const { detail } = (await reply.json()) as { detail: unknown }
        assert.deepEqual(detail, [{ loc: ['body'], msg: 'JSON decode error', type: 'json_invalid', ctx: { error } }])
      }
      await assertNothingStored(team, user_id)
    })
})

describe('invalid values', () => {
  const texts = ['NaN', 'Infinity', '-Infinity', '1e999', '-1e999', 'null', '"61"', 'true', '[]', '{}', '0x1', '1e']
  for (const text of texts)
    test(`${text} is not a valid value of a sample, of a day or of a night`, async () => {
      const { team, user_id } = await createTeamWithUser()
      const bad = sample.replace('"value":61', `"value":${text}`)
      assert.notEqual(bad, sample)
      assert.equal(await sendBytes(team, paths(user_id)[0]!, Buffer.from(`${head}[${bad}]}`)), 422)
      await assertNothingStored(team, user_id)
      const other = await createTeamWithUser()
      const isJson = !['NaN', 'Infinity', '-Infinity', '0x1', '1e'].includes(text)
      const both = await sendBytes(other.team, paths(other.user_id)[0]!, Buffer.from(`${head}[${sample},${bad}]}`))
      assert.equal(both, isJson ? 200 : 422)
      const { groups } = await read(other.team, other.user_id, 'heartrate')
      assert.deepEqual(groups.apple_health_kit?.[0].data.length, isJson ? 1 : undefined)
      // Clients say `null` for what they do not know of a day, and digits are read as a number.
      if (text !== '"61"' && text !== 'null') {
        const day = `{"day_summary":{"calendar_date":"2026-01-31","steps_sum":${text}}}`
        assert.equal(await sendBytes(team, `/v2/summary/activity/${user_id}`, Buffer.from(`${head}[${day}]}`)), 422)
      }
      await assertNothingStored(team, user_id)
    })

  test('impossible values are rejected, and the largest possible ones are read as they are', async () => {
    const { team, user_id } = await createTeamWithUser()
    const values = [Number.MAX_VALUE, 1e308, -61, 0, Number.MIN_VALUE, 401, 400, 1, 61.123456789012]
    const data = values.map((value, i) => sentSample(`09:0${i}:00`, value))
    const { status, body } = await post(team, user_id, 'heartrate', data)
    assert.deepEqual([status, body.accepted, body.created, body.rejected], [200, 3, 3, 6])
    const [group] = (await read(team, user_id, 'heartrate')).groups.apple_health_kit
    assert.deepEqual(
      group.data.map(({ value }: { value: number }) => value),
      [400, 1, 61.123456789012],
    )
  })
})

test('a value in a unit that is not known is rejected, in any form of the post', async () => {
  for (const id of ['', 'é']) {
    const { team, user_id } = await createTeamWithUser()
    const units = ['furlong', 'a fictional text', 'count/min', '', 'mmHg']
    const data = units.map((unit, i) => sentSample(`09:0${i}:00`, 60 + i, { unit, ...(id && { id }) }))
    const { body } = await post(team, user_id, 'heartrate', data)
    assert.deepEqual([body.accepted, body.rejected], [2, 3])
    const [group] = (await read(team, user_id, 'heartrate')).groups.apple_health_kit
    assert.deepEqual(
      group.data.map(({ value, unit }: { value: number; unit: string }) => [value, unit]),
      [62, 63].map((value) => [value, 'bpm']),
    )
  }
})
