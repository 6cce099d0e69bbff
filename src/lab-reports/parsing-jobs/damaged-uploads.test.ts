// Damaged files through the whole server: each is refused with a documented status, or its job ends with its events, and nothing is left.
// DAMAGED_UPLOADS=2000 sends more of them, MUTATIONS_SEED=5 those of another seed. The threads alone get the same files and many more in
// reading/mutations.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { damagedFile, originals, randomOf } from '../../../test/support/damaged-files.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { glucoseReport, parseUpload, uploadReport } from '../../../test/support/uploaded-reports.ts'

const COUNT = Number(process.env.DAMAGED_UPLOADS ?? 30)
const SEED = Number(process.env.MUTATIONS_SEED ?? 1)
/** A sandbox team has 300 reports at most. */
const OF_TEAM = 30
/** Refused before a job exists. */
const REFUSED = [
  'The file must be a PDF, a JPEG or a PNG',
  'The file is empty',
  'The file is not of the type that it was sent as',
  'The PDF is damaged or cannot be read',
  'The PDF is encrypted',
  'The PDF has no pages',
  'The PDF has more than 30 pages',
  'The image cannot be decoded',
]

const Ended = T.Object({ id: T.String(), status: T.String(), failure_reason: T.Unsafe<string | null>({}), events: T.Integer() })

test(`${COUNT} damaged uploads of seed ${SEED} are refused, or their jobs end once`, async (t) => {
  const random = randomOf(SEED)
  const files = await originals()
  const counts = new Map<string, number>()
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  const finish = async (team: TestTeam, ids: string[]) => {
    await team.settle()
    const ended = await team.db.queries.many(
      Ended,
      sql`
      select j.id, j.status, j.failure_reason,
        (select count(*) from event e where e.team_id = j.team_id and e.object_id = j.id) as events
      from parsing_job j where j.team_id = ${team.team}`,
    )
    assert.deepEqual(ended.map(({ id }) => id).toSorted(), ids.toSorted())
    for (const { id, status, failure_reason, events } of ended) {
      assert(status === 'completed' || (status === 'failed' && failure_reason !== null), `${id} ${status}`)
      assert.equal(events, 2, id)
      count(failure_reason ?? status)
    }
  }
  let team = await createTestTeam()
  let user_id = await team.user()
  let ids: string[] = []
  for (let number = 0; number < COUNT; number++) {
    const which = `upload ${number} of seed ${SEED}`
    const { bytes, type } = damagedFile(files, number, random)
    const { status, body } = await uploadReport(team, [{ bytes, type: number % 2 ? 'application/octet-stream' : type }], {
      user_id,
    })
    if (status === 200) ids.push(body.id as string)
    else {
      assert.equal(status, 400, which)
      assert(REFUSED.includes(body.detail as string), `${which}: ${body.detail}`)
      count('refused')
    }
    if ((number + 1) % OF_TEAM && number + 1 < COUNT) continue
    await finish(team, ids)
    if (number + 1 < COUNT) [team, ids] = [await createTestTeam(), []]
    user_id = await team.user()
  }
  assert.equal((await parseUpload(team, user_id, { bytes: await glucoseReport() })).status, 'completed')
  t.diagnostic([...counts].map(([name, n]) => `${name} ${n}`).join(', '))
  for (const name of ['refused', 'completed']) assert((counts.get(name) ?? 0) > COUNT / 100, name)
})
