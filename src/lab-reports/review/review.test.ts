// Reviews of reports through HTTP: what people see, correct, approve and let fail.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCanvas, loadImage } from '@napi-rs/canvas'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { glucoseReport, parseUpload, readJob, uploadReport } from '../../../test/support/uploaded-reports.ts'
import { readExample, waitingReport } from '../../../test/support/waiting-reports.ts'
import { command } from '../../../test/support/commands.ts'
import { storedFiles } from '../../../test/support/report-files.ts'
import { cells, createTestTeam, expire, guard, type TestTeam } from '../../../test/support/server.ts'
import { deleteFilesAfter } from '../../platform/stored-files/stored-files.ts'
import { claimJob, endJob, eraseJobs } from '../parsing-jobs/parsing-jobs.ts'
import { CORRECTIONS_MAX } from './schema.ts'

const REVIEW = '/lab_report/v1/review'
const inManagement = ({ team }: TestTeam) => `/team/${team}/sandbox/lab_report_review`
const Count = T.Object({ n: T.Integer() })
const updatedEvents = async ({ api }: TestTeam) =>
  ((await api.get('/v1/events?limit=50')).body.data as { body: { event_type: string; data: Record<string, unknown> } }[])
    .map(({ body }) => body)
    .filter(({ event_type }) => event_type === 'lab_report.parsing_job.updated')
    .toReversed()

async function createWaitingReport() {
  const team = await createTestTeam()
  const user_id = await team.user()
  const id = await waitingReport(team, user_id)
  const correct = (body: unknown) => team.api.post(`${REVIEW}/${id}/correct`, body)
  return { team, user_id, id, correct, own: `${REVIEW}/${id}` }
}

describe('a report that waits for a person', () => {
  test('is listed oldest first, page by page, with the key of the team and in the Management API', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const ids = [await waitingReport(team, user_id), await waitingReport(team, user_id), await waitingReport(team, user_id)]
    for (const get of [
      (query: string) => team.api.get(REVIEW + query),
      (query: string) => team.manage.get(inManagement(team) + query),
    ]) {
      const first = (await get('?limit=2')).body
      const second = (await get(`?limit=2&next_cursor=${first.next_cursor}`)).body
      const found = [...first.data, ...second.data] as { job_id: string }[]
      assert.deepEqual(
        found.map(({ job_id }) => job_id),
        ids,
      )
      assert.equal(second.next_cursor, null)
      assert.deepEqual(
        { ...found[0], created_at: '' },
        { job_id: ids[0], user_id, version: 0, page_count: 1, result_count: 2, created_at: '' },
      )
    }
  })

  test('is shown with the places of its results, findings, comments and candidates', async () => {
    const { team, user_id, id, own } = await createWaitingReport()
    const { body } = await team.api.get(own)
    assert.deepEqual(
      [body.job_id, body.user_id, body.status, body.version, body.page_count, body.has_pictures, body.pages, body.corrections],
      [id, user_id, 'pending_review', 0, 1, true, readExample.pages, []],
    )
    const [glucose, sodium] = body.results
    const { place } = readExample.results[0]!
    assert.deepEqual(
      [glucose.result_id, glucose.result.value, glucose.as_read, glucose.is_added, glucose.is_removed],
      [1, '95', null, false, false],
    )
    assert.deepEqual([glucose.place, glucose.confidence], [{ page: 1, row: place.row, value: place.value }, 0.9])
    assert.equal(glucose.result.loinc_matches[0].loinc_code, '2345-7')
    assert.deepEqual([body.metadata_places.lab_name, body.metadata_places.dob], [readExample.metadata_places!.lab_name, null])
    assert.deepEqual(
      sodium.findings.map(({ kind }: { kind: string }) => kind),
      ['outside_human_limits'],
    )
    assert.deepEqual([glucose.comments, sodium.comments], [[], ['Repeated.']])
    const printed = ({ specimen, method, date, unit_ucum }: Record<string, string | null>) => [specimen, method, date, unit_ucum]
    assert.deepEqual(
      [printed(glucose), printed(sodium)],
      [
        [null, null, null, null],
        ['Serum', 'ISE', '2026-01-22', 'mmol/L'],
      ],
    )
    assert.equal(body.decision, null)
    assert.deepEqual((await team.manage.get(`${inManagement(team)}/${id}`)).body, body)
  })

  test('is not found with the key of another team, and neither is a report that waits for no review', async () => {
    const { own } = await createWaitingReport()
    const other = await createTestTeam()
    for (const path of ['', '/page/1']) assert.equal((await other.api.get(own + path)).status, 404)
    for (const action of ['correct', 'approve', 'fail'])
      assert.equal((await other.api.post(`${own}/${action}`, { version: 0, failure_reason: 'low_quality' })).status, 404)
    const { id } = await parseUpload(other, await other.user(), { bytes: await glucoseReport() })
    assert.equal((await other.api.get(`${REVIEW}/${id}`)).status, 404)
    assert.equal((await other.api.get(`${REVIEW}/${id}/page/1`)).status, 404)
  })
})

