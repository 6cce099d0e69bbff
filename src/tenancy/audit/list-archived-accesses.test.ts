// The operation that reads the access log of a patient, over the days that are in files.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, test } from 'node:test'
import { accessRow, appendDay, dayAgo, emptyLog } from '../../../test/support/access-days.ts'
import { storedFiles } from '../../../test/support/report-files.ts'
import { access, asOwner, cells, createTestTeam, settings, type TestTeam } from '../../../test/support/server.ts'
import { userKey } from '../../platform/access-log/log-days.ts'
import { DayArchiver } from '../../platform/access-log/archive-days.ts'

const db = cells.db('production-eu')
const [user, object] = [randomUUID(), randomUUID()]
let team: TestTeam

/** The requests of a user's lines, page by page. */
async function listPages(query = '', reader = team, user_id: string = user): Promise<string[][]> {
  await access.flush()
  const pages: string[][] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body } = await reader.manage.get(
      `/team/${reader.team}/production/access_log?user_id=${user_id}${query}${cursor && `&next_cursor=${cursor}`}`,
    )
    assert.equal(status, 200, JSON.stringify(body))
    const lines = body.data as { request_id: string; operation: string }[]
    pages.push(lines.filter(({ operation }) => operation !== 'list_user_access').map(({ request_id }) => request_id))
    cursor = body.next_cursor
    assert(pages.length < 300)
  }
  return pages
}
const archiveAll = async (file_bytes: number): Promise<void> => {
  const archiver = new DayArchiver(storedFiles, { file_bytes })
  while ((await archiver.overdueFor(db)) !== undefined) await archiver.remove(db, cells.control, () => false)
}
const pathOf = async (first_seq: number): Promise<string> => {
  const { rows } = await db.pool.query(`select set_id, name from production_eu.access_archive where first_seq = $1`, [first_seq])
  return join(settings.report_folder, rows[0].set_id, rows[0].name)
}

beforeEach(async () => {
  team = await createTestTeam('production-eu')
  await access.flush()
  await emptyLog(db, { database_days: 30 })
  for (const days of [50, 45, 40])
    await appendDay(
      db,
      dayAgo(days),
      Array.from({ length: 20 }, (_, i) =>
        accessRow({
          user: i % 4 === 3 ? user : randomUUID(),
          team: i === 7 ? randomUUID() : team.team,
          request: `fictional-${days}-${i < 10 ? '0' : ''}${i}`,
          ...(i === 11 && { object }),
        }),
      ),
    )
  await appendDay(db, dayAgo(0), [accessRow({ user, team: team.team, request: 'fictional-now' })])
})

/** Newest first. The eighth line of each day is one of another team. */
const expected = [
  'fictional-now',
  ...[40, 45, 50].flatMap((days) => ['19', '15', '11', '03'].map((index) => `fictional-${days}-${index}`)),
]

test('the access log of a user continues in files, with pages of any length and without gaps', async () => {
  assert.deepEqual((await listPages()).flat(), expected)
  for (const file_bytes of [1000, 1_000_000]) {
    await archiveAll(file_bytes)
    for (const limit of [1, 5, 250]) assert.deepEqual((await listPages(`&limit=${limit}`)).flat(), expected, `pages of ${limit}`)
    assert.deepEqual(
      (await listPages(`&object_id=${object}`)).flat(),
      [40, 45, 50].map((days) => `fictional-${days}-11`),
    )
    assert.deepEqual((await listPages(`&limit=2`, team, user.toUpperCase())).flat(), expected)
  }
})

test('the lines keep their order if a day in the middle cannot be archived', async () => {
  await asOwner(`update production_eu.access_log set hash = sha256(hash) where seq = 30`)
  await assert.rejects(archiveAll(1000), /the day is not archived: line 30/)
  await asOwner(`update production_eu.access_archive_lease set leased_until = now()`)
  const archiver = new DayArchiver(storedFiles, { file_bytes: 1000 })
  await assert.rejects(
    archiver.remove(db, cells.control, () => false),
    /line 30/,
  )
  await asOwner(`update production_eu.access_archive_lease set leased_until = now()`)
  while (await archiver.remove(db, cells.control, () => false));
  const { rows } = await db.pool.query('select distinct day::text from production_eu.access_archive order by 1')
  assert.deepEqual(
    rows.map(({ day }) => day),
    [dayAgo(50), dayAgo(45), dayAgo(40)],
  )
  for (const limit of [2, 5, 250]) assert.deepEqual((await listPages(`&limit=${limit}`)).flat(), expected)
})

test('a list that is read while days are archived has each line once', async () => {
  let isArchived = false
  const reads = async () => {
    while (!isArchived) assert.deepEqual((await listPages('&limit=4')).flat(), expected)
  }
  await Promise.all([archiveAll(500).finally(() => (isArchived = true)), reads(), reads()])
})

test('a page that has read enough files leads on to the others', async () => {
  await archiveAll(1)
  // Each file has one line, and a page reads sixteen of them; of each other line, the user is named only by the list of users of its file.
  await asOwner(`update production_eu.access_archive set user_keys = array[$1::integer]`, [userKey(user)])
  const pages = await listPages()
  assert.deepEqual(pages.flat(), expected)
  assert(pages.length >= 4, `${pages.length} pages`)
})

test('a team sees no line of another team about the same id', async () => {
  await archiveAll(1_000_000)
  const other = await createTestTeam('production-eu')
  assert.deepEqual((await listPages('', other)).flat(), [])
})

test('an access log that cannot be read whole is not shown as whole', async () => {
  await archiveAll(1_000_000)
  await rm(await pathOf(21))
  const path = `/team/${team.team}/production/access_log?user_id=${user}`
  const { status, body } = await team.manage.get(path)
  assert.deepEqual(
    [status, body.detail],
    [503, `The access log of ${dayAgo(45)} is damaged: the operator checks it with "access-log verify"`],
  )
  // What is newer can be read.
  assert.equal((await team.manage.get(`${path}&limit=3`)).status, 200)
})
