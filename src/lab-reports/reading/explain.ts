// What each stage of reading makes of a file, as data and as pictures of the pages with the boxes of the stages.
import type { Canvas, SKRSContext2D } from '@napi-rs/canvas'
import type { Metadata, MetadataPlaces } from '../heading/metadata.ts'
import type { Box, PageText, Word } from '../pages/page.ts'
import type { TextQuality } from '../pages/text-quality.ts'
import type { ColumnKind } from '../tables/headers.ts'
import { regionsOfPages } from '../tables/regions.ts'
import type { Row } from '../tables/row-parts.ts'
import { pageCanvas } from './file.task.ts'
import type { ReportFinding } from './finding.ts'
import { isEnglish } from './language.ts'
import { qualityOf } from './page-of-file.ts'
import { findFailure, readPages, type ReportFailure, type ReportFile, understandStages } from './read-report.ts'
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
      width: page.drawnPage?.width ?? page.width,
      height: page.drawnPage?.height ?? page.height,
      source: page.source,
      text_quality: qualityOf(page),
      words: page.words.map((word) => toDrawnPage(page, word)),
      lines: lines.map(({ box, cells }) => ({
        ...toDrawnPage(page, { box }),
        cells: cells.map(({ text, box }) => toDrawnPage(page, { text, box })),
      })),
      regions: regions
        .filter((item) => item.page === page)
        .map(({ region }) => ({
          columns: region.columns && region.columns.map(({ kind, box }) => toDrawnPage(page, { kind, box })),
          line_count: region.lines.length,
        })),
      rows: stages.rows
        .filter((row) => row.page === page.number)
        .map((row) => ({ ...toDrawnPage(page, row), value_box: page.drawnPage?.place(row.value_box) ?? row.value_box })),
    })),
    is_english,
    has_decimal_commas: stages.has_decimal_commas,
    metadata,
    metadata_places,
    results,
    findings,
    failure: findFailure(pages, results),
  }
  return { explanation, pictures: draws ? await drawStages(file, explanation.pages, Object.values(metadata_places)) : [] }
}

/** What has a place, at its place on the page as it is drawn. */
const toDrawnPage = <T extends { box: Box }>(page: PageText, part: T): T =>
  page.drawnPage ? { ...part, box: page.drawnPage.place(part.box) } : part

interface Boxed {
  box: Box
}
/** What is drawn of a page. */
interface MarkedPage {
  number: number
  width: number
  words: readonly Boxed[]
  lines: readonly { cells: readonly Boxed[] }[]
  regions: readonly { columns: readonly Boxed[] | null }[]
  rows: readonly { box: Box; value_box: Box }[]
}

const COLORS = { word: '#b0b0b0', cell: '#2f6fde', column: '#1e8e3e', row: '#f08c00', value: '#d92d20', metadata: '#7a3fd1' }

/** A PNG of each page of a file. Errors: `UnreadableDocument`, `UnreadablePicture`. */
async function drawStages(
  file: ReportFile,
  pages: readonly MarkedPage[],
  metadata: readonly { page: number; box: Box }[],
): Promise<Uint8Array[]> {
  const pictures: Uint8Array[] = []
  for (const page of pages) {
    const canvas = await pageCanvas(file, page.number)
    mark(
      canvas,
      page,
      metadata.filter((place) => place.page === page.number),
    )
    pictures.push(await canvas.encode('png'))
  }
  return pictures
}

function mark(canvas: Canvas, { width, lines, words, regions, rows }: MarkedPage, metadata: readonly Boxed[]): void {
  const context = canvas.getContext('2d')
  const scale = canvas.width / width
  const draw = (color: string, line: number, boxes: readonly Box[]) => outline(context, scale, { color, line }, boxes)
  const cells = lines.flatMap((line) => line.cells)
  const columns = regions.flatMap((region) => region.columns ?? [])
  draw(COLORS.word, 1, boxesOf(words))
  draw(COLORS.cell, 2, boxesOf(cells))
  draw(COLORS.column, 4, boxesOf(columns))
  draw(COLORS.row, 3, boxesOf(rows))
  draw(COLORS.metadata, 3, boxesOf(metadata))
  draw(COLORS.value, 3, boxesOf(rows.map(({ value_box }) => ({ box: value_box }))))
}

const boxesOf = (items: readonly Boxed[]): Box[] => items.map(({ box }) => box)

function outline(
  context: SKRSContext2D,
  scale: number,
  { color, line }: { color: string; line: number },
  boxes: readonly Box[],
): void {
  context.strokeStyle = color
  context.lineWidth = line
  for (const { left, top, right, bottom } of boxes)
    context.strokeRect(left * scale, top * scale, (right - left) * scale, (bottom - top) * scale)
}