describe('a correction', () => {
  test('is stored in addition to the read value, with its key, and approval applies all corrections', async () => {
    const { team, id, own, correct } = await createWaitingReport()
    const first = await correct({
      version: 0,
      metadata: { patient_first_name: 'Fictional', gender: 'female', dob: '1980-01-22' },
      changed: [{ result_id: 2, value: '140' }],
      added: [{ test_name: 'Potassium', value: '4.1', units: 'mmol/L', min_reference_range: 3.5, max_reference_range: 5.1 }],
    })
    assert.equal(first.status, 200, JSON.stringify(first.body))
    const [, sodium, potassium] = first.body.results
    assert.deepEqual(
      [sodium.result.value, sodium.result.interpretation, sodium.result.is_above_max_range, sodium.as_read.value],
      ['140', 'normal', false, '1400'],
    )
    assert.deepEqual(
      [potassium.result_id, potassium.is_added, potassium.result.type, potassium.result.interpretation, potassium.place],
      [3, true, 'numeric', 'normal', null],
    )
    assert.deepEqual([first.body.metadata.gender, first.body.metadata_as_read.gender], ['female', 'other'])
    const second = await team.manage.post(`${inManagement(team)}/${id}/correct`, {
      version: 1,
      changed: [{ result_id: 3, loinc_code: '2823-3' }],
      removed: [1],
    })
    assert.equal(second.status, 200, JSON.stringify(second.body))
    assert.equal(second.body.results[2].result.loinc_matches[0].confidence_score, 1)
    const key = (await team.api.get(own)).body.corrections.map(({ key_id }: { key_id: string }) => key_id)
    assert.deepEqual([new Set(key).size, key[0] === key[1], key[3] === key[4], key.length], [2, true, true, 5])
    const approved = await team.api.post(`${own}/approve`, { version: 2 })
    assert.deepEqual([approved.status, approved.body.status, approved.body.is_reviewed], [200, 'completed', true])
    const results = approved.body.data.results as Record<string, unknown>[]
    assert.deepEqual(
      results.map(({ test_name, value }) => [test_name, value]),
      [
        ['Sodium', '140'],
        ['Potassium', '4.1'],
      ],
    )
    assert.equal(approved.body.data.metadata.patient_first_name, 'Fictional')
    assert.deepEqual(await readJob(team, id), approved.body)
    const events = await updatedEvents(team)
    assert.deepEqual(
      events.map(({ data }) => data.status),
      ['pending_review', 'completed'],
    )
    assert.deepEqual(events[1]!.data, approved.body)
    const Extracted = T.Object({ extracted: T.Unsafe<unknown>({}) })
    const { extracted } = await team.db.queries.one(
      Extracted,
      sql`select extracted from parsing_job where team_id = ${team.team} and id = ${id}`,
    )
    assert.deepEqual(extracted, readExample)
    const after = (await team.api.get(own)).body
    assert.deepEqual([after.status, after.corrections.length, after.results[0].is_removed], ['completed', 5, true])
    assert.deepEqual(after.decision, { key_id: key[0], created_at: after.updated_at })
    assert.deepEqual((await team.api.get(REVIEW)).body.data, [])
  })

  test('at an earlier version is refused, so that no reviewer overwrites the work of another', async () => {
    const { team, own, correct } = await createWaitingReport()
    const bodies = ['96', '97'].map((value) => ({ version: 0, changed: [{ result_id: 1, value }] }))
    const replies = await Promise.all(bodies.map(correct))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 409])
    const { results, corrections, version } = (await team.api.get(own)).body
    const winner = replies.findIndex(({ status }) => status === 200)
    assert.deepEqual([results[0].result.value, corrections.length, version], [['96', '97'][winner], 1, 1])
    assert.equal((await team.api.post(`${own}/approve`, { version: 0 })).status, 409)
    assert.equal((await team.api.post(`${own}/fail`, { version: 0, failure_reason: 'low_quality' })).status, 409)
  })

  test('of a name makes a certain match ask for review, and a corrected value counts before a derived one', async () => {
    const { correct } = await createWaitingReport()
    const { body } = await correct({
      version: 0,
      changed: [{ result_id: 1, test_name: 'Glucose, fasting', value: '105', interpretation: 'critical' }],
    })
    const { result } = body.results[0]
    assert.deepEqual(
      [result.loinc_match_status, result.interpretation, result.is_above_max_range],
      ['needs_review', 'critical', false],
    )
  })

  test('that cannot be is refused and changes nothing', async () => {
    const { team, own, correct } = await createWaitingReport()
    const refused: [what: string, body: object][] = [
      ['nothing', {}],
      ['an empty list', { changed: [] }],
      ['an unknown result', { changed: [{ result_id: 3, value: '1' }] }],
      [
        'a result twice',
        {
          changed: [
            { result_id: 1, value: '1' },
            { result_id: 1, value: '2' },
          ],
        },
      ],
      ['a result that is changed and removed', { changed: [{ result_id: 1, value: '1' }], removed: [1] }],
      ['a range upside down', { changed: [{ result_id: 1, min_reference_range: 100 }] }],
      ['an unknown code', { changed: [{ result_id: 1, loinc_code: '99999-9' }] }],
      ['a long name', { changed: [{ result_id: 1, test_name: 'a'.repeat(301) }] }],
      ['an empty value', { added: [{ test_name: 'Potassium', value: '' }] }],
      ['a result without value', { added: [{ test_name: 'Potassium' }] }],
      ['a kind that there is not', { changed: [{ result_id: 1, interpretation: 'good' }] }],
      ['too many results', { added: Array.from({ length: 201 }, () => ({ test_name: 'Potassium', value: '4' })) }],
    ]
    for (const [what, body] of refused) assert.equal((await correct({ version: 0, ...body })).status, 422, what)
    const { version, corrections } = (await team.api.get(own)).body
    assert.deepEqual([version, corrections], [0, []])
  })

  test('is one of a limited number', async () => {
    const { team, id, correct } = await createWaitingReport()
    await team.db.queries.run(sql`
      insert into parsing_job_correction (team_id, job_id, number, action, result_id, fields, key_id, created_at)
      select ${team.team}, ${id}, n, 'change_result', 1, '{"value": "1"}', 'key', now() from generate_series(1, ${CORRECTIONS_MAX - 1}::integer) n`)
    assert.equal((await correct({ version: 0, changed: [{ result_id: 1, value: '2' }] })).status, 200)
    const { status, body } = await correct({ version: 1, changed: [{ result_id: 1, value: '3' }] })
    assert.deepEqual([status, body], [400, { detail: 'A report has at most 2000 corrections' }])
  })

  test('goes with the user', async () => {
    const { team, user_id, own, correct } = await createWaitingReport()
    await correct({ version: 0, removed: [1] })
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await team.api.get(own)).status, 404)
    assert.equal((await correct({ version: 1, removed: [2] })).status, 404)
    await team.db.tx(team.tenant, (tx) => eraseJobs(tx, user_id))
    const { n } = await team.db.queries.one(
      Count,
      sql`select count(*) as n from parsing_job_correction where team_id = ${team.team}`,
    )
    assert.equal(n, 0)
  })
})

