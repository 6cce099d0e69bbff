// A report from its files to what the API answers, stage by stage. Runs in threads with limits; see parsing-jobs/.
import { type Metadata, metadataOf, type MetadataPlaces } from '../heading/metadata.ts'
import { matchLoinc, type ReportContext, shippedIndex } from '../loinc/match-loinc.ts'
import { findByName, isExactName } from '../loinc/name-index.ts'
import { readName } from '../loinc/name-text.ts'
import type { Box, PageText } from '../pages/page.ts'
import { withDocument } from '../pages/pdf.ts'
import { baselinesOf, type Line } from '../tables/table-cells.ts'
import { withLevelRows } from '../tables/level-rows.ts'
import type { Row } from '../tables/row-parts.ts'
import { readRows } from '../tables/rows.ts'
import { readLines } from '../tables/tables.ts'
import { isSusceptibility } from '../texts/antibiotics.ts'
import { isDoubtful, type ReadingFinding, type ReportFinding } from './finding.ts'
import { collectFindings, DOUBTFUL_SHARE, isParticular } from './findings.ts'
import { isEnglish } from './language.ts'
import { hasDecimalCommas, mendedRow, withCommas, withPlainNumbers } from './mended-rows.ts'
import { readPdfPage, pageOfImage, type PageOptions } from './page-of-file.ts'
import { isSpecimen, type ReportResult, toResult, specimenForLoinc, rowSpecimens } from './result.ts'
import { spelledPage } from './spelling.ts'
import { withMovedRows } from './table-doubts.ts'

export interface ReportFile {
  bytes: Uint8Array
  type: 'application/pdf' | 'image/jpeg' | 'image/png'
}

export interface ReadReport {
  metadata: Metadata
  /** Where the fields of the metadata stand. */
  metadata_places?: MetadataPlaces
  results: ReportResult[]
  /** What of the pages is in no result, so that a person has to look. */
  findings?: ReportFinding[]
  /** The sizes to which the places on pages refer. */
  pages?: Pick<PageText, 'number' | 'width' | 'height'>[]
}

export type ReportFailure = 'invalid_input' | 'not_english' | 'low_quality' | 'too_many_pages'

/** Files that can be opened and are not a report that can be read. */
export class ReportError extends Error {
  override name = 'ReportError'
  readonly failure: ReportFailure
  constructor(failure: ReportFailure) {
    super(`the report cannot be read: ${failure}`)
    this.failure = failure
  }
}

/** What a report says. Errors: `ReportError`, `UnreadableDocument`, `UnreadablePicture`, `OcrUnavailable`. */
export async function readReport(files: readonly ReportFile[], options: PageOptions = {}): Promise<ReadReport> {
  const pages = await readPages(files, options)
  if (!isEnglish(pages)) throw new ReportError('not_english')
  const report = understand(pages)
  const failure = findFailure(pages, report.results)
  if (failure) throw new ReportError(failure)
  return report
}

/** Why pages with these results are not a report that can be read; null if they are one. */
export function findFailure(pages: readonly PageText[], results: readonly ReportResult[]): ReportFailure | null {
  if (!isEnglish(pages)) return 'not_english'
  if (results.length) return null
  return isLowQuality(pages) ? 'low_quality' : 'invalid_input'
}

/** The pages of all files in their order. */
export async function readPages(files: readonly ReportFile[], options: PageOptions = {}): Promise<PageText[]> {
  const pages: PageText[] = []
  const add = (page: PageText) => pages.push({ ...page, number: pages.length + 1 })
  for (const file of files)
    if (file.type === 'application/pdf')
      await withDocument(file.bytes, async (document) => {
        for (let number = 1; number <= document.numPages; number++) {
          const page = await document.getPage(number)
          add(await readPdfPage(page, options))
          page.cleanup()
        }
      })
    else add(await pageOfImage(file.bytes, options))
  return pages
}

/** Fewer words are not a report that could have been read. */
const BLURRED_WORDS_MIN = 20
/** Share of the clear words of a page; clear pages have 0.9. */
const CLEAR_MIN = 0.6

/** Whether pages were read from pictures that show text of which most is unsure. */
function isLowQuality(pages: readonly PageText[]): boolean {
  const words = pages.filter((page) => page.source === 'ocr').flatMap((page) => page.words)
  const sum = words.reduce((total, word) => total + word.confidence, 0)
  return words.length >= BLURRED_WORDS_MIN && sum / words.length < CLEAR_MIN
}

/** A report of 30 pages has a few hundred. */
const RESULTS_MAX = 1_000

/** What the stages have made of the pages of a report. */
export interface Stages {
  /** As their words are spelled, with their lines. */
  pages: { page: PageText; lines: Line[] }[]
  rows: Row[]
  /** Whether numbers have decimal commas. */
  has_decimal_commas: boolean
}

/** From the words of the pages to results. Errors: more than 1,000 results. */
export const understand = (pages: readonly PageText[]): ReadReport => understandStages(pages).report

