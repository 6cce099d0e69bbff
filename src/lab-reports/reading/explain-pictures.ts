// Pages with the boxes of the stages of reading: words gray, cells blue, columns green, rows orange and their values red, metadata violet.
import type { Canvas, SKRSContext2D } from '@napi-rs/canvas'
import type { Box } from '../pages/page.ts'
import { pageCanvas } from './page-picture.ts'
import type { ReportFile } from './read-report.ts'

interface Boxed {
  box: Box
}
/** What is drawn of a page. */
export interface MarkedPage {
  number: number
  width: number
  words: readonly Boxed[]
  lines: readonly { cells: readonly Boxed[] }[]
  regions: readonly { columns: readonly Boxed[] | null }[]
  rows: readonly { box: Box; value_box: Box }[]
}

const COLORS = { word: '#b0b0b0', cell: '#2f6fde', column: '#1e8e3e', row: '#f08c00', value: '#d92d20', metadata: '#7a3fd1' }

/** A PNG of each page of a file. Errors: `UnreadableDocument`, `UnreadablePicture`. */
export async function drawStages(
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

const boxesOf = (all: readonly Boxed[]): Box[] => all.map(({ box }) => box)

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
