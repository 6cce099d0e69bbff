// `report explain`: what each stage of reading makes of a file, without a server.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { UsageError, type Typed } from '../command-tree.ts'
import { COMBINED_BYTES_MAX, fileType } from '../../lab-reports/parsing-jobs/upload.ts'
import type { Explained, ExplainedPage, ExplainOptions, Explanation } from '../../lab-reports/reading/explain.ts'
import type { ReportFile } from '../../lab-reports/reading/read-report.ts'
import type { ReportResult } from '../../lab-reports/reading/result.ts'
import { createProcessPool } from '../../platform/runtime/process-pool.ts'
import { WorkerLimitExceeded, type WorkerPool } from '../../platform/runtime/worker-pool.ts'

const reportTask = new URL('../../lab-reports/reading/report.task.ts', import.meta.url)
const READ_MS_MAX = 600_000
const MEMORY_MB_MAX = 2048
/** Pictures of 30 pages. */
const REPLY_MB_MAX = 512

export interface ReportContext {
  /** `REPORT_OCR_MODELS`: a file is read as a job reads it. */
  ocr_models: string | undefined
  print: (text: string) => Promise<void>
  /** Processes that live on; otherwise the file is read in one of its own. */
  processes?: WorkerPool
}

/**
 * Prints what each stage makes of a file, as text or as JSON, and draws its boxes into pictures of the pages, if there is a folder for them.
 * Errors: UsageError; Error for a file that cannot be opened, and after everything is printed for one with which a job would fail.
 */
export async function explainReport(
  { args, values }: Typed<{ out?: string; json?: boolean }>,
  { ocr_models, print, processes }: ReportContext,
): Promise<void> {
  const [path] = args
  if (path === undefined) throw new UsageError('report explain needs a file.')
  const file = await openReport(path)
  const { explanation, pictures } = await run(file, { draws: values.out !== undefined, ocr_models }, processes)
  await print(values.json ? `${JSON.stringify(explanation, null, 2)}\n` : textOf(explanation))
  if (values.out !== undefined) {
    await mkdir(values.out, { recursive: true })
    for (const [index, picture] of pictures.entries())
      await writeFile(join(values.out, `${basename(path, extname(path))}-page-${index + 1}.png`), picture)
  }
  if (explanation.failure) throw new Error(`A job with this file fails with ${explanation.failure}.`)
}

async function openReport(path: string): Promise<ReportFile> {
  const cannot = (error: NodeJS.ErrnoException) => {
    throw new Error(`The file cannot be read (${error.code ?? error.name}).`)
  }
  const { size } = await stat(path).catch(cannot)
  if (size > COMBINED_BYTES_MAX) throw new Error('The file has more than 30 MiB.')
  const bytes = new Uint8Array(await readFile(path).catch(cannot))
  const type = fileType(bytes)
  if (!type) throw new Error('The file is not a PDF, JPEG or PNG.')
  return { bytes, type }
}

async function run(file: ReportFile, options: ExplainOptions, processes?: WorkerPool): Promise<Explained> {
  const limits = { memory_max_mb: MEMORY_MB_MAX, cpu_s_max: READ_MS_MAX / 1000, reply_max_mb: REPLY_MB_MAX }
  const reads = options.ocr_models === undefined ? [] : [options.ocr_models]
  const pool = processes ?? createProcessPool({ processes_max: 1, ...limits, reads })
  try {
    return await pool.run<Explained>(reportTask, { file, ...options }, { name: 'explainFile', timeout_ms: READ_MS_MAX })
  } catch (error) {
    if (error instanceof WorkerLimitExceeded)
      throw new Error('The file takes more than ten minutes or 2 GB to read, or ends what reads it.')
    throw error
  } finally {
    if (!processes) await pool.close()
  }
}

