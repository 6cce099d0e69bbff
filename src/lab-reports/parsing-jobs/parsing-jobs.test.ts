// Reports through HTTP: uploaded, parsed by a job in a thread, read, erased.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { eraseJobs } from './parsing-jobs.ts'
import {
  glucoseReport,
  parseUpload,
  pdfOf,
  readJob,
  reportPage,
  tableRow,
  uploadReport,
} from '../../../test/support/uploaded-reports.ts'
import { SECONDS_PER_DAY, advanceClock } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const Count = T.Object({ n: T.Integer() })
const countStored = async ({ db, team }: TestTeam): Promise<[jobs: number, files: number]> => [
  (await db.queries.one(Count, sql`select count(*) as n from parsing_job where team_id = ${team}`)).n,
  (
    await db.queries.one(
      Count,
      sql`select count(*) as n from stored_file where delete_at is null and set_id in (select id from parsing_job where team_id = ${team})`,
    )
  ).n,
]
interface Body {
  event_type: string
  user_id: string
  data: Record<string, unknown>
}
const jobEvents = async ({ api }: TestTeam): Promise<Body[]> => {
  const { data }: { data: { body: Body }[] } = (await api.get('/v1/events?limit=50')).body
  const bodies = data.map((event) => event.body).filter(({ event_type }) => event_type.startsWith('lab_report.'))
  return bodies.toReversed()
}
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('an uploaded report', () => {
  test('a PDF becomes metadata and results, with an event at the start and one at the end', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const upload = await uploadReport(team, [{ bytes: await glucoseReport() }], { user_id })
    assert.equal(upload.status, 200)
    const { id } = upload.body
    const pending = {
      id,
      job_id: id,
      status: 'upload_pending',
      failure_reason: null,
      data: null,
      needs_human_review: false,
      is_reviewed: false,
    }
    assert.deepEqual(upload.body, pending)
    await team.settle()
    const job = await readJob(team, id)
    assert.equal(job.status, 'completed')
    assert.deepEqual(job.data.metadata, {
      patient_first_name: 'Fictional',
      patient_last_name: 'Person',
      dob: '1980-01-22',
      gender: 'female',
      lab_name: 'Fictional Diagnostic Laboratories',
      date_reported: '2024-03-15',
      date_collected: '2024-03-14',
      specimen_number: 'AB-123456',
    })
    const [glucose] = job.data.results
    assert.equal(job.data.results.length, 1)
    assert.deepEqual([glucose.test_name, glucose.value, glucose.type, glucose.units], ['Glucose', '105', 'numeric', 'mg/dL'])
    assert.deepEqual(
      [glucose.min_reference_range, glucose.max_reference_range, glucose.interpretation, glucose.is_above_max_range],
      [70, 99, 'abnormal', true],
    )
    for (const field of ['place', 'findings', 'comments']) assert.equal(field in glucose, false, field)
    const [created, updated] = await jobEvents(team)
    assert.deepEqual(
      [created!.event_type, created!.data, created!.user_id],
      ['lab_report.parsing_job.created', { ...pending, status: 'started' }, user_id],
    )
    assert.deepEqual([updated!.event_type, updated!.data], ['lab_report.parsing_job.updated', job])
  })

  test('a file that is sent as octet stream is taken by its first bytes', async () => {
    const team = await createTestTeam()
    const job = await parseUpload(team, await team.user(), { bytes: await glucoseReport(), type: 'application/octet-stream' })
    assert.equal(job.status, 'completed')
  })

  test('a report that a person has to look at waits for that person, without data', async () => {
    const team = await createTestTeam()
    const job = await parseUpload(team, await team.user(), { bytes: await glucoseReport() }, { needs_human_review: 'true' })
    assert.deepEqual([job.status, job.needs_human_review, job.is_reviewed, job.data], ['pending_review', true, false, null])
    assert.deepEqual(
      (await jobEvents(team)).map(({ data }) => data.status),
      ['started', 'pending_review'],
    )
  })

  test('a document without results fails as no lab report, one in another language as not English', async () => {
    const team = await createTestTeam()
    const letter = await pdfOf([{ x: 40, y: 40, text: 'A letter of a fictional person to another fictional person.' }])
    const german = await pdfOf(
      reportPage().concat(
        'Befund der Patientin und des Patienten für das Blutbild|Ergebnis und Einheit, Referenzbereich, Geburtsdatum|Das Material ist von der Patientin, männlich, weiblich|der die das und ist mit dem Befund von der Patientin'
          .split('|')
          .flatMap((text, index) => tableRow(200 + 14 * index, text)),
      ),
    )
    const user = await team.user()
    for (const [bytes, reason] of [
      [letter, 'invalid_input'],
      [german, 'not_english'],
    ] as const) {
      const job = await parseUpload(team, user, { bytes })
      assert.deepEqual([job.status, job.failure_reason, job.data], ['failed', reason, null])
    }
  })

  test('a team has one report in the queue, and the end or the erasure of it queues the next', async () => {
    const team = await createTestTeam()
    const [user_id, leaving] = [await team.user(), await team.user()]
    const files = [{ bytes: await glucoseReport() }]
    const queued = async () =>
      (
        await team.db.queries.one(
          Count,
          sql`select count(*) as n from job where team_id = ${team.team} and name = 'lab_reports.parse'`,
        )
      ).n
    await uploadReport(team, files, { user_id: leaving })
    const ids = [await uploadReport(team, files, { user_id }), await uploadReport(team, files, { user_id })]
    assert.equal(await queued(), 1)
    await team.db.queries.run(sql`delete from job where team_id = ${team.team} and name = 'lab_reports.parse'`)
    await team.db.tx(team.tenant, (tx) => eraseJobs(tx, leaving))
    assert.equal(await queued(), 1)
    await team.settle()
    for (const { body } of ids) assert.equal((await readJob(team, body.id)).status, 'completed')
    assert.equal(await queued(), 0)
  })

  test('pages of thousands of words end their own job, and the next report is parsed', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const page = Array.from({ length: 70 }, (_, line) => ({ x: 5, y: 5 + line * 11, text: '1 '.repeat(300), size: 2 }))
    const job = await parseUpload(team, user, { bytes: await pdfOf(page, page) })
    assert.deepEqual([job.status, job.failure_reason], ['failed', 'invalid_input'])
    assert.equal((await parseUpload(team, user, { bytes: await glucoseReport() })).status, 'completed')
  })

  test('a deleted user takes the jobs along: they are not shown at once, and erased with the user', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const { id } = await parseUpload(team, user, { bytes: await glucoseReport() })
    await team.api.delete(`/v2/user/${user}`)
    assert.equal((await team.api.get(`/lab_report/v1/parser/job/${id}`)).status, 404)
    await advanceClock(team, 8 * SECONDS_PER_DAY)
    assert.deepEqual(await countStored(team), [0, 0])
  })
})

