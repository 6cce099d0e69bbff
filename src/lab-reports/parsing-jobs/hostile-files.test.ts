// Files that are made to harm: each is refused with its reason, or fails its own job with its reason.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { readdirSync, readFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import { createCanvas } from '@napi-rs/canvas'
import PDFDocument from 'pdfkit'
import { parseUpload, readJob, uploadReport, type FormFile } from '../../../test/support/uploaded-reports.ts'
import { reportFiles } from '../../../test/support/report-files.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { pictureOfReport } from '../../../test/support/scanned-reports.ts'
import { sql } from '../../platform/db/sql.ts'
import { WorkerLimitExceeded } from '../../platform/runtime/worker-pool.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { ReportParser } from './run-job.ts'

const PAGE = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>'
const TEXT = 'BT /F1 9 Tf 40 700 Td (Glucose 95 mg/dL 70-99) Tj ET'
const stream = (text: string | Buffer, entries = ''): Buffer =>
  Buffer.concat([Buffer.from(`<</Length ${text.length}${entries}>> stream\n`), Buffer.from(text), Buffer.from('\nendstream')])

/** A page that draws over a soft mask again and again: each time a layer of the size of the page. */
const softMasks = () =>
  pdfWith({
    3: PAGE.replace('/Resources<<', '/Resources<</ExtGState<</M 6 0 R/N 7 0 R>>'),
    4: stream('/M gs 0 0 612 792 re f /N gs\n'.repeat(100)),
    6: '<</SMask<</S/Luminosity/G 8 0 R>>>>',
    7: '<</SMask/None>>',
    8: stream('1 g 0 0 612 792 re f', '/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Group<</S/Transparency/CS/DeviceGray>>'),
  })

/** A PDF of a page with one result, with other objects in their places. */
function pdfWith(objects: Record<number, string | Buffer> = {}): Buffer {
  const all = {
    1: '<</Type/Catalog/Pages 2 0 R>>',
    2: '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    3: PAGE,
    4: stream(TEXT),
    5: '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...objects,
  }
  const parts = Object.entries(all).flatMap(([number, object]) => [
    Buffer.from(`${number} 0 obj `),
    Buffer.from(object),
    Buffer.from(' endobj\n'),
  ])
  return Buffer.concat([Buffer.from('%PDF-1.4\n'), ...parts, Buffer.from('trailer <</Root 1 0 R>>\n%%EOF')])
}

function createEncryptedFile(): Promise<Buffer> {
  const document = new PDFDocument({ userPassword: 'fictional' })
  const parts: Buffer[] = []
  document.on('data', (part: Buffer) => parts.push(part))
  document.text('Glucose 95 mg/dL 70-99').end()
  return new Promise((resolve) => document.on('end', () => resolve(Buffer.concat(parts))))
}

const canvas = createCanvas(40, 30)
const jpeg = canvas.toBuffer('image/jpeg')
const SIDE = 30_000

/** The picture, with a head that says it is 30,000 pixels wide and high. */
function hugePng(): Buffer {
  const bytes = Buffer.from(canvas.toBuffer('image/png'))
  bytes.writeUInt32BE(SIDE, 16)
  bytes.writeUInt32BE(SIDE, 20)
  return bytes
}
function hugeJpeg(): Buffer {
  const bytes = Buffer.from(jpeg)
  const frame = bytes.findIndex((byte, index) => byte === 0xff && (bytes[index + 1] === 0xc0 || bytes[index + 1] === 0xc2))
  bytes.writeUInt16BE(SIDE, frame + 5)
  bytes.writeUInt16BE(SIDE, frame + 7)
  return bytes
}

describe('an upload is refused', () => {
  let team: Promise<TestTeam> | undefined
  const refused: [name: string, detail: string, file: () => Promise<FormFile> | FormFile][] = [
    ['an encrypted PDF', 'The PDF is encrypted', async () => ({ bytes: await createEncryptedFile() })],
    ['a truncated PDF', 'The PDF is damaged or cannot be read', () => ({ bytes: pdfWith().subarray(0, 40) })],
    ['a PDF without pages', 'The PDF has no pages', () => ({ bytes: pdfWith({ 2: '<</Type/Pages/Kids[]/Count 0>>' }) })],
    [
      'a PDF whose pages contain themselves',
      'The PDF is damaged or cannot be read',
      () => ({ bytes: pdfWith({ 2: '<</Type/Pages/Kids[2 0 R]/Count 1>>' }) }),
    ],
    [
      'a PDF of endlessly nested objects',
      'The PDF is damaged or cannot be read',
      () => ({ bytes: pdfWith({ 2: '['.repeat(500_000) }) }),
    ],
    ['a PNG of 30,000 pixels', 'The image cannot be decoded', () => ({ bytes: hugePng(), type: 'image/png' })],
    ['a JPEG of 30,000 pixels', 'The image cannot be decoded', () => ({ bytes: hugeJpeg(), type: 'image/jpeg' })],
    [
      'a JPEG that is sent as PDF',
      'The file is not of the type that it was sent as',
      () => ({ bytes: jpeg, type: 'application/pdf', name: 'report.pdf' }),
    ],
  ]
  for (const [name, detail, file] of refused)
    test(name, async () => {
      const given = await (team ??= createTestTeam())
      const reply = await uploadReport(given, [await file()], { user_id: await given.user() })
      assert.deepEqual([reply.status, reply.body], [400, { detail }])
    })
})

const KILLED_MB_MAX = 501

