// Checks the statements that the program has sent in a run (log.js) against the rules of Citus (rules.ts).
import { globSync, readFileSync } from 'node:fs'
import { partsOf } from './parts.ts'
import { findPlace, findStatement, isOfProgram, readPlaces, type Place } from './places.ts'
import { findFaults, RULES, type Reach, type Rule } from './rules.ts'
import { readKinds } from './kinds.ts'

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

/** What is wrong with the statements of a run, as sentences, and the number of statements. */
export function checkStatements(folder: string): { count: number; faults: string[] } {
  const statements = readStatements(folder)
  return { count: statements.length, faults: findPlacedFaults(statements, readPlaces()).map(sentenceFor) }
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
      const { file, start } = place
      faults.set([rule, table, file, start].join('\t'), { rule, table, file, start })
    }
  return [...faults.values()]
}

function sentenceFor({ rule, table, file, start }: PlacedFault): string {
  const { text, source } = RULES[rule]
  return `${file}: "${start}" (${table}): ${text} See ${source}`
}
