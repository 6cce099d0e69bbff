// Uploaded files at their worst: each is refused, or its job ends.
import assert from 'node:assert/strict'
import { createCanvas } from '@napi-rs/canvas'
import { hostileDocuments } from '../support/hostile-documents.ts'
import { frameAt, idat, ihdr, joinBytes, createJpeg, jpegOfSides, pngOf } from '../support/pictures.ts'
import { pictureOfReport } from '../support/scanned-reports.ts'
import { eventually } from '../support/eventually.ts'
import { hostile, serveForCases, type HostileCase } from './measured-server.ts'

serveForCases()

/** A report may take 100 s and is begun twice. */
const END_MS_MAX = 280_000

type Type = 'application/pdf' | 'image/png' | 'image/jpeg'

/** Uploads files. → the status of the reply, and how the job has ended, if there is one */
async function upload({ url, key, user }: HostileCase, files: Uint8Array[], type: Type): Promise<[number, string | null]> {
  const form = new FormData()
  form.append('user_id', await user())
  for (const bytes of files) form.append('file', new Blob([new Uint8Array(bytes)], { type }), 'report')
  const headers = { 'x-service-api-key': key }
  const reply = await fetch(`${url}/lab_report/v1/parser/job`, { method: 'POST', headers, body: form })
  const { id } = (await reply.json()) as { id?: string }
  if (reply.status !== 200) return [reply.status, null]
  const ended = await eventually(
    async () => {
      const response = await fetch(`${url}/lab_report/v1/parser/job/${id}`, { headers })
      const job = (await response.json()) as { status: string; failure_reason: string | null }
      return /^(upload_pending|started)$/.test(job.status) ? undefined : job
    },
    'the job has ended',
    END_MS_MAX,
  )
  return [200, ended.failure_reason ?? ended.status]
}

/** Ends that no harm has come to: refused, or a job that failed or is read. */
const file = (name: string, type: Type, make: () => Uint8Array[] | Promise<Uint8Array[]>) =>
  hostile(name, make, async (hostileCase, files) => {
    const [status, end] = await upload(hostileCase, files, type)
    assert(status === 200 || status === 400, `${status}`)
    if (status === 200) assert.match(end!, /^(completed|pending_review|invalid_input|not_english|low_quality|processing_error)$/)
  })

for (const [name, make] of Object.entries(hostileDocuments)) file(name, 'application/pdf', () => [make()])

const jpeg = createJpeg(40, 30)
const SIDE = 65_535
const LARGEST = 7_700

/** A JPEG whose decoder reads another frame than a reader that takes a marker without parameters for a segment. */
function twoSizes(): Uint8Array {
  const large = jpegOfSides(jpeg, SIDE, SIDE).subarray(2)
  const length = large.length + 2
  return joinBytes(
    jpeg.subarray(0, 2),
    Uint8Array.from([0xff, 0x01, length >> 8, length & 255]),
    large,
    jpeg.subarray(frameAt(jpeg)),
  )
}

/** A photo of the most pixels, which is square: of all pictures it takes most to be decoded, and most to be read. */
async function largeScan(): Promise<Uint8Array> {
  const report = await pictureOfReport(['Glucose', '105', 'H', 'mg/dL', '70-99'], ['Sodium', '139.5', '', 'mmol/L', '135-145'])
  const photo = createCanvas(LARGEST, LARGEST)
  const context = photo.getContext('2d')
  context.fillStyle = 'white'
  context.fillRect(0, 0, LARGEST, LARGEST)
  context.drawImage(report, 0, 0, LARGEST, (report.height * LARGEST) / report.width)
  return new Uint8Array(photo.toBuffer('image/jpeg', 80))
}

file('a JPEG of 65,535 pixels on a side', 'image/jpeg', () => [jpegOfSides(jpeg, SIDE, SIDE)])
file('a JPEG with two sizes', 'image/jpeg', () => [twoSizes()])
file('a PNG of 65,536 pixels on a side', 'image/png', () => [pngOf(ihdr(SIDE + 1, SIDE + 1), idat(40, 30))])
file('a PNG with two sizes', 'image/png', () => [pngOf(ihdr(40, 30), ihdr(SIDE, SIDE), idat(40, 30))])
file('a photo of 59 million pixels with text', 'image/jpeg', async () => [await largeScan()])
file('eight blank PNG of 59 million pixels', 'image/png', () => {
  const png = pngOf(ihdr(LARGEST, LARGEST), idat(LARGEST, LARGEST))
  return Array.from({ length: 8 }, () => png)
})
