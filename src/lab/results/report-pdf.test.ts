import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { createWorkerPool } from '../../platform/runtime/worker-pool.ts'
import { renderReport, type Report } from './report-pdf.ts'
import type { Result } from './report-table.ts'
import { TRUNCATION_NOTICE } from '../../platform/pdf/text.ts'

interface Piece {
  text: string
  x: number
  /** From the top of the page. */
  y: number
  /** Empty for a font that the first page does not have. */
  font: string
}

/** Reads the texts of each page as another program sees them, in the order in which they are drawn. */
async function read(bytes: Uint8Array): Promise<Piece[][]> {
  const loading = getDocument({ data: bytes.slice(), verbosity: 0, fontExtraProperties: true })
  const document = await loading.promise
  const pages: Piece[][] = []
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const height = page.view[3]!
    if (number === 1) await page.getOperatorList() // Makes the names of the fonts known.
    const { items } = await page.getTextContent({ includeMarkedContent: true, disableNormalization: true })
    const pieces: Piece[] = []
    let open: Piece | undefined
    for (const item of items) {
      if (!('str' in item)) open = undefined
      else if (open) open.text += item.str
      else if (item.str.trim()) {
        const known = page.commonObjs.has(item.fontName) && (page.commonObjs.get(item.fontName) as { name: string }).name
        const font = known ? known.replace(/^[A-Z]{6}\+/, '') : ''
        pieces.push((open = { text: item.str, x: item.transform[4], y: height - item.transform[5], font }))
      }
    }
    pages.push(pieces)
  }
  await loading.destroy()
  return pages
}

const draw = async (report: Report) => read(await renderReport(report, { compress: false }))
const texts = (page: Piece[]) => page.map(({ text }) => text)
const find = (page: Piece[], text: string) =>
  page.find((piece) => piece.text === text) ?? assert.fail(`${text} is not on the page`)
/** The items on the line of `text`, from left to right. */
const row = (page: Piece[], text: string) => {
  const { y } = find(page, text)
  return texts(page.filter((piece) => Math.abs(piece.y - y) < 1.1).toSorted((a, b) => a.x - b.x))
}

function result(name: string, value: string, overrides: Partial<Result> = {}): Result {
  return {
    name,
    result: value,
    unit: 'mg/dL',
    reference_range: '65-99',
    flag: '',
    interpretation: 'normal',
    notes: null,
    loinc: null,
    ...overrides,
  }
}

function sample(order: Partial<Report['order']> = {}, results: Result[] = [result('Glucose', '88')]): Report {
  return {
    lab: {
      name: 'Lantern Bay Laboratory',
      address: '1 Harbor Street, Fictionville',
      accreditation: 'CLIA 99D9999999',
      medical_director: 'Ada Example, MD',
    },
    patient: { name: 'Testina Samplewoman', dob: '1985-03-14', age: '44', gender: 'Female', patient_id: 'P-17' },
    order: {
      specimen_number: 'LB-4217',
      order_id: 'order-0001',
      collectedAt: '2030-01-02T09:30:00-08:00',
      receivedAt: null,
      reportedAt: '2030-01-04T16:05:00+00:00',
      time_zone: 'America/Los_Angeles',
      status: 'final',
      fasting: true,
      physician: 'Dr. Bob Placeholder',
      test_name: 'Wellness panel',
      notes: null,
      comments: null,
      sandbox: false,
      ...order,
    },
    paper: 'letter',
    panels: [{ name: 'Metabolic panel', results }],
    missingResults: [],
  }
}

