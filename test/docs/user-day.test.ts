// The bytes of a user's day in docs/SCALING.md are those that the tables grow by when such a day is posted and delivered to an endpoint.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { access, asOwner, createTestTeam, type TestTeam } from '../support/server.ts'
import {
  growth,
  HOURS,
  measureTables,
  NOT_OF_USERS,
  samplePosts,
  summaryPosts,
  sumOf,
  vacuumTables,
  type PhonePost,
} from '../support/user-day.ts'
import { delivering, endpoint, receiver } from '../support/webhook-receiver.ts'

const USERS = Number(process.env.USER_DAY_USERS ?? 6)
const CLIENTS = 8
/** What is posted in these hours is delivered together. */
const DELIVERY_HOURS = 4
const DIFFERENCE_MAX = 0.2
/** A table with more than this part of all bytes has a row of its own on the page. */
const LARGE = 0.03

async function send({ api }: TestTeam, posts: PhonePost[]): Promise<void> {
  const sendNext = async () => {
    for (let post = posts.pop(); post; post = posts.pop()) {
      const { status, body } = await api.post(post.path, post.body)
      assert.equal(status, 200, JSON.stringify(body))
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, sendNext))
}

const page = readFileSync('docs/SCALING.md', 'utf8')
const numberOf = (text: string) => Number(text.replaceAll(',', ''))

/** The table of the page: the bytes of a day by table, the days for which they stay, and the sum of the bytes. */
function documentedDay(): { tables: Map<string, number>; days: Map<string, number>; sum: number } {
  const rows = [...page.matchAll(/^\| (`\w+`|others) +\| +([\d,]+) \| +(\d*) *\|/gm)].map(([, name, bytes, days]) => ({
    name: name!.replaceAll('`', ''),
    bytes: numberOf(bytes!),
    days: days!,
  }))
  const sum = /^\| all +\| +([\d,]+) \|/m.exec(page)
  assert(rows.length > 0 && sum, 'docs/SCALING.md has a table of bytes')
  return {
    tables: new Map(rows.map(({ name, bytes }) => [name, bytes])),
    days: new Map(rows.flatMap(({ name, days }) => (days ? [[name, Number(days)] as const] : []))),
    sum: numberOf(sum[1]!),
  }
}

const isNear = (bytes: number, bytesOfPage: number) => Math.abs(bytes - bytesOfPage) <= DIFFERENCE_MAX * bytesOfPage

test("a user's day takes the bytes that docs/SCALING.md says, in all tables together and in each large one", async (t) => {
  const team = await createTestTeam()
  const delivery = delivering({ attempt_ms_max: 10_000 })
  const target = await receiver()
  await endpoint(team, { url: target.url })
  const users = await Promise.all(Array.from({ length: USERS }, () => team.user()))
  const documented = documentedDay()
  const isOther = (name: string) => !documented.tables.has(name) && !NOT_OF_USERS.has(name)
  const query = (text: string) => asOwner<{ name: string; bytes: number }>(text)
  const measure = async () => {
    await delivery.drain()
    await access.flush()
    return measureTables(query, 'sandbox_us')
  }
  // What a user has from the first hour on: series, and states of resources.
  await send(
    team,
    users.flatMap((user) => [...samplePosts(user, HOURS - 1), ...summaryPosts(user, 0)]),
  )
  const before = await measure()
  const deliveredBefore = target.received.length
  for (let hour = HOURS; hour < 2 * HOURS; hour++) {
    await send(
      team,
      users.flatMap((user) => samplePosts(user, hour)),
    )
    if (hour % DELIVERY_HOURS === 0) await delivery.drain()
    // While any transaction of the server is open, also in the database of another test, old versions of rows stay until a vacuum.
    await vacuumTables(query, 'sandbox_us')
  }
  await send(
    team,
    users.flatMap((user) => summaryPosts(user, 1)),
  )
  const day = growth(before, await measure(), USERS)
  for (const [name, bytes] of day) t.diagnostic(`${name.padEnd(24)} ${Math.round(bytes)} bytes`)
  assert(target.received.length - deliveredBefore >= USERS * 264, 'each post is delivered')

  const measuredSum = sumOf(day)
  t.diagnostic(`${'all'.padEnd(24)} ${Math.round(measuredSum)} bytes`)
  assert(isNear(measuredSum, documented.sum), `all tables: ${measuredSum} bytes, documented: ${documented.sum}`)
  assert(isNear(sumOf(documented.tables), documented.sum), 'the rows of the page add up to its sum')
  const large = [...day].filter(([name, bytes]) => bytes > LARGE * measuredSum && !NOT_OF_USERS.has(name))
  assert(large.length >= 4)
  for (const [name, bytes] of large) {
    const onPage = documented.tables.get(name)
    assert(onPage !== undefined && isNear(bytes, onPage), `${name}: ${bytes} bytes, documented: ${onPage}`)
  }
  const others = new Map([...day].filter(([name]) => isOther(name)))
  const otherBytes = [...others].map(([name, bytes]) => `${name} ${Math.round(bytes)}`).join(', ')
  assert(
    sumOf(others) <= LARGE * measuredSum,
    `tables without a row on the page are small together, at most ${Math.round(LARGE * measuredSum)} bytes: ${otherBytes}`,
  )
})

