// A printed report for its name: what it shows, and its truth.
import { ambiguousDates, trueMetadata } from '../compose/document.ts'
import { createContent } from '../content.ts'
import { createRandom } from '../random.ts'
import type { Truth } from '../truth.ts'
import { longNames } from './long-names.ts'
import type { PrintedSheet } from './model.ts'
import { describeParticulars } from './particulars.ts'
import { createStyle } from './style.ts'
import { createTables } from './tables.ts'

export interface ComposedSheet extends PrintedSheet {
  truth: Truth
}

export function composeSheet(name: string, isHeldOut: boolean): ComposedSheet {
  const random = createRandom(`printed/${name}`)
  const drawn = createStyle(name, random.fork('style'), isHeldOut)
  // Cells of a spreadsheet that are no table hold a label and its value.
  const style = name.startsWith('calc') ? { ...drawn, particulars: 'inline' as const } : drawn
  const content = createContent(style.layout, 1)
  if (style.hasLongNames) for (const row of content.panels.flatMap(({ rows }) => rows)) row.name = longNames[row.key] ?? row.name
  const { blocks: head, printedTexts } = describeParticulars(style, content, random.fork('particulars'))
  const { blocks: body, results } = createTables(style, content, random.fork('tables'))
  return {
    look: style.look,
    blocks: [...head, ...body, { kind: 'small', text: 'End of report' }],
    truth: { metadata: trueMetadata(content, printedTexts), results, ambiguousDates: ambiguousDates(content, printedTexts) },
  }
}
