// Files that are made to harm: each is refused with its reason, or fails its own job with its reason.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { createCanvas } from '@napi-rs/canvas'
import PDFDocument from 'pdfkit'
import { parsed, readJob, uploadReport, type FormFile } from '../../../test/support/uploaded-reports.ts'
import { reportFiles } from '../../../test/support/report-files.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { ReportParser } from './run-job.ts'

const PAGE = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>'
const TEXT = 'BT /F1 9 Tf 40 700 Td (Glucose 95 mg/dL 70-99) Tj ET'
const stream = (text: string | Buffer, more = ''): Buffer =>
  Buffer.concat([Buffer.from(`<</Length ${text.length}${more}>> stream\n`), Buffer.from(text), Buffer.from('\nendstream')])

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

function encrypted(): Promise<Buffer> {
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
  const frame = bytes.findIndex((byte, at) => byte === 0xff && (bytes[at + 1] === 0xc0 || bytes[at + 1] === 0xc2))
  bytes.writeUInt16BE(SIDE, frame + 5)
  bytes.writeUInt16BE(SIDE, frame + 7)
  return bytes
}

describe('an upload is refused', () => {
  let team: Promise<TestTeam> | undefined
  const refused: [name: string, detail: string, file: () => Promise<FormFile> | FormFile][] = [
    ['an encrypted PDF', 'The PDF is encrypted', async () => ({ bytes: await encrypted() })],
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

/** The networks of the job that runs, and the reasons that the log has. */
let parsing: { ocr_models: string | undefined; reasons: string[] }
const parser = new ReportParser(() => ({
  files: reportFiles,
  threads: 1,
  files_kept_days: 1,
  ocr_models: parsing.ocr_models,
  thread_mb_max: 160,
  read_ms_max: 15_000,
  log: { warn: ({ reason }) => void parsing.reasons.push(reason) },
}))
after(() => parser.stop())

/** Runs a job with limits that a test reaches soon. Returns the reasons that the log has for a failure. */
async function run(team: TestTeam, id: string, ocr_models?: string): Promise<string[]> {
  parsing = { ocr_models, reasons: [] }
  await parser.handler.run({ tenant: team.tenant, tx: (work) => team.db.tx(team.tenant, work) }, { job_id: id })
  return parsing.reasons
}

describe('a job', () => {
  test('with an image fails where no text recognition is installed, and the log says why', async () => {
    const team = await createTestTeam()
    const { body } = await uploadReport(team, [{ bytes: jpeg, type: 'image/jpeg' }], { user_id: await team.user() })
    assert.match((await run(team, body.id, '/nonexistent')).join(), /^\w+\.onnx of the text recognition cannot be read$/u)
    const { status, failure_reason } = await readJob(team, body.id)
    assert.deepEqual([status, failure_reason], ['failed', 'processing_error'])
  })

  test('fails in its own thread with a PDF that unpacks to a hundred times its size', async () => {
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
    assert.equal((await parsed(team, user_id, { bytes: pdfWith() })).status, 'completed')
  })

  test('reads the pages that there are, of a PDF that says it has a billion', async () => {
    const team = await createTestTeam()
    const bytes = pdfWith({ 2: '<</Type/Pages/Kids[3 0 R]/Count 1000000000>>' })
    assert.equal((await parsed(team, await team.user(), { bytes })).data.results.length, 1)
  })

  test('reads a PDF with scripts and runs none of them', async () => {
    const team = await createTestTeam()
    const bytes = pdfWith({
      1: '<</Type/Catalog/Pages 2 0 R/OpenAction 6 0 R/Names<</JavaScript<</Names[(a) 6 0 R]>>>>>>',
      6: '<</Type/Action/S/JavaScript/JS(for\\(;;\\);)>>',
    })
    const { status, data } = await parsed(team, await team.user(), { bytes })
    assert.deepEqual([status, data.results[0].value], ['completed', '95'])
  })
})