describe('an upload that is refused', () => {
  test('files that cannot be a report are rejected with the documented status, and no job is created', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const pdf = await glucoseReport()
    const png = { bytes: PNG, type: 'image/png' }
    const many = await pdfOf(...Array.from({ length: 31 }, () => reportPage()))
    const refused: [
      name: string,
      status: number,
      files: Parameters<typeof uploadReport>[1],
      fields?: Record<string, string | undefined>,
    ][] = [
      ['text', 400, [{ bytes: Buffer.from('Glucose 95 mg/dL'), type: 'text/plain' }]],
      ['an empty file', 400, [{ bytes: Buffer.alloc(0) }]],
      ['a PDF sent as JPEG', 400, [{ bytes: pdf, type: 'image/jpeg' }]],
      ['nine images', 400, Array.from({ length: 9 }, () => png)],
      ['an image and a PDF', 400, [png, { bytes: pdf }]],
      ['an image that cannot be decoded', 400, [png, { bytes: PNG.subarray(0, 20), type: 'image/png' }]],
      ['a truncated PDF', 400, [{ bytes: pdf.subarray(0, 60) }]],
      ['31 pages', 400, [{ bytes: many }]],
      ['a file of 11 MB', 413, [{ bytes: Buffer.concat([pdf, Buffer.alloc(11 << 20)]) }]],
      ['an unknown user', 404, [{ bytes: pdf }], { user_id: '00000000-0000-4000-8000-000000000000' }],
      ['no user', 422, [{ bytes: pdf }], { user_id: undefined }],
      ['a user id that is no UUID', 422, [{ bytes: pdf }], { user_id: 'x' }],
      ['no file', 422, [], {}],
      ['a review that is no boolean', 422, [{ bytes: pdf }], { user_id, needs_human_review: 'perhaps' }],
    ]
    for (const [name, status, files, fields = {}] of refused)
      assert.equal((await uploadReport(team, files, { user_id, ...fields })).status, status, name)
    const plain = await team.api.post('/lab_report/v1/parser/job', { user_id })
    assert.equal(plain.status, 422)
    assert.deepEqual(await countStored(team), [0, 0])
  })

  test('a sandbox team has at most 300 reports that have not failed', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const insert = (status: string, count: number) =>
      team.db.queries.run(sql`
        insert into parsing_job (team_id, id, user_id, status, failure_reason, needs_human_review, file_types, pages, created_at, updated_at)
        select ${team.team}, gen_random_uuid(), ${user_id}, ${status}, case when ${status} = 'failed' then 'invalid_input' end, false, '[]', 1, now(), now()
        from generate_series(1, ${count}::integer)`)
    await insert('completed', 299)
    await insert('failed', 5)
    const files = [{ bytes: await glucoseReport() }]
    assert.equal((await uploadReport(team, files, { user_id })).status, 200)
    const { status, body } = await uploadReport(team, files, { user_id })
    assert.equal(status, 400)
    assert.deepEqual(body, {
      detail: 'Sandbox lab report parsing is limited to 300 reports. Please upgrade your contract to continue.',
    })
  })
})