test('a normal report fits on one page with laboratory, patient, specimen and order', async () => {
  const [page, ...others] = await draw(sample())
  assert.deepEqual(others, [])
  for (const text of [
    'Lantern Bay Laboratory',
    '1 Harbor Street, Fictionville',
    'CLIA 99D9999999 | Medical director: Ada Example, MD',
  ])
    find(page!, text)
  assert.deepEqual(row(page!, 'Testina Samplewoman'), ['Name', 'Testina Samplewoman', 'Specimen', 'LB-4217'])
  assert.deepEqual(row(page!, 'Date of birth'), ['Date of birth', 'Mar 14, 1985 (age 44)', 'Order', 'order-0001'])
  assert.deepEqual(row(page!, 'Gender'), ['Gender', 'Female', 'Collected', 'Jan 2, 2030 09:30 PST'])
  assert.deepEqual(row(page!, 'Patient ID'), ['Patient ID', 'P-17', 'Received', '-'])
  assert.deepEqual(row(page!, 'Ordered by'), ['Ordered by', 'Dr. Bob Placeholder', 'Reported', 'Jan 4, 2030 08:05 PST'])
  assert.deepEqual(row(page!, 'Test ordered'), ['Test ordered', 'Wellness panel', 'Fasting', 'Yes'])
  for (const text of ['FINAL REPORT', 'Page 1 of 1', 'End of report', '1 result']) find(page!, text)
})

test('a result is printed on one line under its columns, in laboratory notation', async () => {
  const results = [
    result('White cells', '6.1', { unit: '10*3/uL', reference_range: '3.8-10.8', loinc: '6690-2' }),
    result('TSH', '2.10', { unit: 'u[IU]/mL', reference_range: '≥ 0.40' }),
    result('β-hCG', '<5', { unit: null, reference_range: null }),
  ]
  const [page] = await draw(sample({}, results))
  assert.deepEqual(row(page!, 'TEST'), ['TEST', 'RESULT', 'FLAG', 'UNITS', 'REFERENCE INTERVAL'])
  assert.deepEqual(row(page!, 'White cells'), ['White cells', 'LOINC 6690-2', '6.1', '10^3/µL', '3.8-10.8'])
  assert.deepEqual(row(page!, 'TSH'), ['TSH', '2.10', 'µIU/mL', '≥ 0.40'])
  assert.deepEqual(row(page!, 'β-hCG'), ['β-hCG', '<5'])
  for (const [head, value] of Object.entries({ TEST: 'TSH', RESULT: '2.10', UNITS: 'µIU/mL', 'REFERENCE INTERVAL': '≥ 0.40' }))
    assert.equal(find(page!, head).x, find(page!, value).x)
})

test('abnormal results are bold and flagged, critical ones are labeled critical, and the key explains the flags', async () => {
  const results = [
    result('Normal one', '70'),
    result('High one', '120', { flag: 'H', interpretation: 'abnormal' }),
    result('Odd one', 'Positive', { interpretation: 'abnormal' }),
    result('Low one', '12', { flag: 'LL', interpretation: 'critical' }),
    result('Wild one', '999', { flag: 'PANIC', interpretation: 'critical' }),
    result('Bare one', '998', { interpretation: 'critical' }),
  ]
  const [page] = await draw(sample({}, results))
  assert.deepEqual(
    ['70', '120', 'Positive', '12', '999', '998'].map((value) => find(page!, value).font),
    ['Arimo-Regular', ...Array<string>(5).fill('Arimo-Bold')],
  )
  assert.deepEqual(row(page!, '120'), ['High one', '120', 'H', 'mg/dL', '65-99'])
  assert.equal(row(page!, 'Positive')[2], 'A')
  assert.equal(row(page!, '12')[2], 'LL CRITICAL')
  assert.equal(row(page!, '999')[2], 'PANIC')
  assert.equal(row(page!, '998')[2], 'CRITICAL')
  assert.deepEqual(row(page!, '6 results'), ['6 results', '·', '3 critical', '·', '2 abnormal'])
  const key = texts(page!).join(' ')
  for (const meaning of ['H = above the reference interval', 'LL = critically low', 'PANIC = critical'])
    assert.ok(key.includes(meaning))
})