/** Texts of files go to a terminal: without characters that control it. */
const replaceControls = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\u{FFFD}')
const orNone = (text: string | number | null): string => (text === null ? '-' : replaceControls(String(text)))
const section = (title: string, lines: readonly string[]): string =>
  `${title}\n${(lines.length ? lines : ['none']).map((line) => `  ${line}\n`).join('')}\n`

/** The stages as text. */
export function textOf({ pages, is_english, has_decimal_commas, metadata, results, findings, failure }: Explanation): string {
  return [
    section(
      'PAGES',
      pages.map(
        ({ number, width, height, source, text_quality, words }) =>
          `${number}  ${Math.round(width)} x ${Math.round(height)}, ${source}, text ${text_quality}, ${words.length} words`,
      ),
    ),
    section('LINES', pages.flatMap(linesText)),
    section('COLUMNS', pages.flatMap(columnsText)),
    section('ROWS', pages.flatMap(rowsText)),
    section('LOINC', results.map(loincText)),
    section('FINDINGS', [
      ...results.flatMap((result, index) =>
        result.findings.map(({ kind, text }) => `${index + 1}  ${kind}: ${replaceControls(text)}`),
      ),
      ...findings.map(({ kind, text, page }) => `page ${page}  ${kind}: ${replaceControls(text)}`),
    ]),
    section(
      'METADATA',
      Object.entries(metadata).map(([name, value]) => `${name.padEnd(18)}  ${orNone(value)}`),
    ),
    section('RESULTS', results.map(resultText)),
    section('OUTCOME', [
      failure ?? `${findings.length ? 'pending_review' : 'completed'}: ${results.length} results`,
      is_english ? 'English' : 'not English',
      has_decimal_commas ? 'numbers with decimal commas' : 'numbers with decimal points',
    ]),
  ].join('')
}

const linesText = ({ number, lines }: ExplainedPage): string[] =>
  lines.map(({ cells }, index) => `${number}.${index + 1}  ${cells.map(({ text }) => replaceControls(text)).join(' | ')}`)

const columnsText = ({ number, regions }: ExplainedPage): string[] =>
  regions.map(({ columns, line_count }, index) => {
    const named = columns?.map(({ kind, box }) => `${kind} ${Math.round(box.left)}-${Math.round(box.right)}`).join(', ')
    return `${number}.${index + 1}  ${line_count} lines, ${named ?? 'without columns'}`
  })

const rowsText = ({ number, rows }: ExplainedPage): string[] =>
  rows.map(({ name, value, unit, range_lines, flag, panel, specimen, method, date, confidence, comments }, index) =>
    [
      `${number}.${index + 1}  ${replaceControls(name)} = ${replaceControls(value)}`,
      `unit ${orNone(unit)}`,
      `range ${range_lines.length ? replaceControls(range_lines.join(' / ')) : '-'}`,
      `flag ${orNone(flag)}`,
      `panel ${orNone(panel)}`,
      ...Object.entries({ specimen, method, date }).flatMap(([kind, text]) =>
        text === null ? [] : [`${kind} ${replaceControls(text)}`],
      ),
      `confidence ${confidence.toFixed(2)}`,
      ...comments.map((comment) => `comment ${replaceControls(comment)}`),
    ].join(', '),
  )

function loincText({ test_name, loinc_match_status, loinc_matches }: ReportResult, index: number): string {
  const candidates = (loinc_matches ?? []).map(
    ({ loinc_code, loinc_name, confidence_score }) => `${loinc_code} ${confidence_score.toFixed(2)} ${loinc_name}`,
  )
  return [`${index + 1}  ${replaceControls(test_name)}: ${loinc_match_status ?? '-'}`, ...candidates].join('; ')
}

const resultText = (result: ReportResult, index: number): string =>
  [
    `${index + 1}  ${replaceControls(result.test_name)} = ${replaceControls(result.value)} ${result.units === null ? '' : replaceControls(result.units)}`.trimEnd(),
    result.type,
    `range ${orNone(result.min_reference_range)} to ${orNone(result.max_reference_range)}`,
    result.interpretation,
  ].join(', ')
