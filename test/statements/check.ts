// Checks the statements that the program has sent in a run (log.js) against the rules of Citus (rules.ts). The faults of today are listed in
// known-faults.tsv, which may only become shorter.
import { globSync, readFileSync } from 'node:fs'
import { partsOf } from './parts.ts'
import { findPlace, findStatement, isOfProgram, readPlaces, type Place } from './places.ts'
import { findFaults, RULES, type Reach, type Rule } from './rules.ts'
import { readKinds } from './kinds.ts'

const KNOWN = 'test/statements/known-faults.tsv'

/** A fault in a source. */
interface PlacedFault {
  rule: Rule
  table: string
  file: string
  start: string
}

interface Statement {
  text: string
  reach: Reach
}

/**
 * What is wrong with the statements of a run, as sentences.
 * @param isWhole all tests have run, so that a known fault that did not show is over
 */
export function checkStatements(folder: string, isWhole: boolean): string[] {
  const statements = readStatements(folder)
  const places = readPlaces()
  const faults = new Map(findPlacedFaults(statements, places).map((fault) => [lineOf(fault), fault]))
  const lines = readFileSync(KNOWN, 'utf8').split('\n').filter(Boolean)
  const problems = [...faults].filter(([line]) => !lines.includes(line)).map(([, fault]) => sentenceFor(fault))
  return isWhole ? [...problems, ...listObsolete(lines, faults, { statements, places })] : problems
}

/** Lines whose template is gone, or was sent in this run without the fault. */
function listObsolete(
  lines: string[],
  faults: ReadonlyMap<string, PlacedFault>,
  { statements, places }: { statements: Statement[]; places: Place[] },
): string[] {
  const templates = new Map(places.map((place) => [`${place.file}\t${place.start}`, place]))
  const isOver = (line: string): boolean => {
    const place = templates.get(line.split('\t').slice(2).join('\t'))
    return !place || (!faults.has(line) && statements.some(({ text }) => place.parts.every((part) => text.includes(part))))
  }
  return lines.filter(isOver).map((line) => `${KNOWN}: this line is no longer needed: ${line}`)
}

/** The statements on tables of cells. */
function readStatements(folder: string): Statement[] {
  const statements = new Map<string, Statement>()
  for (const file of globSync(`${folder}/*.jsonl`).sort())
    for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
      const { schema, reach, text } = JSON.parse(line) as Statement & { schema: string }
      if (schema === 'control' || !/^\s*(with|select|insert|update|delete|merge|truncate|copy)\b/i.test(text)) continue
      for (const part of partsOf(text)) statements.set(`${reach} ${part}`, { text: part, reach })
    }
  return [...statements.values()]
}

/** Each fault once for a place. */
function findPlacedFaults(statements: Statement[], places: Place[]): PlacedFault[] {
  const kinds = readKinds()
  const faults = new Map<string, PlacedFault>()
  for (const { text, reach } of statements)
    for (const { rule, table, location } of findFaults(text, reach, kinds)) {
      const position = Buffer.from(text).subarray(0, location).toString().length
      const place = findPlace(text, position, places) ?? findStatement(text, places)
      if (!place || !isOfProgram(text, places)) continue
      const fault = { rule, table, file: place.file, start: place.start }
      faults.set(lineOf(fault), fault)
    }
  return [...faults.values()]
}

const lineOf = ({ rule, table, file, start }: PlacedFault): string => [rule, table, file, start].join('\t')

function sentenceFor({ rule, table, file, start }: PlacedFault): string {
  const { text, source } = RULES[rule]
  return `${file}: "${start}" (${table}): ${text} See ${source}`
}