describe('the end of a review', () => {
  test('is a failure with its reason, and comes once', async () => {
    const { team, id, own, correct } = await createWaitingReport()
    const failed = await team.manage.post(`${inManagement(team)}/${id}/fail`, { version: 0, failure_reason: 'low_quality' })
    assert.deepEqual(
      [failed.status, failed.body.status, failed.body.failure_reason, failed.body.data],
      [200, 'failed', 'low_quality', null],
    )
    assert.equal((await updatedEvents(team)).length, 2)
    const { decision } = (await team.api.get(own)).body
    for (const [action, more] of [
      ['approve', {}],
      ['fail', { failure_reason: 'low_quality' }],
    ] as const)
      assert.equal((await team.api.post(`${own}/${action}`, { version: 0, ...more })).status, 409)
    assert.equal((await correct({ version: 0, removed: [1] })).status, 409)
    assert.equal((await updatedEvents(team)).length, 2)
    assert.match(decision.key_id, /\S/u)
    assert.deepEqual((await team.api.get(own)).body.decision, decision)
  })

  test('does not approve a report without results', async () => {
    const { team, own, correct } = await createWaitingReport()
    await correct({ version: 0, removed: [1, 2] })
    assert.equal((await team.api.post(`${own}/approve`, { version: 1 })).status, 400)
  })

  test('sets when the files are deleted, which stay at most 90 days until then', async () => {
    const { team, id, own } = await createWaitingReport()
    const days = async () => {
      const q = sql`
        select round(extract(epoch from max(delete_at) - now()) / 86400)::integer as n from stored_file where set_id = ${id}`
      return (await team.db.queries.one(Count, q)).n
    }
    assert.equal(await days(), 90)
    await team.api.post(`${own}/approve`, { version: 0 })
    assert.equal(await days(), 30)
  })
})

