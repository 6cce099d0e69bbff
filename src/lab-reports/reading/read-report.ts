// A report from its files to what the API answers, stage by stage. Runs in threads with limits; see parsing-jobs/.
import { linesOf } from '../layout/lines.ts'
import { metadataOf, type Metadata } from '../layout/metadata.ts'
import { rowsOf } from '../layout/rows.ts'
import { matchLoinc, shippedIndex, type ReportContext } from '../loinc/match-loinc.ts'
import { findByName } from '../loinc/name-index.ts'
import { readName } from '../loinc/name-text.ts'
import { pageText } from '../pages/pdf-text.ts'
import { withDocument } from '../pages/pdf.ts'
import type { PageText } from '../pages/page.ts'
import { isEnglish } from './language.ts'
import { resultOf, type ReportResult } from './result.ts'

export interface ReportFile {
  bytes: Uint8Array
  type: 'application/pdf' | 'image/jpeg' | 'image/png'
}

export interface ReadReport {
  metadata: Metadata
  results: ReportResult[]
  /** The sizes to which the places on pages refer. Jobs that earlier programs have read have none. */
  pages?: Pick<PageText, 'number' | 'width' | 'height'>[]
}

export type ReportFailure = 'invalid_input' | 'not_english' | 'low_quality' | 'too_many_pages'

/** Files that can be opened and are no report that can be read. */
export class ReportError extends Error {
  override name = 'ReportError'
  readonly failure: ReportFailure
  constructor(failure: ReportFailure) {
    super(`the report cannot be read: ${failure}`)
    this.failure = failure
  }
}

/** What a report says. Errors: `ReportError`, `UnreadableDocument`. */
export async function readReport(files: readonly ReportFile[]): Promise<ReadReport> {
  const pages = await readPages(files)
  if (!isEnglish(pages)) throw new ReportError('not_english')
  const report = understand(pages)
  if (!report.results.length) throw new ReportError('invalid_input')
  return report
}

/** The pages of all files in their order. */
export async function readPages(files: readonly ReportFile[]): Promise<PageText[]> {
  const pages: PageText[] = []
  for (const file of files)
    await withDocument(file.bytes, async (document) => {
      for (let number = 1; number <= document.numPages; number++) {
        const page = await document.getPage(number)
        pages.push({ ...(await pageText(page)), number: pages.length + 1 })
        page.cleanup()
      }
    })
  return pages
}

/** A report of 30 pages has a few hundred. */
const RESULTS_MAX = 1_000

/** From the words of the pages to results. Errors: more than 1,000 results. */
export function understand(pages: readonly PageText[]): ReadReport {
  const read = pages.map((page) => ({ page, lines: linesOf(page) }))
  const { age_years, ...metadata } = metadataOf(read)
  const patient = { sex: metadata.gender === 'other' ? null : metadata.gender, age_years }
  const rows = rowsOf(read, { isAnalyte })
  if (rows.length > RESULTS_MAX) throw new Error(`a report has at most ${RESULTS_MAX} results`)
  return storable({
    metadata,
    results: withMeaning(rows.map((row) => resultOf(row, patient))),
    pages: pages.map(({ number, width, height }) => ({ number, width, height })),
  })
}

/** Files may hold characters that PostgreSQL does not store in JSON: NUL, and halves of pairs. */
const storable = (report: ReadReport): ReadReport =>
  JSON.parse(
    JSON.stringify(report, (_name, value: unknown) =>
      typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
    ),
  ) as ReadReport

/** Whether laboratories measure something of this name. */
export const isAnalyte = (name: string): boolean => findByName(shippedIndex(), readName(name)).length > 0

/** A report whose results have terms of an imported release among their candidates. */
export const withReleaseTerms = (report: ReadReport, release: NonNullable<ReportContext['release']>): ReadReport => ({
  ...report,
  results: withMeaning(report.results, { release }),
})

function withMeaning(results: readonly ReportResult[], context: ReportContext = {}): ReportResult[] {
  const meanings = matchLoinc(
    results.map(({ test_name, value, units, source_panel_name, sample_type }) => ({
      test_name,
      value,
      units,
      source_panel_name,
      sample_type,
    })),
    context,
  )
  return results.map((result, index) => {
    const { loinc_match_status, loinc_matches, findings } = meanings[index]!
    return { ...result, loinc_match_status, loinc_matches, findings }
  })
}
