// Reports that are pictures, through HTTP and the threads that read them.
import assert from 'node:assert/strict'
import { deflateSync } from 'node:zlib'
import { test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import type { ReportResult } from '../reading/result.ts'
import { pictureOfReport, pictureOfRows, scannedPdf, turnedPicture } from '../../../test/support/scanned-reports.ts'
import { parseUpload, readJob, reportPage, uploadReport } from '../../../test/support/uploaded-reports.ts'
import { createTestTeam } from '../../../test/support/server.ts'

const HEAD = ['TEST', 'RESULT', 'FLAG', 'UNITS', 'REFERENCE INTERVAL']
const GLUCOSE = ['Glucose', '105', 'H', 'mg/dL', '70-99']
const SODIUM = ['Sodium', '139.5', '', 'mmol/L', '135-145']

const read = ({ data }: { data: { results: Record<string, unknown>[] } | null }) =>
  (data?.results ?? []).map((result) => [
    result['test_name'],
    result['value'],
    result['units'],
    result['min_reference_range'],
    result['max_reference_range'],
  ])
const GLUCOSE_READ = ['Glucose', '105', 'mg/dL', 70, 99]
const SODIUM_READ = ['Sodium', '139.5', 'mmol/L', 135, 145]

test('an image is read, with the patient and the results', async () => {
  const team = await createTestTeam()
  const picture = await pictureOfReport(GLUCOSE, SODIUM)
  const job = await parseUpload(team, await team.user(), { bytes: picture.toBuffer('image/png'), type: 'image/png' })
  assert.equal(job.status, 'completed')
  assert.deepEqual(read(job), [GLUCOSE_READ, SODIUM_READ])
  const { patient_last_name, dob, specimen_number } = job.data.metadata
  assert.deepEqual([patient_last_name, dob, specimen_number], ['Person', '1980-01-22', 'AB-123456'])
})

test('of a PDF the pages without text, with wrong text and upside down are read by their pictures, the others by their text', async () => {
  const team = await createTestTeam()
  const [slanted, covered] = [turnedPicture(await pictureOfRows(HEAD, GLUCOSE), 182), await pictureOfRows(SODIUM)]
  const wrong = Array.from({ length: 12 }, (_, line) => ({ x: 40, y: line * 2, text: '#$%&xq ()zwq *+wrtz vbn,- ./:;' }))
  const file = await scannedPdf(
    { picture: slanted },
    { picture: covered, texts: wrong },
    { texts: reportPage(['Potassium', '4.1', '', 'mmol/L', '3.5-5.1']) },
  )
  const job = await parseUpload(team, await team.user(), { bytes: file })
  assert.deepEqual(read(job), [GLUCOSE_READ, SODIUM_READ, ['Potassium', '4.1', 'mmol/L', 3.5, 5.1]])
})

const Extracted = T.Object({ extracted: T.Unsafe<{ results: ReportResult[] }>({}) })

test('several images are the pages of one report in the order in which they were sent', async () => {
  const team = await createTestTeam()
  const sent = [SODIUM, ['Potassium', '4.1', '', 'mmol/L', '3.5-5.1'], GLUCOSE]
  const pictures = await Promise.all(sent.map((row) => pictureOfRows(row)))
  const files = pictures.map((picture) => ({ bytes: picture.toBuffer('image/png'), type: 'image/png' }))
  const upload = await uploadReport(team, files, { user_id: await team.user() })
  assert.equal(upload.status, 200)
  await team.settle()
  assert.deepEqual(read(await readJob(team, upload.body.id)), [
    SODIUM_READ,
    ['Potassium', '4.1', 'mmol/L', 3.5, 5.1],
    GLUCOSE_READ,
  ])
  const { extracted } = await team.db.queries.one(
    Extracted,
    sql`select extracted from parsing_job where team_id = ${team.team} and id = ${upload.body.id}`,
  )
  assert.deepEqual(
    extracted.results.map(({ place }) => place.page),
    [1, 2, 3],
  )
})

test('a page that is turned by 90 degrees is read, and its places are the places of the turned page', async () => {
  const team = await createTestTeam()
  const file = await scannedPdf({ picture: turnedPicture(await pictureOfRows(HEAD, GLUCOSE), 90) })
  const job = await parseUpload(team, await team.user(), { bytes: file })
  assert.deepEqual(read(job), [GLUCOSE_READ])
  const { extracted } = await team.db.queries.one(Extracted, sql`select extracted from parsing_job where id = ${job.id}`)
  const { value, confidence } = extracted.results[0]!.place
  // The value is printed at 220 to 236, 30 to 39 of a page of 612 × 48 points.
  const expected = { x: 48 - 34, y: 228 }
  assert(Math.abs((value.left + value.right) / 2 - expected.x) < 6, JSON.stringify(value))
  assert(Math.abs((value.top + value.bottom) / 2 - expected.y) < 6, JSON.stringify(value))
  assert(confidence > 0.3 && confidence < 1)
})

/** A PDF whose page is one gray picture of this size, packed. */
function pdfOfGray(width: number, height: number): Buffer {
  const packed = deflateSync(Buffer.alloc(1 << 16))
  const content = 'q 612 0 0 792 0 0 cm /P Do Q'
  return Buffer.concat([
    Buffer.from(`%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</XObject<</P 5 0 R>>>>>> endobj
4 0 obj <</Length ${content.length}>> stream
${content}
endstream endobj
5 0 obj <</Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/FlateDecode/Length ${packed.length}>> stream
`),
    packed,
    Buffer.from('\nendstream endobj\ntrailer <</Root 1 0 R>>\n%%EOF'),
  ])
}

test('a picture of 30,000 pixels on a side fails its own job, and the next one is read', async () => {
  const team = await createTestTeam()
  const user = await team.user()
  const hostile = await parseUpload(team, user, { bytes: pdfOfGray(30_000, 30_000) })
  assert.deepEqual([hostile.status, hostile.failure_reason], ['failed', 'invalid_input'])
  const next = await parseUpload(team, user, {
    bytes: (await pictureOfRows(SODIUM)).toBuffer('image/jpeg', 85),
    type: 'image/jpeg',
  })
  assert.deepEqual(read(next), [SODIUM_READ])
})
