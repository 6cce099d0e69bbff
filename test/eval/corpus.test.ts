// The corpus of the evaluation: every document says what its truth says.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { loadImage } from '@napi-rs/canvas'
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { analytes } from '../../eval/corpus/analytes.ts'
import { composeDocument, type Document } from '../../eval/corpus/compose/document.ts'
import { createFiles, createFilesOfPrinted, kinds, kindsOfPrinted } from '../../eval/corpus/kinds.ts'
import { layouts } from '../../eval/corpus/layouts/all.ts'
import { printedDocuments } from '../../eval/corpus/printed/all.ts'
import { writtenDocuments } from '../../eval/corpus/written/all.ts'
import { heldOutNames } from '../../eval/corpus/layouts/held-out.ts'
import { createScanSettings } from '../../eval/corpus/pictures/scan.ts'
import { createRandom } from '../../eval/corpus/random.ts'
import { createCorpusDocument } from '../support/corpus-documents.ts'

/** Without spaces; of the two signs for micro, readers return either. */
const compact = (text: string) => text.replace(/\s+/g, '').replaceAll('μ', 'µ')

/** Text of a PDF page by page, in the order of the file, without spaces. */
async function textOf(bytes: Uint8Array): Promise<string[]> {
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0 })
  const pdf = await task.promise
  const pages = await Promise.all(
    Array.from({ length: pdf.numPages }, async (_, i) => {
      const { items } = await (await pdf.getPage(i + 1)).getTextContent()
      return compact(items.map((item) => ('str' in item ? item.str : '')).join(''))
    }),
  )
  await task.destroy()
  return pages
}

const isInReadingOrder = ({ layout: { emission = {} } }: Document) => emission.order === undefined || emission.order === 'reading'

const all = [...layouts, ...writtenDocuments]

for (const layout of all)
  test(`layout ${layout.name}: the text of the PDF holds every true value`, async () => {
    const { document, files } = await createCorpusDocument(layout, 'text', 1)
    const { truth, width, height, pages } = document
    assert(truth.results.length >= 2, `${truth.results.length} results`)
    for (const { texts } of pages)
      for (const { text, x, y, width: wide } of texts)
        assert(
          x >= 0 && x + wide <= width + 1 && y > 0 && y <= height,
          `${JSON.stringify(text)} is on the page: ${x} + ${wide} of ${width}, ${y}`,
        )
    const text = await textOf(files[0]!.bytes)
    assert.equal(text.length, pages.length)
    // The pieces of one name may be far apart in the file; that the file has all letters of the marks is compared below.
    const onPages = isInReadingOrder(document) ? text : pages.map(({ texts }) => compact(texts.map((mark) => mark.text).join('')))
    const whole = onPages.join('')
    for (const { test_name, value, units, box } of truth.results) {
      assert(whole.includes(compact(value)), `${test_name}: value ${value}`)
      // A name may go on in the next line, or begin in the heading above.
      assert(
        test_name.split(/\s+/u).every((word) => whole.includes(compact(word))),
        `${test_name}: name`,
      )
      // Raised digits of the page are powers in the truth: `10^9`.
      if (units) assert(whole.replaceAll('^', '').includes(compact(units).replaceAll('^', '')), `${test_name}: units ${units}`)
      if (box) assert(onPages[box.page - 1]!.includes(compact(value)), `${test_name}: page of ${value}`)
    }
    const letters = (texts: string[]) => texts.join('').split('').sort().join('')
    const watermarks = pages.map(() => compact(layout.watermark ?? ''))
    assert.equal(
      letters(text),
      letters([...pages.map(({ texts }) => compact(texts.map((mark) => mark.text).join(''))), ...watermarks]),
    )
    for (const field of ['specimen_number', 'patient_last_name', 'patient_first_name'] as const) {
      const expected = truth.metadata[field]
      if (expected) assert(whole.replaceAll('İ', 'I').toLowerCase().includes(compact(expected).toLowerCase()), field)
    }
  })

test('the text of each printed report holds every true value, and each is small', async () => {
  assert(printedDocuments.length >= 50)
  for (const { name, truth, pdf } of printedDocuments) {
    assert(truth.results.length >= 2, `${name}: ${truth.results.length} results`)
    assert(pdf.length <= 100_000, `${name}: ${pdf.length} bytes`)
    const pages = await textOf(pdf)
    const whole = pages.join('')
    // Raised digits of the page are powers in the truth: `10^9`.
    const flat = whole.replaceAll('^', '')
    for (const { test_name, value, units } of truth.results) {
      for (const text of [value, ...test_name.split(/\s+/u)])
        assert(whole.includes(compact(text)), `${name}: ${text} of ${test_name}`)
      assert(flat.includes(compact(units ?? '').replaceAll('^', '')), `${name}: units ${units} of ${test_name}`)
    }
    const { patient_first_name, patient_last_name, specimen_number } = truth.metadata
    const particulars = [patient_first_name, patient_last_name, specimen_number].filter((text) => text !== null)
    for (const text of particulars.join(' ').split(' '))
      assert(whole.toLowerCase().includes(compact(text).toLowerCase()), `${name}: ${text}`)
  }
})

