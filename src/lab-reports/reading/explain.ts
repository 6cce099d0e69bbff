// What each stage of reading makes of a file: for people who want to know why a report is read as it is.
import { regionsOfPages } from '../layout/regions.ts'
import type { Row } from '../layout/rows.ts'
import type { ColumnKind } from '../layout/headers.ts'
import type { Metadata, MetadataPlaces } from '../layout/metadata.ts'
import type { TextQuality } from '../pages/text-quality.ts'
import type { Box, PageText, Word } from '../pages/page.ts'
import { drawStages } from './explain-pictures.ts'
import type { ReportFinding } from './finding.ts'
import { isEnglish } from './language.ts'
import { qualityOf } from './page-of-file.ts'
import { failureOf, readPages, understandStages, type ReportFailure, type ReportFile } from './read-report.ts'
import type { ReportResult } from './result.ts'

export interface ExplainedPage {
  number: number
  width: number
  height: number
  source: PageText['source']
  text_quality: TextQuality
  words: Word[]
  lines: { box: Box; cells: { text: string; box: Box }[] }[]
  /** Lines under the same columns; without columns the kinds of the cells decide. */
  regions: { columns: { kind: ColumnKind; box: Box }[] | null; line_count: number }[]
  rows: Row[]
}

export interface Explanation {
  pages: ExplainedPage[]
  is_english: boolean
  has_decimal_commas: boolean
  metadata: Metadata
  metadata_places: MetadataPlaces
  results: ReportResult[]
  /** What of the pages is in no result. */
  findings: ReportFinding[]
  /** Why a job would fail with this file; null if it would not. */
  failure: ReportFailure | null
}

export interface ExplainOptions {
  /** Whether the pages are drawn with the boxes of the stages. */
  draws: boolean
  /** Folder with other networks of the text recognition. */
  ocr_models?: string | undefined
}

export interface Explained {
  explanation: Explanation
  /** A PNG of each page, if they are drawn. */
  pictures: Uint8Array[]
}

/**
 * Reads a file and returns what each stage has made of it, with places on the pages as they are drawn. Errors: `UnreadableDocument`,
 * `UnreadablePicture`, `OcrUnavailable`.
 */
export async function explain(file: ReportFile, { draws, ocr_models }: ExplainOptions): Promise<Explained> {
  const pages = await readPages([file], { models: ocr_models })
  const { report, stages } = understandStages(pages)
  const { metadata, metadata_places = {}, results, findings = [] } = report
  const regions = [...regionsOfPages(stages.pages)]
  const is_english = isEnglish(pages)
  const explanation: Explanation = {
    pages: stages.pages.map(({ page, lines }) => ({
      number: page.number,
      width: page.drawn?.width ?? page.width,
      height: page.drawn?.height ?? page.height,
      source: page.source,
      text_quality: qualityOf(page),
      words: page.words.map((word) => drawn(page, word)),
      lines: lines.map(({ box, cells }) => ({
        ...drawn(page, { box }),
        cells: cells.map(({ text, box }) => drawn(page, { text, box })),
      })),
      regions: regions
        .filter((item) => item.page === page)
        .map(({ region }) => ({
          columns: region.columns && region.columns.map(({ kind, box }) => drawn(page, { kind, box })),
          line_count: region.lines.length,
        })),
      rows: stages.rows
        .filter((row) => row.page === page.number)
        .map((row) => ({ ...drawn(page, row), value_box: page.drawn?.place(row.value_box) ?? row.value_box })),
    })),
    is_english,
    has_decimal_commas: stages.has_decimal_commas,
    metadata,
    metadata_places,
    results,
    findings,
    failure: failureOf(pages, results),
  }
  return { explanation, pictures: draws ? await drawStages(file, explanation.pages, Object.values(metadata_places)) : [] }
}

/** What has a place, at its place on the page as it is drawn. */
const drawn = <T extends { box: Box }>(page: PageText, part: T): T =>
  page.drawn ? { ...part, box: page.drawn.place(part.box) } : part