/** The same with what the stages have made of it. */
export function understandStages(printedPages: readonly PageText[]): { report: ReadReport; stages: Stages } {
  const pages = printedPages.map((page) => (page.source === 'ocr' ? withLevelRows(page, baselinesOf(page)) : page))
  const { age, places, ...metadata } = metadataOf(withLines(pages))
  const patient = { sex: metadata.gender === 'other' ? null : metadata.gender, age }
  const spelled = withLines(
    pages.map((page) => spelledPage(page)),
    isNamed,
  )
  const all = readRows(spelled, { isAnalyte, isNamed, isSpecimen, isLetterhead: (text) => text === metadata.lab_name })
  const asRead = all.filter((row) => !isParticular(row, places, { isNamed }))
  if (asRead.length > RESULTS_MAX) throw new Error(`a report has at most ${RESULTS_MAX} results`)
  const pictures = new Set(spelled.flatMap(({ page }) => (page.source === 'ocr' ? [page.number] : [])))
  const isPicture = ({ page }: Row) => pictures.has(page)
  const rows = withCommas(
    asRead.map((row) => (isPicture(row) ? mendedRow(row, isNamed) : row)),
    isPicture,
  )
  const has_decimal_commas = hasDecimalCommas(rows)
  const specimens = rowSpecimens(rows, spelled)
  const plain = has_decimal_commas ? rows.map(withPlainNumbers) : rows
  const read = plain.map((row, index) => toResult(row, patient, specimens[index]!))
  const findings = collectFindings({ pages: spelled, rows: plain, results: read, places }, { isNamed })
  const results = read.map((result, index) =>
    drawnPlace({ ...result, value: rows[index]!.value, findings: findings.rows[index]! }, pages),
  )
  const report = storable({
    metadata,
    metadata_places: Object.fromEntries(
      Object.entries(places).map(([field, { page, box }]) => [field, { page, box: drawnBox(box, page, pages) }]),
    ),
    results: withConfidences(withMovedRows(withMeaning(results), pictures), {
      isReportDoubtful: findings.report.length > 0,
      pictures,
    }),
    findings: findings.report.map((finding) => ({ ...finding, box: drawnBox(finding.box, finding.page, pages) })),
    pages: pages.map(({ number, width, height, drawnPage }) => ({
      number,
      width: drawnPage?.width ?? width,
      height: drawnPage?.height ?? height,
    })),
  })
  return { report, stages: { pages: spelled, rows, has_decimal_commas } }
}

function withLines(pages: readonly PageText[], isName?: (name: string) => boolean): Stages['pages'] {
  const lines = readLines(pages, isName)
  return pages.map((page, index) => ({ page, lines: lines[index]! }))
}

/** What is left of the confidence of a doubtful row, and of a row of a report of which something is in no result or much is doubtful. */
const [DOUBTFUL_ROW, DOUBTFUL_REPORT] = [0.5, 0.8]

function withConfidences(
  results: readonly ReportResult[],
  { isReportDoubtful, pictures }: { isReportDoubtful: boolean; pictures: ReadonlySet<number> },
): ReportResult[] {
  const seen = results.filter(({ place }) => pictures.has(place.page))
  const isSeenBadly = seen.filter(isDoubtful).length > seen.length * DOUBTFUL_SHARE
  return results.map((result) => {
    const { place } = result
    const isUncertain = isReportDoubtful || (isSeenBadly && pictures.has(place.page))
    const factor = isDoubtful(result) ? DOUBTFUL_ROW : isUncertain ? DOUBTFUL_REPORT : 1
    return { ...result, place: { ...place, confidence: place.confidence * factor } }
  })
}

/** A result with its place on the page as it is drawn. */
function drawnPlace(result: ReportResult, pages: readonly PageText[]): ReportResult {
  const { page, row, value } = result.place
  return { ...result, place: { ...result.place, row: drawnBox(row, page, pages), value: drawnBox(value, page, pages) } }
}

const drawnBox = (box: Box, number: number, pages: readonly PageText[]): Box =>
  pages.find((page) => page.number === number)?.drawnPage?.place(box) ?? box

/** Files may hold characters that PostgreSQL does not store in JSON: NUL, and halves of pairs. */
const storable = (report: ReadReport): ReadReport =>
  JSON.parse(
    JSON.stringify(report, (_name, value: unknown) =>
      typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
    ),
  ) as ReadReport

/** Whether a text is, word for word, a name of something that laboratories measure. */
export const isNamed = (name: string): boolean => isExactName(shippedIndex(), readName(name))

/** Whether laboratories measure something of this name, or of one that resembles it. */
export const isAnalyte = (name: string): boolean => isNamed(name) || findByName(shippedIndex(), readName(name)).length > 0

/** A report whose results have terms of an imported release among their candidates. */
export const withReleaseTerms = (report: ReadReport, release: NonNullable<ReportContext['release']>): ReadReport => ({
  ...report,
  results: withMeaning(report.results, { release }),
})

function withMeaning(results: readonly ReportResult[], context: ReportContext = {}): ReportResult[] {
  const meanings = matchLoinc(
    results.map(({ test_name, value, units, source_panel_name, sample_type, comments, specimen, method, date }) => ({
      is_susceptibility: isSusceptibility(test_name, value, comments),
      specimen: specimenForLoinc(specimen ?? null, source_panel_name),
      method: method ?? null,
      date: date ?? null,
      test_name,
      value,
      units,
      source_panel_name,
      sample_type,
    })),
    context,
  )
  return results.map((result, index) => {
    const { loinc_match_status, loinc_matches, findings, unit } = meanings[index]!
    const ofReading = result.findings.filter((item): item is ReadingFinding => !('factor' in item))
    return {
      ...result,
      loinc_match_status,
      loinc_matches,
      findings: [...ofReading, ...findings],
      unit_ucum: unit?.canonical ?? null,
    }
  })
}
