// `report explain` on files, without a server and a database.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadImage } from '@napi-rs/canvas'
import type { Explanation } from '../../lab-reports/reading/explain.ts'
import { createProcessPool } from '../../platform/runtime/process-pool.ts'
import { glucoseReport, pdfOf, reportPage } from '../../../test/support/uploaded-reports.ts'
import { root, start, stopAll } from '../../../test/support/program.ts'
import { explainReport, textOf } from './report.ts'

const directory = await mkdtemp(join(tmpdir(), 'explain-'))
after(() => rm(directory, { recursive: true }))
after(stopAll)
/** The first report that a process reads costs 2 s of a processor. */
const processes = createProcessPool({ processes_max: 1, memory_max_mb: 704, cpu_s_max: 600 })
after(() => processes.close())

async function writeReport(name: string, bytes: Uint8Array): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, bytes)
  return path
}

async function explain(path: string, values: { out?: string; json?: boolean } = {}) {
  let printed = ''
  const print = async (text: string) => void (printed += text)
  const failure = await explainReport({ args: [path], values }, { ocr_models: undefined, print, processes }).then(
    () => undefined,
    (error: Error) => error.message,
  )
  return { printed, failure }
}

test('every stage of a report is printed, and its boxes are drawn into a picture of each page', async () => {
  const path = await writeReport('report.pdf', await glucoseReport())
  const out = join(directory, 'pictures')
  const { printed, failure } = await explain(path, { out })
  assert.equal(failure, undefined)
  for (const line of [
    /^PAGES\n {2}1 {2}612 x 792, text, text good, \d+ words$/m,
    /^ {2}1\.\d+ {2}Glucose \| 105 \| H \| mg\/dL \| 70-99$/m,
    /^ {2}1\.\d+ {2}1 lines, name 40-\d+, value 220-\d+, flag 290-\d+, unit 340-\d+, range 430-\d+$/m,
    /^ {2}1\.1 {2}Glucose = 105, unit mg\/dL, range 70-99, flag high, panel [^,]+, confidence 1\.00$/m,
    /^ {2}1 {2}Glucose: auto_match; 2345-7 0\.\d\d Glucose/m,
    /^FINDINGS\n {2}none$/m,
    /^ {2}patient_last_name {3}Person$/m,
    /^ {2}1 {2}Glucose = 105 mg\/dL, numeric, range 70 to 99, abnormal$/m,
    /^OUTCOME\n {2}completed: 1 results\n {2}English\n {2}numbers with decimal points$/m,
  ])
    assert.match(printed, line)
  assert.deepEqual(await readdir(out), ['report-page-1.png'])
  const { width, height } = await loadImage(await readFile(join(out, 'report-page-1.png')))
  assert.deepEqual([width, height], [1700, 2200])
})

test('the printed rows are the rows of the results: with their specimen, and without the laboratory as a panel', async () => {
  const page = [{ x: 40, y: 112, text: 'Specimen Type: Urine' }, ...reportPage(['Creatinine', '85', '', 'mg/dL', '20-320'])]
  const { printed } = await explain(await writeReport('urine.pdf', await pdfOf(page)), { json: true })
  const { pages, results } = JSON.parse(printed) as Explanation
  const rows = pages.flatMap((page) => page.rows)
  assert.deepEqual(
    rows.map(({ name, value, panel }) => [name, value, panel]),
    results.map(({ test_name, value, source_panel_name }) => [test_name, value, source_panel_name]),
  )
  assert.deepEqual([results[0]!.specimen, results[0]!.sample_type], ['Urine', 'urine'])
})

test('comments on a result are printed with its row', async () => {
  const rows = [['Glucose', '105', 'H', 'mg/dL', '70-99'], ['Comment: not fasting'], ['Sodium', '140', '', 'mmol/L', '136-145']]
  const { printed } = await explain(await writeReport('comment.pdf', await pdfOf(reportPage(...rows))))
  assert.match(printed, /^ {2}1\.1 {2}Glucose = 105, .*, confidence 1\.00, comment not fasting$/m)
  assert.match(printed, /^ {2}1\.2 {2}Sodium = 140, .*, confidence 1\.00$/m)
})

test('files that cannot be opened are refused', async () => {
  const refused = async (path: string) => (await explain(path)).failure
  assert.equal(await refused(join(directory, 'nowhere.pdf')), 'The file cannot be read (ENOENT).')
  assert.equal(await refused(await writeReport('text.pdf', Buffer.from('Glucose 95'))), 'The file is not a PDF, JPEG or PNG.')
  assert.match((await refused(await writeReport('damaged.pdf', Buffer.from('%PDF-1.4'))))!, /cannot be read: corrupt/)
})

test('JSON output has all stages, and text output has no control characters for a terminal', async () => {
  const { printed, failure } = await explain(await writeReport('good.pdf', await glucoseReport()), { json: true })
  assert.equal(failure, undefined)
  const explanation = JSON.parse(printed) as Explanation
  const { pages, results } = explanation
  assert.deepEqual([pages.length, pages[0]!.rows[0]!.name, results[0]!.value, explanation.failure], [1, 'Glucose', '105', null])
  assert(pages[0]!.words.length > 10 && pages[0]!.lines.length > 5)
  explanation.metadata.lab_name = 'Fictional\u001b[2J\u009b'
  // oxlint-disable-next-line no-control-regex -- these control a terminal
  assert.doesNotMatch(textOf(explanation), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
})

// That it ends with 0 for a report that is read is seen where the blocks of docs/REPORTS.md are run (test/docs/pages.test.ts).
test('a process prints what it read and exits with 1 for a file with which a job fails', async () => {
  const letter = await pdfOf([{ x: 40, y: 40, text: 'A letter of a fictional person to another fictional person.' }])
  const args = ['report', 'explain', await writeReport('letter.pdf', letter)]
  const { stdout, err, exitStatus } = start({ program: join(root, 'bin/drawbridge'), args })
  assert.deepEqual([await exitStatus, err()], [1, 'drawbridge: A job with this file fails with invalid_input.\n'])
  assert.match(stdout(), /A letter of a fictional person[^]*OUTCOME\n {2}invalid_input/)
})
