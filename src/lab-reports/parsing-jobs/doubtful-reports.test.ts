// Reports of which something may be misread, through HTTP: which of them wait for a person, and which rows are certain.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { command } from '../../../test/support/commands.ts'
import { cells, createTestTeam } from '../../../test/support/server.ts'
import { parseUpload, pdfOf, readJob, reportPage } from '../../../test/support/uploaded-reports.ts'

interface Result {
  test_name: string
  loinc_match_status: string
}
const statuses = ({ data }: { data: { results: Result[] } }) =>
  data.results.map(({ test_name, loinc_match_status }) => [test_name, loinc_match_status])

const GLUCOSE = ['Glucose', '105', 'H', 'mg/dL', '70-99']
const SODIUM = ['Sodium', '140', '', 'mmol/L', '135-145']
/** A value without a name is in no result. */
const withLineOfNoRow = () => pdfOf(reportPage(GLUCOSE, ['', '7.7', '', 'mmol/L', '4-6'], SODIUM))

test('a row that contradicts itself asks for review, and its job is completed', async () => {
  const team = await createTestTeam()
  const bytes = await pdfOf(reportPage(GLUCOSE, ['Potassium', '4.1', 'H', 'mmol/L', '3.5-5.1'], SODIUM))
  const job = await parseUpload(team, await team.user(), { bytes })
  assert.equal(job.status, 'completed')
  assert.deepEqual(statuses(job), [
    ['Glucose', 'auto_match'],
    ['Potassium', 'needs_review'],
    ['Sodium', 'auto_match'],
  ])
})

test('a report with a value outside of its results waits for a review, which shows where the value is', async () => {
  const team = await createTestTeam()
  const { id, ...job } = await parseUpload(team, await team.user(), { bytes: await withLineOfNoRow() })
  assert.deepEqual([job.status, job.needs_human_review, job.is_reviewed, job.data], ['pending_review', false, false, null])
  const path = `/lab_report/v1/review/${id}`
  assert.deepEqual(
    (await team.api.get('/lab_report/v1/review')).body.data.map(({ job_id }: { job_id: string }) => job_id),
    [id],
  )
  const { body } = await team.api.get(path)
  const [{ kind, page, box }] = body.findings
  assert.deepEqual([kind, page, Math.round(box.left)], ['line_without_row', 1, 220])
  assert.equal((await team.api.get(`${path}/page/1`)).status, 200)
  const added = [{ test_name: 'Lactate', value: '7.7', units: 'mmol/L' }]
  assert.equal((await team.api.post(`${path}/correct`, { version: 0, added })).status, 200)
  assert.equal((await team.api.post(`${path}/approve`, { version: 1 })).status, 200)
  const approved = await readJob(team, id)
  assert.deepEqual([approved.status, approved.is_reviewed, approved.needs_human_review], ['completed', true, false])
  // A person has looked: what is certain by its name and unit is certain again.
  assert.deepEqual(statuses(approved).slice(0, 2), [
    ['Glucose', 'auto_match'],
    ['Sodium', 'auto_match'],
  ])
  assert.equal((await team.api.get(path)).body.status, 'completed')
})

test('a team without human review gets a doubtful report at once, and no row of it is certain', async () => {
  const team = await createTestTeam()
  await command(cells, ['team', 'feature', team.team, 'human_review', 'off'])
  const job = await parseUpload(team, await team.user(), { bytes: await withLineOfNoRow() })
  assert.equal(job.status, 'completed')
  assert.deepEqual(statuses(job), [
    ['Glucose', 'needs_review'],
    ['Sodium', 'needs_review'],
  ])
})