/** The networks of the job that runs, and the reasons that the log has. */
let parsing: { ocr_models: string | undefined; reasons: string[] }
const parserOf = (memory_mb_max: number) =>
  new ReportParser(() => ({
    files: reportFiles,
    processes: 1,
    files_kept_days: 1,
    ocr_models: parsing.ocr_models,
    memory_mb_max,
    read_ms_max: 15_000,
    log: { warn: ({ reason }) => void parsing.reasons.push(reason) },
  }))
const parser = parserOf(500)
/** Its children are found by their limit. */
const killed = parserOf(KILLED_MB_MAX)
after(() => Promise.all([parser.stop(), killed.stop()]))

/** Runs a job with limits that a test reaches soon. Returns the reasons that the log has for a failure. */
async function run(team: TestTeam, id: string, ocr_models?: string, reportParser = parser): Promise<string[]> {
  parsing = { ocr_models, reasons: [] }
  await reportParser.handler.run({ tenant: team.tenant, tx: (work) => team.db.tx(team.tenant, work) }, { job_id: id })
  return parsing.reasons
}

/** Kills the child process of the parser once it reads. Linux alone tells which one it is. */
async function killReader(): Promise<void> {
  const pid = await eventually(
    () =>
      readdirSync('/proc').find((name) => {
        try {
          return readFileSync(`/proc/${name}/cmdline`, 'utf8').endsWith(`/task-child.ts\0${process.pid}\0${KILLED_MB_MAX}\0`)
        } catch {
          return false
        }
      }),
    'the parser reads',
  )
  process.kill(Number(pid), 'SIGKILL')
}

describe('a job', () => {
  test('with an image fails where no text recognition is installed, and the log says why', async () => {
    const team = await createTestTeam()
    const { body } = await uploadReport(team, [{ bytes: jpeg, type: 'image/jpeg' }], { user_id: await team.user() })
    assert.match((await run(team, body.id, '/nonexistent')).join(), /^\w+\.onnx of the text recognition cannot be read$/u)
    const { status, failure_reason } = await readJob(team, body.id)
    assert.deepEqual([status, failure_reason], ['failed', 'processing_error'])
  })

  test('fails in its own process with a PDF that unpacks to a hundred times its size', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const bomb = deflateSync('BT /F1 9 Tf 40 700 Td (Glucose 95 mg/dL 70-99) Tj ET\n'.repeat(1_000_000))
    const bytes = pdfWith({ 4: stream(bomb, '/Filter/FlateDecode') })
    assert(bytes.length < 1_000_000)
    const { status, body } = await uploadReport(team, [{ bytes }], { user_id })
    assert.equal(status, 200)
    assert.match((await run(team, body.id)).join(), /exceeded/)
    const { failure_reason, ...job } = await readJob(team, body.id)
    assert.deepEqual([job.status, failure_reason, job.data], ['failed', 'processing_error', null])
    assert.equal((await parseUpload(team, user_id, { bytes: pdfWith() })).status, 'completed')
  })

  test('fails soon with a PDF whose page has a hundred layers', async () => {
    const team = await createTestTeam()
    const { body } = await uploadReport(team, [{ bytes: softMasks() }], { user_id: await team.user() })
    assert.deepEqual(await run(team, body.id), [])
    const { status, failure_reason } = await readJob(team, body.id)
    assert.deepEqual([status, failure_reason], ['failed', 'invalid_input'])
  })

  test('whose file ends the process that reads it is begun twice, and never again', async () => {
    const team = await createTestTeam()
    const picture = (await pictureOfReport(['Glucose', '105', 'H', 'mg/dL', '70-99'])).toBuffer('image/png')
    const { body } = await uploadReport(team, [{ bytes: picture, type: 'image/png' }], { user_id: await team.user() })
    const begin = async () => {
      const running = run(team, body.id, undefined, killed)
      await killReader()
      return running
    }
    await assert.rejects(begin(), (error) => error instanceof WorkerLimitExceeded && error.limit === 'process')
    assert.equal((await readJob(team, body.id)).status, 'started')
    assert.match((await begin()).join(), /ended its process \(SIGKILL\)/)
    const { status, failure_reason } = await readJob(team, body.id)
    assert.deepEqual([status, failure_reason], ['failed', 'processing_error'])
    assert.deepEqual(await run(team, body.id), [])
  })

  test('that two processes of the server began without an end is not begun by a third', async () => {
    const team = await createTestTeam()
    const { body } = await uploadReport(team, [{ bytes: pdfWith() }], { user_id: await team.user() })
    await team.db.tx(team.tenant, (tx) =>
      tx.run(sql`update parsing_job set status = 'started', attempts = 2 where team_id = ${tx.team} and id = ${body.id}`),
    )
    await run(team, body.id)
    const { status, failure_reason } = await readJob(team, body.id)
    assert.deepEqual([status, failure_reason], ['failed', 'processing_error'])
  })

  test('reads the pages that there are, of a PDF that says it has a billion', async () => {
    const team = await createTestTeam()
    const bytes = pdfWith({ 2: '<</Type/Pages/Kids[3 0 R]/Count 1000000000>>' })
    assert.equal((await parseUpload(team, await team.user(), { bytes })).data.results.length, 1)
  })

  test('reads a PDF with scripts and runs none of them', async () => {
    const team = await createTestTeam()
    const bytes = pdfWith({
      1: '<</Type/Catalog/Pages 2 0 R/OpenAction 6 0 R/Names<</JavaScript<</Names[(a) 6 0 R]>>>>>>',
      6: '<</Type/Action/S/JavaScript/JS(for\\(;;\\);)>>',
    })
    const { status, data } = await parseUpload(team, await team.user(), { bytes })
    assert.deepEqual([status, data.results[0].value], ['completed', '95'])
  })
})
