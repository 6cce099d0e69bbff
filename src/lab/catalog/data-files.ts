// Reads the catalog's data files as rows of its tables. Pure: reads files, does not know the database. Every error names its file and row.
import { readFileSync } from 'node:fs'
import { parseCsv } from '../../platform/files/csv.ts'
import type { AnalyteDefinition, ExpectedMarker } from './analytes.ts'
import type { Price, Question } from './schema.ts'

const files = { labs: ['labs.json'], offers: ['analytes.csv', 'markers.csv', 'aoe.json'] } as const
/** The labs, or their offers. */
export type CatalogPart = keyof typeof files
type FileName = (typeof files)[CatalogPart][number]

/** The text of a data file. */
export const readDataFile = (name: FileName): string => readFileSync(new URL(`data/${name}`, import.meta.url), 'utf8')

/** The files of a part of the catalog. */
export const filesOfPart = (part: CatalogPart): readonly FileName[] => files[part]

export interface LabRow {
  id: number
  slug: string
  name: string
  first_line_address: string
  city: string
  state: string
  zipcode: string
  collection_methods: string[]
  sample_types: string[]
  logo_url: string | null
  clia: string | null
  medical_director: string | null
  accreditation?: string | null
  country?: string
  max_first_name?: number | null
  max_last_name?: number | null
  allowed_genders?: string[] | null
}

export const labRows = (): LabRow[] => JSON.parse(readDataFile('labs.json')) as LabRow[]

type AnalyteRow = Omit<ExpectedMarker['expected'][number], 'required'>

interface MarkerRow {
  id: number
  lab_id: number
  provider_id: string
  name: string
  slug: string
  description: string | null
  type: string
  unit: string | null
  price: string
  pricing?: Price | null
  cpt_codes?: string[]
  aoe: { questions: Question[] } | null
  a_la_carte_enabled: boolean
  is_orderable: boolean
  common_tat_days: number | null
  worst_case_tat_days: number | null
}

interface MarkerAnalyteRow {
  marker_id: number
  analyte: string
  position: number
  required: boolean
}

export interface CatalogRows {
  analytes: AnalyteRow[]
  markers: MarkerRow[]
  marker_analytes: MarkerAnalyteRow[]
}

/** The offers of the labs. Throws at the first row that is invalid or refers to a missing row. */
export function readCatalogRows(): CatalogRows {
  const lab_ids = new Map(labRows().map((lab) => [lab.slug, lab.id]))
  const questions = JSON.parse(readDataFile('aoe.json')) as Record<string, Question[]>
  const analytes = parseCsv(readDataFile('analytes.csv')).map((row) => analyteRow(new Row('analytes.csv', row)))
  const bySlug = new Map(analytes.map((analyte) => [analyte.slug, analyte]))
  const markers: MarkerRow[] = []
  const marker_analytes: MarkerAnalyteRow[] = []
  for (const row of parseCsv(readDataFile('markers.csv'))) {
    const fields = new Row('markers.csv', row)
    const links = [...fields.list('analytes'), ...fields.list('optional_analytes')]
    const required = fields.list('analytes').length
    for (const slug of links) if (!bySlug.has(slug)) throw fields.fail(`analyte "${slug}" does not exist`)
    const id = fields.number('id')
    marker_analytes.push(...links.map((analyte, i) => ({ marker_id: id, analyte, position: i + 1, required: i < required })))
    const single = fields.text('type') === 'biomarker' && links.length === 1 ? bySlug.get(links[0]!) : undefined
    markers.push(markerRow(fields, lab_ids, questions, single?.definition.unit ?? null))
  }
  return { analytes, markers, marker_analytes }
}

function analyteRow(fields: Row): AnalyteRow {
  const definition: AnalyteDefinition = {
    type: fields.readEnum('type', ['numeric', 'range', 'comment', 'coded_value']),
    unit: fields.optionalText('unit'),
    decimals: fields.maybeNumber('decimals'),
    low: fields.maybeNumber('low'),
    high: fields.maybeNumber('high'),
    low_female: fields.maybeNumber('low_female'),
    high_female: fields.maybeNumber('high_female'),
    low_male: fields.maybeNumber('low_male'),
    high_male: fields.maybeNumber('high_male'),
    critical_low: fields.maybeNumber('critical_low'),
    critical_high: fields.maybeNumber('critical_high'),
    range_text: fields.optionalText('range_text'),
    specimen: fields.optionalText('specimen'),
    description: fields.optionalText('description'),
  }
  return {
    slug: fields.text('slug'),
    name: fields.text('name'),
    loinc: fields.optionalText('loinc'),
    loinc_name: fields.optionalText('loinc_name'),
    definition,
  }
}

function markerRow(
  fields: Row,
  lab_ids: Map<string, number>,
  questions: Record<string, Question[]>,
  unit: string | null,
): MarkerRow {
  const lab_id = lab_ids.get(fields.text('lab'))
  if (lab_id === undefined) throw fields.fail(`lab "${fields.text('lab')}" does not exist`)
  const aoe = fields.optionalText('aoe')
  if (aoe !== null && !Object.hasOwn(questions, aoe)) throw fields.fail(`question set "${aoe}" does not exist`)
  return {
    id: fields.number('id'),
    lab_id,
    provider_id: fields.text('provider_id'),
    name: fields.text('name'),
    slug: fields.text('slug'),
    description: fields.optionalText('description'),
    type: fields.readEnum('type', ['biomarker', 'panel']),
    unit,
    price: fields.optionalText('price') ?? 'N/A',
    aoe: aoe === null ? null : { questions: questions[aoe]! },
    a_la_carte_enabled: fields.boolean('a_la_carte_enabled'),
    is_orderable: fields.boolean('is_orderable'),
    common_tat_days: fields.maybeNumber('common_tat_days'),
    worst_case_tat_days: fields.maybeNumber('worst_case_tat_days'),
  }
}

/** One row of a file, read by column. An empty field means "not given". */
class Row {
  readonly #file: string
  readonly #row: Record<string, string>
  constructor(file: string, row: Record<string, string>) {
    this.#file = file
    this.#row = row
  }

  fail(text: string): Error {
    return new Error(`${this.#file}, row ${this.#row.id ?? this.#row.slug}: ${text}`)
  }

  optionalText(column: string): string | null {
    const value = this.#row[column]
    if (value === undefined) throw this.fail(`column ${column} is missing`)
    return value === '' ? null : value
  }

  text(column: string): string {
    const value = this.optionalText(column)
    if (value === null) throw this.fail(`${column} is empty`)
    return value
  }

  list(column: string): string[] {
    return this.optionalText(column)?.split(' ') ?? []
  }

  maybeNumber(column: string): number | null {
    const value = this.optionalText(column)
    if (value === null) return null
    if (!/^-?\d+(\.\d+)?$/.test(value)) throw this.fail(`${column} is not a number`)
    return Number(value)
  }

  number(column: string): number {
    const value = this.maybeNumber(column)
    if (value === null) throw this.fail(`${column} is empty`)
    return value
  }

  boolean(column: string): boolean {
    return this.readEnum(column, ['true', 'false']) === 'true'
  }

  readEnum<const V extends string>(column: string, values: readonly V[]): V {
    const value = values.find((candidate) => candidate === this.#row[column])
    if (value === undefined) throw this.fail(`${column} must be one of ${values.join(', ')}`)
    return value
  }
}
