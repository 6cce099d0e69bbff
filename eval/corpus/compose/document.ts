// A whole document: content placed on pages, and its truth.
import { createContent, findPattern, type Content } from '../content.ts'
import { formatDate, isAmbiguous, isOfDigits, isoDay } from '../dates.ts'
import type { Block, Layout } from '../language.ts'
import type { TrueMetadata, Truth } from '../truth.ts'
import { drawBlocks } from './blocks.ts'
import { Canvas, type Page } from './canvas.ts'
import { drawCards, drawSentences } from './cards.ts'
import { reportToken } from './panels.ts'
import { drawTable } from './table.ts'
import { composeWritten } from '../written/compose.ts'
import type { Written } from '../written/parse.ts'

export interface Document {
  layout: Pick<Layout, 'name' | 'emission' | 'watermark'>
  seed: number
  width: number
  height: number
  pages: Page[]
  truth: Truth
}

/** The document of a layout for a seed. The same arguments give the same document; a written report is the same for every seed. */
export const composeDocument = (layout: Layout | Written, seed: number): Document =>
  'commands' in layout ? { layout, seed, ...composeWritten(layout) } : composeLayout(layout, seed)

function composeLayout(layout: Layout, seed: number): Document {
  const content = createContent(layout, seed)
  const canvas = new Canvas(layout)
  const printed = new Set<string>()
  const valueOf = (token: string) => {
    printed.add(token)
    if (token === 'page' || token === 'pages') return '1'
    return reportToken(content, token)
  }
  const heightOf = (blocks: readonly Block[]) => {
    const scratch = new Canvas(layout)
    scratch.begin(() => 0, 0)
    drawBlocks(scratch, blocks, valueOf)
    return scratch.y
  }
  const headHeight = heightOf(layout.head ?? [])
  const footHeight = heightOf(layout.foot ?? [])
  canvas.begin(() => canvas.y + headHeight, footHeight)
  drawBlocks(canvas, layout.first, valueOf)
  const results = drawBody()
  drawBlocks(canvas, layout.last ?? [], valueOf)
  drawRepeated()
  for (const token of tokensOfText(layout.body.panel.heading, layout.body.panel.subheading)) printed.add(token)
  return {
    layout,
    seed,
    width: canvas.width,
    height: canvas.height,
    pages: canvas.pages,
    truth: { results, metadata: trueMetadata(content, printed), ambiguousDates: ambiguousDates(content, printed) },
  }

  function drawBody() {
    const { body } = layout
    if (body.kind === 'table') return drawTable(canvas, body, content)
    return body.kind === 'cards' ? drawCards(canvas, body, content) : drawSentences(canvas, body, content)
  }

  /** Heads and feet of pages, whose number is known now. They come first in the text of a page, as producers write them. */
  function drawRepeated(): void {
    const { length } = canvas.pages
    for (const [i, page] of canvas.pages.entries()) {
      const valueOnPage = (token: string) =>
        token === 'page' ? String(i + 1) : token === 'pages' ? String(length) : valueOf(token)
      const body = page.texts.splice(0)
      canvas.goTo(i, layout.margin ?? 40)
      drawBlocks(canvas, layout.head ?? [], valueOnPage)
      canvas.goTo(i, canvas.height - (layout.margin ?? 40) - footHeight)
      const before = page.texts.length
      drawBlocks(canvas, layout.foot ?? [], valueOnPage)
      const foot = page.texts.splice(before)
      page.texts.push(...body, ...foot)
    }
  }
}

const tokensOfText = (...templates: (string | undefined)[]): string[] =>
  templates.flatMap((template) => [...(template ?? '').matchAll(/\{([^}]+)\}/g)].map(([, token]) => token!))

/** What the document prints of a date: the token that stands for it, with its pattern. */
const printedToken = (printedTokens: Set<string>, name: string): string | undefined =>
  [...printedTokens].find((token) => token.split(':')[0] === name)

export function trueMetadata({ layout, person, dates, history, textOf }: Content, printedTokens: Set<string>): TrueMetadata {
  const has = (name: string) => printedToken(printedTokens, name) !== undefined
  const day = (name: 'dob' | 'collected' | 'reported') => (has(name) ? isoDay(dates[name]) : null)
  const isNamed = has('name')
  return {
    patient_first_name: isNamed || has('first') ? person.first : null,
    patient_last_name: isNamed || has('last') ? person.last : null,
    dob: day('dob'),
    gender: has('sex') ? person.sex : 'other',
    lab_name: has('lab') ? [layout.lab.name, ...(layout.lab.alsoNamed ?? [])] : [],
    date_reported: day('reported'),
    // The columns of a cumulative report have dates of collection of their own.
    date_collected: has('collected') || history.length === 1 ? day('collected') : undefined,
    specimen_number: has('specimen') ? textOf('specimen')! : null,
  }
}

export function ambiguousDates(content: Content, printedTokens: Set<string>): Record<string, string> {
  const dates = (['dob', 'collected', 'received', 'reported', 'printed'] as const).flatMap((name) => {
    const token = printedToken(printedTokens, name)
    return token === undefined ? [] : [{ name, date: content.dates[name], pattern: findPattern(content.layout, token) }]
  })
  // A month in letters, and a day with the number of its month, say nothing of the order of digits.
  const deciding = dates.filter(({ date, pattern }) => isOfDigits(pattern) && date.getUTCDate() !== date.getUTCMonth() + 1)
  const isOpen = deciding.length > 0 && deciding.every(({ date, pattern }) => isAmbiguous(date, pattern))
  return isOpen ? Object.fromEntries(dates.map(({ name, date, pattern }) => [name, formatDate(date, pattern)])) : {}
}