test('sixty results fill several pages without a lost or split row, and each page has headings, page number and patient', async () => {
  const name = (index: number) => `Analyte number ${index} with a name that needs a second line`
  const results = Array.from({ length: 60 }, (_, index) => result(name(index), `${index}.5`, { notes: `Remark ${index}` }))
  const pages = await draw(sample({ status: 'corrected' }, results))
  assert.equal(pages.length, 5)
  for (const index of results.keys()) {
    const homes = pages.filter((page) => texts(page).includes(`${index}.5`))
    assert.equal(homes.length, 1)
    const { y } = find(homes[0]!, `${index}.5`)
    const beside = homes[0]!.filter((piece) => piece.x < 200 && piece.y > y - 2 && piece.y < y + 26)
    assert.equal(texts(beside).join(' '), `${name(index)} Remark ${index}`)
    assert.equal(beside.length, 3)
  }
  for (const [index, page] of pages.entries()) {
    for (const text of [
      'TEST',
      'REFERENCE INTERVAL',
      `Page ${index + 1} of 5`,
      'Specimen LB-4217 · Reported Jan 4, 2030 08:05 PST',
    ])
      find(page, text)
    assert.deepEqual(
      page.filter(({ y }) => y > 740).map(({ text }) => text.split(' · ')[0]),
      ['Testina Samplewoman', `Page ${index + 1} of 5`, 'Specimen LB-4217'],
    )
    if (index === 0) continue
    for (const text of ['Testina Samplewoman', 'Born Mar 14, 1985 · Female', 'Lantern Bay Laboratory', 'continued'])
      find(page, text)
    find(page, 'CORRECTED REPORT · Specimen LB-4217')
  }
})

test('the longest name is printed in full at the top of later pages', async () => {
  const name = 'Maximiliana-Alexandrina-Theodora-Wilhelmina-Testa Wolfeschlegelsteinhausenbergerdorff-Fictional-Test'
  const report = sample(
    {},
    Array.from({ length: 60 }, (_, index) => result(`Analyte ${index}`, '1')),
  )
  const [, second] = await draw({ ...report, patient: { ...report.patient, name } })
  const top = second!.filter(({ x, y }) => y < 80 && x < 300)
  assert.match(texts(top).join('').replaceAll(' ', ''), new RegExp(`^${name.replace(' ', '')}BornMar14,1985`))
})

test('a heading is never the last line of a page', async () => {
  for (let rows = 20; rows < 28; rows++) {
    const report = sample(
      {},
      Array.from({ length: rows }, (_, index) => result(`Analyte ${index}`, `${index}.5`)),
    )
    report.panels.push({ name: 'Second panel', results: [result('First of second', '1.25')] })
    const home = (await draw(report)).find((page) => texts(page).includes('Second panel'))
    find(home!, 'First of second')
  }
})

test('a partial report is labeled as partial and lists tests not performed with their reasons', async () => {
  const report = sample({ status: 'partial', notes: 'Arrived warm.\nHandled at once.' })
  report.missingResults = [{ name: 'Hemoglobin A1c', reason: 'Quantity not sufficient' }]
  const [page] = await draw(report)
  for (const text of ['PARTIAL REPORT', 'Further results are pending.', 'Tests not performed', 'Notes']) find(page!, text)
  assert.deepEqual(row(page!, 'Hemoglobin A1c'), ['Hemoglobin A1c', 'Quantity not sufficient'])
  for (const text of ['1 not performed', 'Arrived warm.', 'Handled at once.']) find(page!, text)
})

test('a report with missing tests only can be printed', async () => {
  const report = sample({ receivedAt: 'this morning', fasting: null, physician: null }, [])
  report.lab = { ...report.lab, accreditation: '', medical_director: null }
  report.patient.patient_id = null
  report.missingResults = [{ name: 'Glucose', reason: 'Specimen lost' }]
  const [page] = await draw(report)
  assert.deepEqual(row(page!, 'Glucose'), ['Glucose', 'Specimen lost'])
  assert.ok(!texts(page!).includes('Metabolic panel'))
})

test('every page of a sandbox report says that it is not for clinical use, and no page of a production report does', async () => {
  const results = Array.from({ length: 60 }, (_, index) => result(`Analyte ${index}`, `${index}.5`))
  const warned = (pages: Piece[][]) => pages.map((page) => texts(page).includes('Sandbox: generated data, not for clinical use'))
  assert.deepEqual(warned(await draw(sample({ sandbox: true }, results))), [true, true, true])
  assert.deepEqual(warned(await draw(sample({ sandbox: false }, results))), [false, false, false])
})

