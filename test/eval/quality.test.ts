// How well text PDFs of the corpus are read, all of it: a change of the parser that loses rows fails here. Of scans and photos,
// which take minutes, it reads the words that were recognized in some, and recognizes one small scan.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { composeDocument } from '../../eval/corpus/compose/document.ts'
import { createFiles } from '../../eval/corpus/kinds.ts'
import { layouts } from '../../eval/corpus/layouts/all.ts'
import { printedDocuments } from '../../eval/corpus/printed/all.ts'
import { writtenDocuments } from '../../eval/corpus/written/all.ts'
import { evaluate } from '../../eval/evaluate.ts'
import {
  addFigures,
  compareReport,
  metadataShare,
  noFigures,
  ratio,
  rowScores,
  wholeRowScores,
  type Figures,
  type Share,
} from '../../eval/metrics.ts'
import { shippedTerm } from '../../src/lab-reports/loinc/terms.ts'
import { engine } from '../../src/lab-reports/ocr/engine.ts'
import { pictureOf } from '../../src/lab-reports/ocr/picture.ts'
import { uprightPage } from '../../src/lab-reports/ocr/read-picture.ts'
import { withDocument } from '../../src/lab-reports/pages/pdf.ts'
import { drawPage } from '../../src/lab-reports/pages/pictures.ts'
import type { PageText } from '../../src/lab-reports/pages/page.ts'
import { readReport, understand } from '../../src/lab-reports/reading/read-report.ts'
import { createCorpusDocument } from '../support/corpus-documents.ts'

/** Pages as they were recognized on 28 November 2026, by the report and the kind of its file. */
const RECOGNIZED = new URL('../../eval/corpus/printed/data/recognized/', import.meta.url)

const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0)

const shareOf = ({ right, total }: Share): number => ratio(right, total)

function describe({ caughtShare, doubtedShare, sure, ...figures }: Figures): string {
  const parts = {
    whole: wholeRowScores(figures as Figures).f1,
    caught: shareOf(caughtShare),
    doubted: shareOf(doubtedShare),
    sure: shareOf(sure),
  }
  return Object.entries(parts)
    .map(([name, value]) => `${name} ${value.toFixed(3)}`)
    .join(', ')
}

test('whole rows of printed reports are read as well as promised, and nearly all wrong rows are caught', async (t) => {
  const { byKind } = await evaluate(readReport, {
    layouts: printedDocuments,
    kinds: ['text'],
    seed: 1,
    limit: 1,
    isInTable: (code) => shippedTerm(code) !== undefined,
  })
  const figures = byKind.get('text')!
  t.diagnostic(describe(figures))
  assert(figures.rows.expected > 1_500)
  assert(wholeRowScores(figures).f1 >= 0.985 && shareOf(figures.sure) >= 0.99, describe(figures))
  // Of about ten rows that are wrong.
  assert(shareOf(figures.caughtShare) >= 0.7 && shareOf(figures.doubtedShare) <= 0.05, describe(figures))
})

test('every row of tables side by side is read, for any heights of their lines, and under the heading of its own table', async () => {
  for (const { name, pdf, truth } of printedDocuments.filter((document) => document.name.startsWith('beside'))) {
    const { results } = await readReport([{ bytes: pdf, type: 'application/pdf' }])
    const read = new Set(results.map(({ test_name, value, source_panel_name }) => `${source_panel_name}: ${test_name} ${value}`))
    const lost = truth.results.filter((row) => !read.has(`${row.source_panel_name}: ${row.test_name} ${row.value}`))
    assert.deepEqual(lost, [], name)
  }
})