/** As the page says: the posts of a user's day, the part of them in the busiest hours, and the terabytes of a node. */
const POSTS = 268
const BUSY_S = 6 * 3600
const NODE_TB = 4
const ROUNDING = 0.02

test('the installations in docs/SCALING.md are computed from the bytes, row versions and log that it says', () => {
  const { tables, days, sum } = documentedDay()
  const bytesOfUser = (healthDays: number) =>
    [...tables].reduce((bytes, [name, ofDay]) => bytes + ofDay * (days.get(name) ?? healthDays), 0)
  const [year, quarter] = [bytesOfUser(365), bytesOfUser(90)]
  const versions = numberOf(/([\d,]+) row versions, and/.exec(page)![1]!)
  const log = numberOf(/and ([\d,]+) kB of WAL/.exec(page)![1]!) * 1000
  const rows = [...page.matchAll(/^- ([\d,]+) users: (.*)$/gm)]
  assert.equal(rows.length, 3)
  for (const [, count, text] of rows) {
    const users = numberOf(count!)
    const posts = (users * POSTS) / 2 / BUSY_S
    const [yearTb, quarterTb] = [(users * year) / 1e12, (users * quarter) / 1e12]
    const expected = [(users * sum) / 1e9, posts, posts * versions, (posts * log) / 1e6, yearTb]
    const figures = [...text!.replace('90 days', '').matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([figure]) => numberOf(figure))
    const isRounded = (figure: number, value: number) => Math.abs(figure - value) <= ROUNDING * value
    const [gb, postsShown, versionsShown, logShown, yearShown, nodes, quarterShown, quarterNodes] = figures as number[]
    for (const [i, figure] of [gb!, postsShown!, versionsShown!, logShown!, yearShown!].entries())
      assert(isRounded(figure, expected[i]!), `${users} users: ${figure} on the page, computed ${expected[i]}`)
    assert(isRounded(quarterShown!, quarterTb), `${users} users with 90 days: ${quarterShown}, computed ${quarterTb}`)
    assert.deepEqual([nodes, quarterNodes], [Math.ceil(yearTb / NODE_TB), Math.ceil(quarterTb / NODE_TB)])
  }
  const [, whole, limited] = /room for ([\d,]+) such users.*? for ([\d,]+) with/s.exec(page)!
  assert(Math.abs(numberOf(whole!) - (NODE_TB * 1e12) / year) < 1000)
  assert(Math.abs(numberOf(limited!) - (NODE_TB * 1e12) / quarter) < 1000)
})
