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
 * The template that has the text at a position, or else the one before it. Only templates whose parts are all in the text count. undefined:
 * the statement is of a test.
 */
export function findPlace(text: string, position: number, places: Place[]): Place | undefined {
  let [best, best_length, best_end]: [Place | undefined, number, number] = [undefined, 0, -1]
  for (const place of places) {
    if (!place.parts.every((part) => text.includes(part))) continue
    for (const part of place.parts) {
      if (part.length < PART_MIN || !part.includes(' ')) continue
      for (let at = text.indexOf(part); at >= 0 && at <= position; at = text.indexOf(part, at + 1)) {
        const end = Math.min(at + part.length, position)
        if (end < best_end || (end === best_end && part.length <= best_length)) continue
        ;[best, best_length, best_end] = [place, part.length, end]
      }
    }
  }
  return best
}