test('a printed report becomes a scan, a photo and a mixed file, and the text stays only where it is text', async () => {
  const [report] = printedDocuments
  const pageCount = (await textOf(report!.pdf)).length
  for (const kind of kindsOfPrinted) {
    const files = await createFilesOfPrinted(report!, kind)
    if (kind === 'photo') {
      assert.deepEqual(
        files.map(({ type }) => type),
        Array.from({ length: pageCount }, () => 'image/jpeg'),
      )
      continue
    }
    const pages = await textOf(files[0]!.bytes)
    assert.equal(pages.length, pageCount + (kind === 'mixed' ? 1 : 0), kind)
    assert.equal(pages.at(-1) === '', kind !== 'text', kind)
  }
})

test('the same seed makes the same bytes, another one other values', async () => {
  const [layout] = layouts
  const bytes = async (seed: number) => Buffer.from((await createFiles(composeDocument(layout!, seed), 'text'))[0]!.bytes)
  assert((await bytes(1)).equals(await bytes(1)))
  assert(!(await bytes(1)).equals(await bytes(2)))
  assert.notDeepEqual(composeDocument(layout!, 1).truth, composeDocument(layout!, 2).truth)
})

for (const kind of kinds)
  test(`kind ${kind}: the files have one picture or page for each page, and no text where the parser has to look at pictures`, async () => {
    const document = composeDocument(
      layouts.find(({ name }) => name === 'us-monospace-fax')!,
      1,
    )
    const files = await createFiles(document, kind)
    if (kind === 'photo') {
      const again = await createFiles(document, kind)
      assert(
        files.every(({ bytes }, i) => Buffer.from(bytes).equals(again[i]!.bytes)),
        'the same arguments make the same bytes',
      )
      assert.equal(files.length, document.pages.length)
      for (const { bytes, type } of files) {
        assert.equal(type, 'image/jpeg')
        assert((await loadImage(Buffer.from(bytes))).width > 1000)
      }
      return
    }
    assert.deepEqual(
      files.map(({ type }) => type),
      ['application/pdf'],
    )
    const text = await textOf(files[0]!.bytes)
    const { value } = document.truth.results.find((row) => row.value.length > 3)!
    if (kind === 'text') assert(text.join('').includes(value))
    else assert(!text.join('').includes(value))
    // The single page of this layout gets a cover.
    assert.equal(text.length, document.pages.length + (kind === 'mixed' ? 1 : 0))
    if (kind === 'scan') assert.equal(text.join(''), '')
    if (kind === 'mixed')
      assert.deepEqual(
        text.map((page) => page !== ''),
        [true, false],
      )
    if (kind === 'garbage') {
      assert(text.join('').length > 200)
      for (const { test_name } of document.truth.results) assert(!text.join('').includes(test_name), test_name)
    }
  })

test('the pictures of many seeds are turned, faxed and stained in turn', () => {
  const settings = Array.from({ length: 200 }, (_, seed) => createScanSettings(createRandom(`settings ${seed}`)))
  for (const rotation of [0, 90, 180, 270])
    assert(
      settings.some((setting) => setting.rotation === rotation),
      `${rotation} degrees`,
    )
  for (const fax of ['standard', 'fine', undefined])
    assert(
      settings.some((setting) => setting.fax === fax),
      `fax ${fax}`,
    )
  assert(settings.some(({ hasStains }) => hasStains) && settings.some(({ hasStains }) => !hasStains))
  assert(settings.every(({ skewMax_degrees }) => skewMax_degrees <= 3))
})

test('layouts have names of their own', () => {
  const names = [...all, ...printedDocuments].map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
})

test('a sixth to a third of the layouts is held out, and all of them exist', () => {
  for (const name of heldOutNames)
    assert(
      [...all, ...printedDocuments].some((layout) => layout.name === name),
      name,
    )
  const share = heldOutNames.size / (all.length + printedDocuments.length)
  assert(share >= 0.16 && share <= 0.34, `${share}`)
})

/** The last digit of a LOINC code, by Luhn's formula. */
function checkDigit(code: string): number {
  const digits = [...code.split('-')[0]!].reverse().map(Number)
  const sum = digits.reduce((total, digit, i) => total + (i % 2 ? digit : digit * 2 > 9 ? digit * 2 - 9 : digit * 2), 0)
  return (10 - (sum % 10)) % 10
}

const codes = [...analytes.values()].flatMap((analyte) =>
  (analyte.kind === 'words' ? analyte.codes : [...analyte.conventional.codes, ...analyte.si.codes]).map((code) => ({
    key: analyte.key,
    code,
  })),
)

test('every LOINC code of the corpus has its check digit', () => {
  assert(analytes.size >= 150, `${analytes.size} analytes`)
  for (const { key, code } of codes) assert.equal(Number(code.split('-')[1]), checkDigit(code), `${key}: ${code}`)
})

const loinc = new URL('../../../shared/loinc/loinc_code_component_93600.csv', import.meta.url)

test(
  'every LOINC code of the corpus exists',
  { skip: !existsSync(loinc) && 'the list of LOINC codes is not beside the repository' },
  () => {
    const known = new Set(
      readFileSync(loinc, 'utf8')
        .split('\n')
        .map((line) => line.split(',')[0]),
    )
    // Younger than the list.
    const younger = new Set(['98979-8'])
    for (const { key, code } of codes) assert(known.has(code) || younger.has(code), `${key}: ${code}`)
  },
)

test('the fonts of the corpus are the fonts of pdfjs-dist', () => {
  assert(existsSync(createRequire(import.meta.url).resolve('pdfjs-dist/standard_fonts/LiberationSans-Regular.ttf')))
})
