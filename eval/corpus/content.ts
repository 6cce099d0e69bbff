// What a report of a layout says for a seed: the person, dates, numbers, and rows as they are printed.
import { analyteOf, type Analyte } from './analytes.ts'
import { formatDate } from './dates.ts'
import { remarks } from './decision-limits.ts'
import type { Layout } from './language.ts'
import { panels as knownPanels } from './panels.ts'
import { createAddress, createPerson, createPhysician, type Person } from './people.ts'
import { createRandom, type Random } from './random.ts'
import { printRow, type Row } from './rows.ts'
import { fillText } from './template.ts'
import { generateValues } from './values.ts'

export interface PrintedPanel {
  title: string
  sample: string
  rows: Row[]
  /** Keys of its analytes. */
  keys: string[]
}

export interface Content {
  layout: Layout
  person: Person
  dates: Record<DateToken, Date>
  /** Of each column of a cumulative report, the latest first; the first is `dates.collected`. */
  history: Date[]
  panels: PrintedPanel[]
  /** The text of a token of the report, and whether it has one of that name. */
  textOf(token: string): string | undefined
}

const DATE_TOKENS = ['dob', 'collected', 'received', 'reported', 'printed'] as const
export type DateToken = (typeof DATE_TOKENS)[number]
const isDateToken = (token: string): token is DateToken => (DATE_TOKENS as readonly string[]).includes(token)

const DAY_MS = 86_400_000

export function createContent(layout: Layout, seed: number): Content {
  const random = createRandom(`${layout.name}/${seed}`)
  const person = createPerson(random.fork('person'), layout.people)
  const physician = createPhysician(random.fork('physician'), layout.people)
  const { dates, history } = createDates(random.fork('dates'), layout.dateCount ?? 1)
  const age = Math.floor((dates.collected.getTime() - dates.dob.getTime()) / (365.2425 * DAY_MS))
  const identifiers = createIdentifiers(random.fork('identifiers'), layout.specimen)
  const texts: Record<string, string> = {
    ...identifiers,
    name: printName(layout.names, person),
    first: person.first,
    last: person.last,
    sex: layout.sexes[person.sex],
    age: String(age),
    physician: `Dr. ${physician.first} ${physician.last}`,
    address: createAddress(random.fork('address')),
    lab: layout.lab.name,
    labAddress: layout.lab.address,
    labPhone: layout.lab.phone,
  }
  return {
    layout,
    person,
    dates,
    history,
    panels: createPanels(layout, { sex: person.sex, age }, random.fork('panels')),
    textOf(token) {
      const [name = '', pattern] = token.split(/:(.*)/s)
      if (isDateToken(name)) return formatDate(dates[name], findPattern(layout, token))
      return pattern === undefined ? texts[name] : undefined
    },
  }
}

/** The pattern that a date's token prints. */
export function findPattern(layout: Layout, token: string): string {
  const [name, own] = token.split(/:(.*)/s)
  return own ?? (name === 'dob' ? layout.dates.day : layout.dates.time)
}

export const printName = (pattern: string, { title, first, middle, last }: Person): string =>
  fillText(pattern, (token) => {
    const texts: Record<string, string> = {
      Title: title,
      TITLE: title.toUpperCase(),
      First: first,
      FIRST: first.toUpperCase(),
      Middle: middle,
      Last: last,
      LAST: last.toUpperCase(),
    }
    return texts[token] ?? ''
  })

function createDates(random: Random, count: number): { dates: Content['dates']; history: Date[] } {
  const minutes = (start: Date, min: number, max: number) => new Date(start.getTime() + random.integer(min, max) * 60_000)
  const collected = new Date(
    Date.UTC(
      random.integer(2021, 2025),
      random.integer(0, 11),
      random.integer(1, 28),
      random.integer(7, 11),
      random.integer(0, 59),
    ),
  )
  const received = minutes(collected, 60, 600)
  const reported = minutes(received, 400, 3000)
  const dob = new Date(
    Date.UTC(collected.getUTCFullYear() - random.integer(19, 79), random.integer(0, 11), random.integer(1, 28)),
  )
  const history = [collected]
  while (history.length < count) history.push(new Date(history.at(-1)!.getTime() - random.integer(25, 200) * DAY_MS))
  return { dates: { dob, collected, received, reported, printed: minutes(reported, 60, 20_000) }, history }
}

function createIdentifiers(random: Random, specimen: string): Record<string, string> {
  const digit = () => String(random.integer(0, 9))
  const print = (pattern: string) =>
    pattern.replace(/#/g, digit).replace(/@/g, () => random.pick('ABCDEFGHKLMNPRSTUVWXY'.split('')))
  return {
    specimen: print(specimen),
    mrn: print('#######'),
    order: print('@@-#####'),
    account: print('0#######'),
    phone: print('555-01##'),
  }
}

function createPanels(layout: Layout, subject: { sex: Person['sex']; age: number }, random: Random): PrintedPanel[] {
  const wanted = layout.panelCount ?? layout.panels.length
  const positions = random
    .shuffle(layout.panels.map((_, i) => i))
    .slice(0, wanted)
    .sort((a, b) => a - b)
  const dialect = layout.dialect === 'short' ? 'us' : layout.dialect === 'in' ? 'india' : layout.dialect
  const chosen = positions.map((position) => knownPanels[layout.panels[position]!])
  const keysOf = ({ analytes }: { analytes: string[] }) => analytes.filter((key) => isFor(key, subject.sex))
  // An analyte of two panels has one value.
  const days = valuesByDate(chosen.flatMap(keysOf), subject, random.fork('values'), layout.dateCount ?? 1)
  const words = random.fork('words')
  let number = 0
  return chosen.map((panel) => {
    const keys = keysOf(panel)
    const rows = keys.map((key) => {
      const analyte: Analyte = analyteOf(key)
      const row = printRow(
        analyte,
        layout,
        subject.sex,
        days.map((values) => values.get(key)),
        words,
      )
      row.number = String(++number)
      if (layout.remarks && words.chance(layout.remarks)) row.remark = words.pick(remarks)
      return row
    })
    return { title: panel[dialect], sample: panel.sample, rows, keys }
  })
}

function valuesByDate(
  keys: string[],
  subject: { sex: Person['sex']; age: number },
  random: Random,
  count: number,
): Map<string, number>[] {
  const days = [generateValues(keys, subject, random)]
  while (days.length < count) days.push(generateValues(keys, subject, random, days.at(-1)))
  return days
}

const OF_ONE_SEX: Record<string, Person['sex']> = {
  psa: 'male',
  psa_free: 'male',
  ca125: 'female',
  hcg_qual: 'female',
  rubella_igg: 'female',
}

const isFor = (key: string, sex: Person['sex']): boolean => (OF_ONE_SEX[key] ?? sex) === sex