test('a team without the feature neither asks for a review nor reviews; the operator still ends waiting reviews', async () => {
  const { team, user_id, id, own, correct } = await createWaitingReport()
  await command(cells, ['team', 'feature', team.team, 'human_review', 'off'])
  guard.invalidate(team.team)
  const refusal = { detail: 'Human review is not supported yet for your team please contact support' }
  const upload = await uploadReport(team, [{ bytes: await glucoseReport() }], { user_id, needs_human_review: 'true' })
  const replies = [upload, await team.api.get(own), await correct({ version: 0, removed: [1] })]
  for (const { status, body } of replies) assert.deepEqual([status, body], [400, refusal])
  assert.equal((await team.manage.post(`${inManagement(team)}/${id}/approve`, { version: 0 })).body.status, 'completed')
})

describe('the picture of a page', () => {
  const sizeOf = async (bytes: Buffer) => {
    const { width, height } = await loadImage(bytes)
    return [width, height]
  }

  test('is drawn of a document and of an image, and gone with the file', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const id = await waitingReport(team, user_id)
    for (const [api, path] of [
      [team.api, `${REVIEW}/${id}/page/1`],
      [team.manage, `${inManagement(team)}/${id}/page/1`],
    ] as const) {
      const { status, headers, body } = await api.get(path)
      assert.deepEqual([status, headers.get('content-type')], [200, 'image/png'])
      assert.deepEqual(await sizeOf(body), [1700, 2200])
    }
    const own = `${REVIEW}/${id}/page`
    for (const [page, status] of [
      ['2', 404],
      ['0', 422],
      ['31', 422],
    ] as const)
      assert.equal((await team.api.get(`${own}/${page}`)).status, status, page)
    await team.db.plainTx((tx) => deleteFilesAfter(tx, [id], 0))
    await expire(team.db, storedFiles.cleanup)
    assert.equal((await team.api.get(`${own}/1`)).status, 404)
    assert.equal((await team.api.get(`${REVIEW}/${id}`)).body.has_pictures, false)
  })

  test('of each of several images is that image, in the order in which they were sent', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const png = (width: number) => ({ bytes: createCanvas(width, 20).toBuffer('image/png'), type: 'image/png' })
    const widths = [50, 30, 40]
    const { body } = await uploadReport(team, widths.map(png), { user_id, needs_human_review: 'true' })
    await team.db.tx(team.tenant, (tx) => claimJob(tx, body.id))
    await team.db.tx(team.tenant, (tx) => endJob(tx, body.id, { report: readExample }, 60))
    const path = `${REVIEW}/${body.id}`
    assert.equal((await team.api.get(path)).body.page_count, widths.length)
    for (const [index, width] of widths.entries())
      assert.deepEqual(await sizeOf((await team.api.get(`${path}/page/${index + 1}`)).body), [width, 20])
    assert.equal((await team.api.get(`${path}/page/4`)).status, 404)
  })
})