test('rows of everyday tables are read from the words that were recognized in scans and photos, and no certain row is wrong', (t) => {
  const figuresOfAll = noFigures()
  for (const file of globSync('*.json', { cwd: RECOGNIZED })) {
    const { truth } = printedDocuments.find(({ name }) => file.startsWith(name))!
    const pages = JSON.parse(readFileSync(new URL(file, RECOGNIZED), 'utf8')) as PageText[]
    const { figures } = compareReport(truth, understand(pages), (code) => shippedTerm(code) !== undefined)
    t.diagnostic(`${file}: ${describe(figures)}`)
    assert(wholeRowScores(figures).f1 >= 0.95 && shareOf(figures.sure) === 1, `${file}: ${describe(figures)}`)
    addFigures(figuresOfAll, figures)
  }
  assert(figuresOfAll.rows.expected > 70)
})

test('a small scan is recognized, and each of its rows is right', async (t) => {
  const before = process.cpuUsage()
  const { byKind } = await evaluate(readReport, {
    layouts: printedDocuments.filter((document) => document.name === 'browser-18'),
    kinds: ['scan'],
    seed: 1,
    limit: 1,
    isInTable: (code) => shippedTerm(code) !== undefined,
  })
  const figures = byKind.get('scan')!
  const { user, system } = process.cpuUsage(before)
  t.diagnostic(`${describe(figures)}, ${((user + system) / 1e6).toFixed(1)} s of processor time`)
  assert.equal(figures.rows.expected, 10)
  assert.equal(wholeRowScores(figures).f1, 1, describe(figures))
})

test('rows, LOINC codes and metadata of the text PDFs of the corpus are read at least as well as promised', async (t) => {
  const { byKind } = await evaluate(readReport, {
    layouts: [...layouts, ...writtenDocuments],
    kinds: ['text'],
    seed: 1,
    limit: 1,
    isInTable: (code) => shippedTerm(code) !== undefined,
    documentOf: createCorpusDocument,
  })
  const figures = byKind.get('text')!
  const metadata = metadataShare(figures)
  const { f1 } = rowScores(figures)
  const loinc = ratio(figures.loinc.right, figures.loinc.total)
  t.diagnostic(`F1 ${f1.toFixed(3)}, LOINC ${loinc.toFixed(3)}, metadata ${ratio(metadata.right, metadata.total).toFixed(3)}`)
  assert.equal(figures.failures, 0)
  assert(figures.rows.expected > 1_500 && figures.loinc.total > 1_000)
  assert(f1 >= 0.99, `F1 ${f1}`)
  assert(loinc >= 0.97, `LOINC ${loinc}`)
  // What may be matched without a person is right nearly always, and what asks for one is right less often.
  const [doubtful, likely] = [figures.scores.slice(0, 2), figures.scores.slice(4)].map((scores) =>
    ratio(sum(scores.map(({ right }) => right)), sum(scores.map(({ total }) => total))),
  )
  assert(likely! >= 0.97 && doubtful! < 0.8, `${likely} of likely and ${doubtful} of doubtful codes are right`)
  assert(ratio(metadata.right, metadata.total) >= 0.95, 'metadata')
  t.diagnostic(describe(figures))
  assert(wholeRowScores(figures).f1 >= 0.985 && shareOf(figures.sure) >= 0.99, describe(figures))
  // Of about ten rows that are wrong; of those that are doubted, half are names whose LOINC term is doubtful.
  assert(shareOf(figures.caughtShare) >= 0.65 && shareOf(figures.doubtedShare) <= 0.1, describe(figures))
})

test('a scanned page that lies on its side is turned the right way up, however close its lines', async () => {
  const document = composeDocument(
    layouts.find(({ name }) => name === 'gb-practice-summary')!,
    1,
  )
  const [file] = await createFiles(document, 'scan')
  const { canvas } = await withDocument(file!.bytes, async (pdf) => drawPage(await pdf.getPage(1)))
  const { picture, lines } = await uprightPage(await engine(undefined), pictureOf(canvas))
  assert(canvas.width > canvas.height && picture.width < picture.height)
  // On a page that stands on its head, the first line would be the last one.
  const [first] = lines.toSorted((a, b) => a.y - b.y)
  const { letters } = await first!.read()
  assert.match(letters.map(({ text }) => text).join(''), /^Fauxbury ?Surgery/)
})
