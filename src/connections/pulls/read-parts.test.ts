// Long answers of vendors: read in a thread, with the same outcome as short ones, and within limits.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OuraPeer } from '../../../test/support/vendors/oura.ts'
import { agree, daysAgo, run, useVendorServer, teamAt } from '../../../test/support/vendors/connected.ts'
import { assertFailure, plainHttp, REDIRECT, listSamples } from '../../../test/support/vendors/vendor-server.ts'
import { VendorError, type Pulled, type VendorHttp } from '../connectors/connector.ts'
import { oura } from '../connectors/oura/oura.ts'
import { AnswerTooLong } from '../connectors/vendor-http.ts'
import { AnswerReader } from './read-parts.ts'

const peer = await new OuraPeer().start()
peer.now_ms = Date.now()
before(() => useVendorServer('oura', peer))
const reader = new AnswerReader()
after(() => reader.stop())

const DAY_MS = 86_400_000
const from_ms = Date.parse(`${daysAgo(1)}T00:00:00Z`)
let accounts = 0

/** A user with a heart rate every second. */
async function user(rates: number) {
  const account = `long-${++accounts}`
  const rows = Array.from({ length: rates }, (_, i) => ({
    timestamp: new Date(from_ms + i * 1000).toISOString(),
    timestamp_unix: from_ms + i * 1000,
    bpm: 60 + (i % 40),
    source: 'awake',
  }))
  peer.heartRates.set(account, rows)
  const code = peer.grants.agree(account, [...oura.scopes], REDIRECT)
  const asked = { code, redirect_uri: REDIRECT, code_verifier: '', now_ms: peer.now_ms }
  const { access_token } = await oura.exchange(plainHttp, peer.app(), asked)
  return { account, access_token }
}

/** As the client of vendors, which refuses longer answers. */
const limited =
  (http: VendorHttp) =>
  (bytes_max: number): VendorHttp =>
  async (request) => {
    const answer = await http(request)
    if (answer.text.length > bytes_max) throw new AnswerTooLong()
    return answer
  }

async function read(
  access_token: string,
  http: VendorHttp = plainHttp,
  store?: (part: Pulled) => Promise<void>,
): Promise<Pulled[]> {
  const parts: Pulled[] = []
  const request = { resource: 'heartrate' as const, from_ms, to_ms: from_ms + DAY_MS, time_zone: null }
  await reader.read(
    { team: 'a team', connector: oura, app: peer.app(), access_token, request },
    limited(http),
    store ?? (async (part) => void parts.push(part)),
  )
  return parts
}

describe('a long answer', () => {
  test('yields the same samples as short ones, also after answers that were read before', async () => {
    const { access_token } = await user(20_000)
    peer.page = 500
    const short = listSamples(await read(access_token), 'heartrate')
    peer.page = 20_000
    const long = listSamples(await read(access_token), 'heartrate')
    assert.equal(short.length, 20_000)
    assert.deepEqual(long, short)
  })

  test('ends like a short one after a late refusal of the vendor, a value that cannot be stored, or a lost connection', async () => {
    const { access_token } = await user(20_000)
    peer.page = 10_000
    for (const [failure, answer] of [
      ['rate_limited', 429],
      ['invalid_grant', 401],
      ['unavailable', 503],
      ['unexpected', 418],
    ] as const) {
      let answers = 0
      const http: VendorHttp = async (request) =>
        answers++ > 1 ? { status: answer, headers: new Headers({ 'retry-after': '7' }), text: '{}' } : plainHttp(request)
      await assertFailure(read(access_token, http), failure, answer === 429 || answer === 503 ? 7000 : null)
    }
    let answers = 0
    const lost: VendorHttp = async (request) => {
      if (answers++ > 1) throw new VendorError('unavailable')
      return plainHttp(request)
    }
    await assertFailure(read(access_token, lost), 'unavailable')
    const full = new Error('the disk is full')
    await assert.rejects(
      read(access_token, plainHttp, async () => {
        throw full
      }),
      full,
    )
    assert.equal(listSamples(await read(access_token), 'heartrate').length, 20_000)
  })

  test('is unexpected with too many levels, objects, values or names, and no other pull suffers', async () => {
    const { access_token } = await user(10)
    peer.page = 20
    for (const data of [
      '['.repeat(9_000_000) + ']'.repeat(9_000_000),
      `[${'{},'.repeat(600_000)}{}]`,
      `[${'0,'.repeat(2_100_000)}0]`,
      `[{${Array.from({ length: 200_000 }, (_, i) => `"n${i}":0`).join()}}]`,
    ]) {
      const http: VendorHttp = async () => ({ status: 200, headers: new Headers(), text: `{"data":${data}}` })
      await assertFailure(read(access_token, http), 'unexpected')
      assert.equal(listSamples(await read(access_token), 'heartrate').length, 10)
    }
  })

  test('is stored whole by the job of a pull', async () => {
    const team = await teamAt('oura')
    const user_id = await team.user()
    const { account } = await user(15_000)
    peer.page = 15_000
    await agree(team, 'oura', peer, user_id, account, 2)
    await run(team)
    const { groups } = (await team.api.get(`/v2/timeseries/${user_id}/heartrate/grouped?start_date=${daysAgo(1)}`)).body
    assert(groups.oura[0].data.length > 0)
    const { rows } = await team.db.pool.query(`select result from provider_pull where team_id = $1 and resource = 'heartrate'`, [
      team.team,
    ])
    assert.deepEqual(rows, [{ result: 'data' }])
    peer.page = 20
  })
})