test('a text result uses the free width to its right, or continues below its line without free width', async () => {
  const words = 'No pathogenic variant was detected in the genes that were tested by this method. '.repeat(3).trim()
  const [free] = await draw(sample({}, [result('Genes', words, { unit: null, reference_range: null, notes: words })]))
  assert.equal(texts(free!.filter(({ text }) => /variant|pathogenic/.test(text))).join(' '), words)
  const [tight] = await draw(sample({}, [result('Genes', words, { flag: 'A', interpretation: 'abnormal' })]))
  assert.deepEqual(row(tight!, 'Genes'), ['Genes', 'see below', 'A', 'mg/dL', '65-99'])
  assert.equal(
    texts(tight!.filter(({ text }) => text.includes('variant')))
      .join(' ')
      .slice(0, 90),
    words.slice(0, 90),
  )
})

test('no text exceeds the page, however long each field is', async () => {
  const wide = 'W'.repeat(20_000)
  const most: Result = {
    ...result(wide, wide),
    unit: wide,
    reference_range: wide,
    flag: wide,
    interpretation: 'critical',
    notes: `${wide}!`,
  }
  const report = sample(
    { specimen_number: wide, order_id: wide, physician: wide, test_name: wide, notes: 'word\n'.repeat(9000) },
    [
      { ...most, loinc: wide },
      most,
      { ...most, result: 'line\n'.repeat(9000), unit: null, reference_range: null, flag: '', interpretation: 'normal' },
    ],
  )
  report.lab = { name: wide, address: 'street\n'.repeat(50), accreditation: wide, medical_director: wide }
  report.patient = { name: wide, dob: wide, age: wide, gender: wide, patient_id: wide }
  report.missingResults = [{ name: wide, reason: wide }]
  const pages = await draw(report)
  assert.ok(pages.length < 10)
  const bodies = pages.flatMap((page) => page.filter(({ text }) => !/^(Page|Specimen|W+…$)/.test(text)))
  assert.ok(bodies.every(({ x, y }) => x >= 42 && x <= 570 && y >= 40 && y <= 738))
  assert.equal(bodies.filter(({ text }) => text.endsWith(TRUNCATION_NOTICE)).length, 7)
})

test('rendering rejects more results, panels or missing tests than the limits', async () => {
  const none = sample({}, [])
  const many = sample(
    {},
    Array.from({ length: 2001 }, () => result('Glucose', '88')),
  )
  await assert.rejects(renderReport(many), { name: 'RangeError', message: 'a report holds at most 2000 results' })
  const panels = Array.from({ length: 2001 }, () => ({ name: 'Empty', results: [] }))
  await assert.rejects(renderReport({ ...none, panels }), { message: 'a report holds at most 2000 panels' })
  const missingResults = Array.from({ length: 501 }, () => ({ name: 'Glucose', reason: 'lost' }))
  await assert.rejects(renderReport({ ...none, missingResults }), { message: 'a report holds at most 500 missing tests' })
})

test('the largest report prints each of its results', async () => {
  const results = Array.from({ length: 2000 }, (_, index) => result(`Analyte ${index}`, `${index}.5`))
  const pages = await draw(sample({}, results))
  const printed = new Set(pages.flatMap(texts))
  assert.ok(results.every((result) => printed.has(result.name) && printed.has(result.result)))
})

test('rendering is deterministic: the same report gives the same bytes, and another report date gives others', async () => {
  const [one, same, later] = await Promise.all([
    renderReport(sample()),
    renderReport(sample()),
    renderReport(sample({ reportedAt: '2030-01-05' })),
  ])
  assert.deepEqual(one, same)
  assert.notDeepEqual(one, later)
})

test('the document properties name the specimen and the report date, not the patient', async () => {
  const raw = Buffer.from(await renderReport(sample(), { compress: false })).toString('latin1')
  assert.ok(raw.includes('(Laboratory report LB-4217)'))
  assert.ok(raw.includes('(D:20300104160500Z)'))
  assert.doesNotMatch(raw, /Testina|Samplewoman|1985|P-17/)
})

test('a worker thread renders the same document as the main thread', async () => {
  const pool = createWorkerPool()
  const bytes = await pool.run<Uint8Array>(new URL('./report-pdf.task.ts', import.meta.url), sample())
  await pool.close()
  assert.deepEqual(bytes, await renderReport(sample()))
})
