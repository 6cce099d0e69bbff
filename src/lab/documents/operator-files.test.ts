// Documents with files of the operator: fonts for other scripts, and the form of advance beneficiary notices.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { once } from 'node:events'
import PDFDocument from 'pdfkit'
import { coverageOf } from '../../platform/pdf/extra-fonts.ts'
import { unprintableClasses } from '../../platform/pdf/characters.ts'
import { createWorkerPool } from '../../platform/runtime/worker-pool.ts'
import { readPdf, skipWithoutPdfTools } from '../../../test/support/pdf-reader.ts'
import { client, createTestTeam } from '../../../test/support/server.ts'
import { createOrder } from '../../../test/support/orders.ts'
import { updateOrder } from '../orders/change-order.ts'
import { abnParts, type AbnForm } from './abn-form.ts'
import type { Abn } from './abn-page.ts'
import type { Label } from './labels-page.ts'
import { checkForm } from './routes.ts'

const folder = mkdtempSync(join(tmpdir(), 'operator-files-'))
after(() => rmSync(folder, { recursive: true }))
const task = new URL('documents.task.ts', import.meta.url)

const FONT = '/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf'
const withoutFont =
  !existsSync(FONT) && process.env.CI_READERS !== 'required' ? 'fonts-droid-fallback (Debian) not installed' : skipWithoutPdfTools

describe('fonts of the operator', { skip: withoutFont }, () => {
  test('print Chinese and Japanese in documents, which embed the characters that they print', async () => {
    const pool = createWorkerPool({ threads_max: 1, data: { document_fonts: [FONT] } })
    const label: Label = {
      sample_id: 'FICTIONAL-0001',
      last_name: '王',
      first_name: '测试 テスト',
      dob: '1990-01-31',
      gender: 'female',
      account: '1234567890',
      lab: 'Fictional',
      collectionTime: '2026-01-31T09:30:00+00:00',
      time_zone: 'UTC',
      paper: 'letter',
    }
    const bytes = await pool.run<Uint8Array>(task, { label, count: 1 }, { name: 'labels' })
    await pool.close()
    const { text, fonts } = readPdf(bytes)
    for (const words of ['王', '测试', 'テスト', 'FICTIONAL-0001']) assert(text.includes(words), `${words} in ${text}`)
    assert(fonts.some(({ name, embedded }) => name.includes('DroidSansFallback') && embedded))
    assert(bytes.length < 100_000, `${bytes.length} bytes`)
  })

  test('do not print text that is written from right to left, or characters that the font lacks', () => {
    const covers = coverageOf([FONT])
    assert.deepEqual(unprintableClasses('北京市 Łódź 東京 さくら', covers), [])
    assert.deepEqual(unprintableClasses('北京市'), ['Chinese characters'])
    assert.deepEqual(unprintableClasses('אבג عرب 😀', covers), ['Hebrew characters', 'Arabic characters', 'emoji'])
  })

  test('are refused with their name if they are invalid', () => {
    const file = join(folder, 'font.ttf')
    writeFileSync(file, 'no font')
    assert.throws(() => coverageOf([file]), /^Error: DOCUMENT_FONTS names .*font\.ttf, which is not a font that can be read/)
    assert.throws(() => coverageOf([join(folder, 'absent.ttf')]), /\(ENOENT\)/)
  })
})

/** A form with fields of these names. */
async function formWith(names: string[]): Promise<string> {
  const document = new PDFDocument({ size: 'letter' })
  const chunks: Buffer[] = []
  document.on('data', (chunk: Buffer) => chunks.push(chunk))
  document.font('Helvetica')
  const fields = document as unknown as {
    initForm(): void
    formText(name: string, x: number, y: number, width: number, height: number, options: object): void
  }
  fields.initForm()
  for (const [index, name] of names.entries()) {
    document.text(`Field ${name}`, 50, 40 + index * 90)
    fields.formText(name, 50, 55 + index * 90, 500, 60, { multiline: true, fontSize: 9 })
  }
  document.end()
  await once(document, 'end')
  const file = join(folder, `${names.join('-').replaceAll(' ', '_')}.pdf`)
  writeFileSync(file, Buffer.concat(chunks))
  return file
}

const notice: Abn = {
  lab: { name: 'Fictional Laboratory', address: '1 Sample Way, Phoenix, AZ 85004' } as Abn['lab'],
  patient: 'Testa Fictional',
  identification: 'FICTIONAL-0001',
  items: [
    { test: 'Hemoglobin A1c', reason: 'Not as often as it is ordered', cost: '$31.00' },
    { test: 'Vitamin D', reason: 'Not as often as it is ordered', cost: 'ask us' },
  ],
  printedAt: '2026-01-31T09:30:00+00:00',
  sandbox: false,
  paper: 'letter',
}

describe('the form of the operator for advance beneficiary notices', () => {
  const pool = createWorkerPool({ threads_max: 1 })
  after(() => pool.close())

  test('is filled in and stays a form for the rest', { skip: skipWithoutPdfTools }, async () => {
    const names = ['A Notifier', ...abnParts.slice(1), 'Signature']
    const form: AbnForm = { file: await formWith(names), fields: { notifier: 'A Notifier' } }
    assert.equal(await checkForm(pool, form), true)
    const bytes = await pool.run<Uint8Array>(task, { form, notice }, { name: 'fillAbnForm' })
    const { text } = readPdf(bytes)
    for (const words of ['Field Signature', 'Fictional Laboratory, 1 Sample Way', 'Testa Fictional', 'FICTIONAL-0001'])
      assert(text.includes(words), `${words} in ${text}`)
    for (const words of ['Hemoglobin A1c', 'Vitamin D', '$31.00', 'ask us']) assert(text.includes(words), words)
    assert.equal(text.match(/Not as often/g)?.length, 1)
  })

  test('is refused if it lacks a field, cannot be read or is not a PDF', async () => {
    const lacking = { file: await formWith(['notifier', 'Name']), fields: { patient: 'Name' } }
    await assert.rejects(
      checkForm(pool, lacking),
      /has no text field called identification, tests, reasons, costs; its fields are: notifier, Name\. ABN_FORM_FIELDS says/,
    )
    await assert.rejects(checkForm(pool, { file: join(folder, 'absent.pdf'), fields: {} }), /cannot be read \(ENOENT\)/)
    const file = join(folder, 'text.pdf')
    writeFileSync(file, 'no PDF')
    await assert.rejects(checkForm(pool, { file, fields: {} }), /is not a PDF that can be read/)
  })

  test('is needed in production, where the sandbox page is not a notice', async () => {
    const team = await createTestTeam('production-us')
    const { id } = await createOrder(team)
    await team.db.tx(team.tenant, (tx) => updateOrder(tx, id, (lockedOrder) => void (lockedOrder.order.has_abn = true)))
    const reply = await client(team.key).get(`/v3/order/${id}/abn_pdf`)
    assert.deepEqual(
      [reply.status, reply.body],
      [404, { detail: 'This server has no form for advance beneficiary notices (ABN_FORM)' }],
    )
  })
})
