// How well text PDFs of the corpus are read, all of it: a change of the parser that loses rows fails here. Scans and photos take minutes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { layouts } from '../../eval/corpus/layouts/all.ts'
import { written } from '../../eval/corpus/written/all.ts'
import { evaluate } from '../../eval/evaluate.ts'
import { metadataShare, ratio, rowScores } from '../../eval/metrics.ts'
import { shippedTerm } from '../../src/lab-reports/loinc/terms.ts'
import { readReport } from '../../src/lab-reports/reading/read-report.ts'

const sum = (numbers: number[]): number => numbers.reduce((one, other) => one + other, 0)

test('rows, LOINC codes and metadata of the text PDFs of the corpus are read at least as well as promised', async (t) => {
  const { byKind } = await evaluate(readReport, {
    layouts: [...layouts, ...written],
    kinds: ['text'],
    seed: 1,
    limit: 1,
    isInTable: (code) => shippedTerm(code) !== undefined,
  })
  const figures = byKind.get('text')!
  const metadata = metadataShare(figures)
  const { f1 } = rowScores(figures)
  const loinc = ratio(figures.loinc.right, figures.loinc.total)
  t.diagnostic(`F1 ${f1.toFixed(3)}, LOINC ${loinc.toFixed(3)}, metadata ${ratio(metadata.right, metadata.total).toFixed(3)}`)
  assert.equal(figures.failed, 0)
  assert(figures.rows.expected > 1_500 && figures.loinc.total > 1_000)
  assert(f1 >= 0.97, `F1 ${f1}`)
  assert(loinc >= 0.93, `LOINC ${loinc}`)
  // What may be matched without a person is right nearly always, and what asks for one is right less often.
  const [doubtful, likely] = [figures.scores.slice(0, 2), figures.scores.slice(4)].map((of) =>
    ratio(sum(of.map(({ right }) => right)), sum(of.map(({ total }) => total))),
  )
  assert(likely! >= 0.97 && doubtful! < 0.7, `${likely} of likely and ${doubtful} of doubtful codes are right`)
  assert(ratio(metadata.right, metadata.total) >= 0.95, 'metadata')
})

test('a scanned page that lies on its side is read the right way up, however close its lines', async () => {
  const { byKind } = await evaluate(readReport, {
    layouts: layouts.filter(({ name }) => name === 'gb-practice-summary'),
    kinds: ['scan'],
    seed: 1,
    limit: 1,
    isInTable: () => true,
  })
  const { failed, rows } = byKind.get('scan')!
  assert.equal(failed, 0)
  assert(rows.expected > 10 && rows.matched > 0.9 * rows.expected, `${rows.matched} of ${rows.expected} rows`)
})
