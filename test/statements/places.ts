// Where the sources have the text of a statement.
import { globSync, readFileSync } from 'node:fs'
import { findNodes, parseSource } from '../support/syntax-tree.ts'
import ts from '../support/typescript-5.ts'

/** A template of SQL in a source. */
export interface Place {
  file: string
  /** The beginning of the template, in one line; `…` for what it inserts. */
  start: string
  /** The text between what it inserts. */
  parts: string[]
}

const START_MAX = 70
/** A name that is inserted may have a quotation mark. */
const QUOTE_LENGTH = 1
/** Shorter parts, such as ` and `, are of many templates. */
const PART_MIN = 12

export function readPlaces(): Place[] {
  const files = globSync('src/**/*.ts', { exclude: (path) => path.endsWith('.test.ts') }).sort()
  return files.filter((file) => readFileSync(file, 'utf8').includes('sql`')).flatMap(placesIn)
}

function placesIn(file: string): Place[] {
  const source = parseSource(file)
  return findNodes(source, ts.isTaggedTemplateExpression)
    .filter(({ tag }) => tag.getText(source) === 'sql')
    .map(({ template }) => {
      const parts = ts.isNoSubstitutionTemplateLiteral(template)
        ? [template.text]
        : [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)]
      return { file, start: parts.join('…').replaceAll(/\s+/g, ' ').trim().slice(0, START_MAX).trimEnd(), parts }
    })
}

/**
 * The template that has the text at a position, or ends there. All its parts have to be in the text, in their order. undefined: the statement
 * is of a test.
 */
export function findPlace(text: string, position: number, places: Place[]): Place | undefined {
  let [best, best_length, best_end]: [Place | undefined, number, number] = [undefined, 0, -1]
  for (const place of places) {
    if (!place.parts.every((part) => text.includes(part))) continue
    for (const [nth, part] of place.parts.entries()) {
      if (part.length < PART_MIN || !part.includes(' ')) continue
      for (let at = text.indexOf(part); at >= 0 && at <= position; at = text.indexOf(part, at + 1)) {
        const end = Math.min(at + part.length, position)
        if (end < position - QUOTE_LENGTH || end < best_end || (end === best_end && part.length <= best_length)) continue
        if (isAmong(text, at, place.parts, nth)) [best, best_length, best_end] = [place, part.length, end]
      }
    }
  }
  return best
}

/** Positions at the beginning of a statement, one of which a template of the program has. */
const FIRST_POSITIONS = [10, 20, 30, 40, 50, 60]

/** Whether a source has the beginning of a statement: tests have statements that end as one of the program does. */
export const isOfProgram = (text: string, places: Place[]): boolean => findBeginning(text, places) !== undefined

/** The template of a whole statement, for what no template has: the name of its table may be inserted as it is. */
export const findStatement = (text: string, places: Place[]): Place | undefined =>
  findBeginning(
    text,
    places.filter(({ start }) => /^(with|select|insert|update|delete)\b/i.test(start)),
  )

function findBeginning(text: string, places: Place[]): Place | undefined {
  const start = text.length - text.trimStart().length
  for (const position of FIRST_POSITIONS) {
    const place = findPlace(text, start + position, places)
    if (place) return place
  }
  return undefined
}

/** Whether the other parts of a template are before and after the one at a position. */
function isAmong(text: string, position: number, parts: string[], nth: number): boolean {
  let start = position
  for (const part of parts.slice(0, nth).toReversed()) {
    start = start < part.length ? -1 : text.lastIndexOf(part, start - part.length)
    if (start < 0) return false
  }
  let end = position + parts[nth]!.length
  for (const part of parts.slice(nth + 1)) {
    const next = text.indexOf(part, end)
    if (next < 0) return false
    end = next + part.length
  }
  return true
}
