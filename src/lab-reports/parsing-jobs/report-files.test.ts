// Where the files of reports are, from the upload to their deletion, and what becomes of a job whose files cannot be reached.
import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { openStorages } from '../../platform/stored-files/open-storages.ts'
import { StoredFiles } from '../../platform/stored-files/stored-files.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { T } from '../../platform/schema/schema.ts'
import { reportFiles, storedFiles } from '../../../test/support/report-files.ts'
import { s3Server } from '../../../test/support/s3-server.ts'
import { createTestTeam, expire, settings, vault, type TestTeam } from '../../../test/support/server.ts'
import { glucoseReport, parseUpload, readJob } from '../../../test/support/uploaded-reports.ts'
import { createJob, eraseJobs } from './parsing-jobs.ts'
import { ReportFiles } from './report-files.ts'
import { ReportParser } from './run-job.ts'

const REVIEW = '/lab_report/v1/review'
const Attempts = T.Object({ attempts: T.Integer() })
const readAttempts = async ({ db, team }: TestTeam, id: string) =>
  (await db.queries.one(Attempts, sql`select attempts from parsing_job where team_id = ${team} and id = ${id}`)).attempts
const Name = T.Object({ name: T.String() })
const listFileNames = async ({ db }: TestTeam, id: string) =>
  (await db.queries.many(Name, sql`select name from stored_file where set_id = ${id} order by name`)).map(({ name }) => name)
const onDisk = (id: string, name: string) => join(settings.report_folder, id, name)
const errorCode = (error: NodeJS.ErrnoException) => error.code

/** Where the parser finds files at present, and the reasons that its log has. */
let parsing: { files: ReportFiles; reasons: string[] }
/** One for all tests: the first report that a thread reads costs 2 s of a processor. */
const parser = new ReportParser(() => ({
  files: parsing.files,
  processes: 1,
  files_kept_days: 1,
  ocr_models: undefined,
  idle_ms: settings.thread_idle_ms,
  log: { warn: ({ reason }) => void parsing.reasons.push(reason) },
}))
after(() => parser.stop())

/** Runs jobs with these files. @returns the reasons that the log has, too */
function parserWith(files: ReportFiles) {
  const reasons: string[] = []
  parsing = { files, reasons }
  const run = (team: TestTeam, job_id: string) =>
    parser.handler.run({ tenant: team.tenant, tx: (work) => team.db.tx(team.tenant, work) }, { job_id })
  return { run, reasons }
}

/** Files in an object store, and the store. */
async function inStore() {
  const peer = await s3Server()
  const s3 = { ...peer, endpoint: peer.url, prefix: '', virtual_hosts: false }
  const stored = new StoredFiles({ kind: () => 's3', storages: () => openStorages({ ...settings, s3 }) })
  return { peer, stored, files: new ReportFiles(vault, stored) }
}

/** A job whose file is stored with these files, as the upload makes it. */
async function uploadedWith(files: ReportFiles, team: TestTeam, needs_human_review = false): Promise<string> {
  const user_id = await team.user()
  const bytes = new Uint8Array(await glucoseReport())
  const stored = await files.store((execute) => team.db.tx(team.tenant, execute), [{ bytes, type: 'application/pdf' }])
  return (await team.db.tx(team.tenant, (tx) => createJob(tx, stored, { user_id, needs_human_review }, 1))).id
}

describe('the files of a report', () => {
  test('are encrypted on disk, are there while it is parsed, and are deleted after their retention', async () => {
    const team = await createTestTeam()
    const { id } = await parseUpload(team, await team.user(), { bytes: await glucoseReport() })
    const bytes = await readFile(onDisk(id, 'file-0'))
    assert(bytes.length > 1000 && !bytes.includes('%PDF') && !bytes.includes('Glucose'))
    await expire(team.db, storedFiles.cleanup)
    assert.deepEqual(await listFileNames(team, id), ['file-0'])
    await team.db.queries.run(
      sql`update stored_file set delete_at = delete_at - interval '30 days 1 minute' where set_id = ${id}`,
    )
    await expire(team.db, storedFiles.cleanup)
    assert.deepEqual(await listFileNames(team, id), [])
    assert.equal(await readFile(onDisk(id, 'file-0')).catch(errorCode), 'ENOENT')
    assert.equal((await readJob(team, id)).status, 'completed')
  })

  test('are deleted with the user at once, and pictures of other users are not', async () => {
    const team = await createTestTeam()
    const [leaving, staying] = [await team.user(), await team.user()]
    const [gone, kept] = [
      await parseUpload(team, leaving, { bytes: await glucoseReport() }, { needs_human_review: 'true' }),
      await parseUpload(team, staying, { bytes: await glucoseReport() }),
    ]
    await team.db.tx(team.tenant, (tx) => eraseJobs(tx, leaving))
    await expire(team.db, storedFiles.cleanup)
    assert.deepEqual([await listFileNames(team, gone.id), await listFileNames(team, kept.id)], [[], ['file-0']])
    for (const name of ['file-0', 'page-1']) assert.equal(await readFile(onDisk(gone.id, name)).catch(errorCode), 'ENOENT')
    assert((await readFile(onDisk(kept.id, 'file-0'))).length > 1000)
  })

  test('of an upload that no job follows are deleted after an hour', async () => {
    const team = await createTestTeam()
    const files = [{ bytes: new Uint8Array(await glucoseReport()), type: 'application/pdf' as const }]
    const stored = await reportFiles.store((execute) => team.db.tx(team.tenant, execute), files)
    await team.db.queries.run(
      sql`update stored_file set delete_at = delete_at - interval '1 hour 1 second' where set_id = ${stored.id}`,
    )
    await expire(team.db, storedFiles.cleanup)
    assert.equal(await readFile(onDisk(stored.id, 'file-0')).catch(errorCode), 'ENOENT')
    // One that comes too late finds them gone and makes no job.
    const user_id = await team.user()
    const late = team.db.tx(team.tenant, (tx) => createJob(tx, stored, { user_id, needs_human_review: false }, 1))
    await assert.rejects(late, (error) => error instanceof Problem && error.status === 503)
    assert.equal((await team.api.get(`/lab_report/v1/parser/job/${stored.id}`)).status, 404)
  })
})

