// The shipped LOINC terms: reads the files of data/ once. Source of codes and official names: LOINC (data/LOINC-NOTICE.txt); display names,
// aliases, units and plausible ranges are our own.
import { readdirSync, readFileSync } from 'node:fs'

/** A LOINC term with its parts (abbreviated as LOINC abbreviates them), and what reports print for it. */
export interface Term {
  code: string
  /** The official long common name. */
  longName: string
  component: string
  /** MCnc, SCnc, ACnc, CCnc, NCnc, PrThr, … */
  property: string
  /** Pt (a point in time), 24H, … */
  timing: string
  /** Ser/Plas, Bld, Urine, … */
  system: string
  /** Qn (number), Ord and Nom (word), Nar (text). */
  scale: string
  /** Empty if LOINC names none. */
  method: string
  shortName: string
  displayName: string
  /** Names that reports print for this code alone. */
  aliases: readonly string[]
  /** Names that reports print for its component, whatever the property. */
  sharedAliases: readonly string[]
  /** Usual units in UCUM. */
  units: readonly string[]
  /** Limits of what is possible in a living person, in `rangeUnit`; null if none are known. */
  low: number | null
  high: number | null
  rangeUnit: string
  panels: readonly string[]
  /** 1 is the most frequent. */
  rank: number
  /** The full release of an operator has it, the shipped files do not. */
  isOfRelease: boolean
}

const termColumns = [
  'code',
  'long_name',
  'component',
  'property',
  'timing',
  'system',
  'scale',
  'method',
  'short_name',
  'display_name',
  'aliases',
  'units',
  'low',
  'high',
  'range_unit',
  'panels',
  'rank',
] as const
const aliasColumns = ['component', 'system', 'aliases'] as const

const folder = new URL('data/', import.meta.url)

/** Parses a file of tab-separated rows with these columns. Throws Error for another header or a row of another length. */
export function parseTsv<C extends string>(name: string, text: string, columns: readonly C[]): Record<C, string>[] {
  const [header = '', ...lines] = text.replace(/\n$/, '').split('\n')
  if (header !== columns.join('\t')) throw new Error(`${name}: the columns must be ${columns.join(', ')}`)
  return lines.map((line, i) => {
    const fields = line.split('\t')
    if (fields.length !== columns.length)
      throw new Error(`${name}, line ${i + 2}: ${fields.length} fields, not ${columns.length}`)
    return Object.fromEntries(columns.map((column, index) => [column, fields[index]!])) as Record<C, string>
  })
}

const splitList = (text: string, separator: string): string[] => text.split(separator).filter(Boolean)
const numberOrNull = (text: string): number | null => (text === '' ? null : Number(text))
const readText = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

function readTerms(): readonly Term[] {
  const shared = new Map<string, string[]>()
  for (const row of parseTsv('aliases.tsv', readText('aliases.tsv'), aliasColumns))
    shared.set(`${row.component}\t${row.system}`, splitList(row.aliases, ';'))
  const files = readdirSync(folder).filter((name) => /^terms-[a-z]+\.tsv$/.test(name))
  return files.sort().flatMap((file) =>
    parseTsv(file, readText(file), termColumns).map((row) => ({
      code: row.code,
      longName: row.long_name,
      component: row.component,
      property: row.property,
      timing: row.timing,
      system: row.system,
      scale: row.scale,
      method: row.method,
      shortName: row.short_name,
      displayName: row.display_name,
      aliases: splitList(row.aliases, ';'),
      sharedAliases: [
        ...new Set([
          ...(shared.get(`${row.component}\t${row.system}`) ?? []),
          ...(row.system === 'Urine sed' ? (shared.get(`${row.component}\tUrine`) ?? []) : []),
          ...(shared.get(`${row.component}\t`) ?? []),
        ]),
      ],
      units: splitList(row.units, ' '),
      low: numberOrNull(row.low),
      high: numberOrNull(row.high),
      rangeUnit: row.range_unit,
      panels: splitList(row.panels, ' '),
      rank: Number(row.rank),
      isOfRelease: false,
    })),
  )
}

/** Makes a value at the first call and returns the same one later. */
export function once<V>(make: () => V): () => V {
  let made: { value: V } | undefined
  return () => (made ??= { value: make() }).value
}

/** The shipped terms. The first call reads the files (some 700 kB, 50 ms); later ones return the same array. */
export const shippedTerms: () => readonly Term[] = once(readTerms)

/** Names that reports print of what has no shipped term: it is known that they mean no shipped term, and how they are spelled. */
export const namesWithoutTerm: () => readonly string[] = once(() => readText('names.txt').split('\n').filter(Boolean))

/** All names that reports print. */
export const printedNames: () => readonly string[] = once(() => [
  ...shippedTerms().flatMap(({ displayName, aliases, sharedAliases }) => [displayName, ...aliases, ...sharedAliases]),
  ...namesWithoutTerm(),
])

const byCode = once(() => new Map(shippedTerms().map((term) => [term.code, term])))
/** A shipped term by its code. */
export const shippedTerm = (code: string): Term | undefined => byCode().get(code)