describe('the pictures of the pages of a report', () => {
  test('are drawn once, by the job that reads it, and stored encrypted', async () => {
    const team = await createTestTeam()
    const { id, status } = await parseUpload(
      team,
      await team.user(),
      { bytes: await glucoseReport() },
      { needs_human_review: 'true' },
    )
    assert.equal(status, 'pending_review')
    assert.deepEqual(await listFileNames(team, id), ['file-0', 'page-1'])
    assert.notEqual((await readFile(onDisk(id, 'page-1'))).toString('latin1', 1, 4), 'PNG')
    // Without the file nobody can draw the page again.
    await rm(onDisk(id, 'file-0'))
    const picture = await team.api.get(`${REVIEW}/${id}/page/1`)
    assert.deepEqual([picture.status, picture.body.toString('latin1', 1, 4)], [200, 'PNG'])
    assert.deepEqual((await team.manage.get(`/team/${team.team}/sandbox/lab_report_review/${id}/page/1`)).body, picture.body)
    await rm(onDisk(id, 'page-1'))
    const lost = await team.api.get(`${REVIEW}/${id}/page/1`)
    assert.deepEqual([lost.status, lost.body], [404, { detail: 'The files of this report cannot be found' }])
  })

  test('of a report without a review are not drawn', async () => {
    const team = await createTestTeam()
    const { id } = await parseUpload(team, await team.user(), { bytes: await glucoseReport() })
    assert.deepEqual(await listFileNames(team, id), ['file-0'])
  })
})

describe('an object store', () => {
  test('holds the files and pictures of a report, encrypted, until they are deleted', async () => {
    const team = await createTestTeam()
    const { peer, stored, files } = await inStore()
    const id = await uploadedWith(files, team, true)
    const { run } = parserWith(files)
    await run(team, id)
    assert.equal((await readJob(team, id)).status, 'pending_review')
    assert.deepEqual([...peer.objects.keys()].toSorted(), [`${id}/file-0`, `${id}/page-1`])
    for (const bytes of peer.objects.values()) assert(!bytes.includes('%PDF') && bytes.toString('latin1', 1, 4) !== 'PNG')
    await team.db.queries.run(sql`update stored_file set delete_at = now() - interval '1 second' where set_id = ${id}`)
    await expire(team.db, stored.cleanup)
    assert.equal(peer.objects.size, 0)
    await stored.close()
  })

  test('that cannot be reached refuses an upload with 503, and no job is created', async () => {
    const team = await createTestTeam()
    const { peer, stored, files } = await inStore()
    await peer.stop()
    await assert.rejects(
      uploadedWith(files, team),
      (error) => error instanceof Problem && error.status === 503 && error.headers['retry-after'] === '5',
    )
    const { rows } = await team.db.pool.query('select from parsing_job where team_id = $1', [team.team])
    assert.equal(rows.length, 0)
    await stored.close()
  })

  test('that fails while a job reads its files costs the job no attempt: it is read later, with one event of its end', async () => {
    const team = await createTestTeam()
    const { peer, stored, files } = await inStore()
    const id = await uploadedWith(files, team)
    const { run, reasons } = parserWith(files)
    for (let outage = 1; outage <= 4; outage++) {
      peer.next.push(503, 503, 503)
      await assert.rejects(run(team, id), /^StorageUnavailable/)
      assert.deepEqual([await readAttempts(team, id), reasons.length], [0, outage])
    }
    assert.match(reasons[0]!, /^GET was answered 503 by the object store/)
    await run(team, id)
    assert.deepEqual([(await readJob(team, id)).status, await readAttempts(team, id)], ['completed', 1])
    const { rows } = await team.db.pool.query("select from event where object_id = $1 and type like '%.updated'", [id])
    assert.equal(rows.length, 1)
    await stored.close()
  })
})

test('a job whose file this process lacks is tried twice, and fails with the reason in the log', async () => {
  const team = await createTestTeam()
  const id = await uploadedWith(reportFiles, team)
  await rm(onDisk(id, 'file-0'))
  const { run, reasons } = parserWith(reportFiles)
  for (let attempt = 1; attempt <= 2; attempt++) await assert.rejects(run(team, id), /^ReportFileMissing/)
  await run(team, id)
  const { status, failure_reason } = await readJob(team, id)
  assert.deepEqual([status, failure_reason], ['failed', 'processing_error'])
  assert.deepEqual(new Set(reasons), new Set(['its file is not in the storage "disk" of this process']))
})

test('a job whose pictures cannot be stored is tried again, and waits for a review after they are stored', async () => {
  const team = await createTestTeam()
  const { peer, stored, files } = await inStore()
  const id = await uploadedWith(files, team, true)
  const { run } = parserWith(files)
  peer.next.push('serve', 503, 503, 503)
  await assert.rejects(run(team, id), /^StorageUnavailable: PUT was answered 503/)
  assert.deepEqual([(await readJob(team, id)).status, await readAttempts(team, id)], ['started', 0])
  await run(team, id)
  assert.equal((await readJob(team, id)).status, 'pending_review')
  assert(peer.objects.has(`${id}/page-1`))
  await stored.close()
})
