// Parses the shipped files of payors and diagnoses, and files of the same format from an operator. Pure, except that it reads the shipped
// files. A file is imported as a whole or not at all; the error lists every invalid row.
import { readFileSync } from 'node:fs'
import { isUtf8Row, NOT_UTF8, parseCsv } from '../../platform/files/csv.ts'
import { RuleError } from '../../platform/schema/request-validation.ts'
import { ContactAddress } from '../person/address.ts'
import type { Static } from '../../platform/schema/schema.ts'
import { countryRule, stateCode, UNITED_STATES } from '../person/countries.ts'
import { isSecondary, toStoredCode } from './icd-codes.ts'
import { clearinghouses } from './schema.ts'

export const bundledFiles = { payors: 'payors.csv', icd: 'icd-codes.csv', exclusions: 'icd-exclusions.csv' } as const
export type InsuranceDataset = keyof typeof bundledFiles

export const readBundledFile = (part: InsuranceDataset): string =>
  readFileSync(new URL(`data/${bundledFiles[part]}`, import.meta.url), 'utf8')

/** An invalid file, with a message for each invalid row. */
export class InvalidFileError extends Error {
  override name = 'FileFault'
  readonly lines: readonly string[]
  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

export interface PayorRow {
  code: string
  name: string
  aliases: string[]
  org_address: Static<typeof ContactAddress>
  payer_id: string | null
  external_codes: Record<string, string>
  program: string | null
  state: string | null
}

export interface IcdRow {
  code: string
  description: string
  is_secondary: boolean
}

export interface ExclusionRow {
  code: string
  excluded_code: string
  type: string
}

type Line = Record<string, string>

/** Returns the rows of a table, each parsed by `row`, which reports its errors. */
function readRows<R>(
  text: string,
  requiredColumns: string[],
  allowedColumns: string[],
  row: (line: Line, fault: (text: string) => void) => R,
): R[] {
  let lines: Line[]
  try {
    lines = parseCsv(text)
  } catch (error) {
    throw new InvalidFileError([(error as Error).message])
  }
  const names = Object.keys(lines[0] ?? {})
  const lacking = requiredColumns.filter((name) => !names.includes(name))
  const unknownColumns = names.filter((name) => !requiredColumns.includes(name) && !allowedColumns.includes(name))
  if (!lines.length) throw new InvalidFileError(['The file has no rows.'])
  if (lacking.length) throw new InvalidFileError([`The file is missing columns: ${lacking.join(', ')}.`])
  if (unknownColumns.length) throw new InvalidFileError([`The file has unrecognized columns: ${unknownColumns.join(', ')}.`])
  const faults: string[] = []
  const rows = lines.map((line, i) => {
    if (!isUtf8Row(line)) faults.push(`line ${i + 2}: ${NOT_UTF8}`)
    return row(line, (fault) => void faults.push(`line ${i + 2}: ${fault}`))
  })
  if (faults.length) throw new InvalidFileError(faults)
  return rows
}

const addressColumns = ['first_line', 'city', 'state', 'zip']
const optionalColumns = ['aliases', 'second_line', 'country', 'payer_id', 'program', 'program_state', ...clearinghouses]
const programs = ['medicare', 'medicaid']

/**
 * Parses payors of a CSV file: `payor_code,name,first_line,city,state,zip` and optionally `aliases` (separated by `|`), `second_line`,
 * `country`, `payer_id`, a column for each clearinghouse, `program` and `program_state`. Throws InvalidFileError.
 */
export function payorRows(text: string): PayorRow[] {
  const [codes, plans] = [new Set<string>(), new Set<string>()]
  return readRows(text, ['payor_code', 'name', ...addressColumns], optionalColumns, (line, fault) => {
    const value = (name: string, max: number, isRequired = false): string => {
      const text = (line[name] ?? '').trim()
      if (isRequired && !text) fault(`${name} is empty`)
      if (text.length > max || /[\n\r\t\0]/.test(text)) fault(`${name} must have at most ${max} characters in one line`)
      return text
    }
    const code = value('payor_code', 100, true)
    if (code && codes.has(code)) fault(`duplicate payor_code ${code}`)
    codes.add(code)
    const country = countryRule(value('country', 80) || UNITED_STATES)
    if (country instanceof RuleError) fault('country is not valid')
    const stateText = value('state', 200, true)
    const state = country === UNITED_STATES ? stateCode(stateText) : stateText
    if (stateText && !state) fault('state is not a US state')
    const program = value('program', 20).toLowerCase()
    const program_state = value('program_state', 20).toUpperCase()
    if (program && !programs.includes(program)) fault('program must be medicare or medicaid')
    if (!program !== !program_state || (program_state && !stateCode(program_state)))
      fault('program and program_state must be set together, and program_state must be a two-letter code')
    if (program && plans.has(`${program} ${program_state}`)) fault(`duplicate ${program} program for ${program_state}`)
    plans.add(`${program} ${program_state}`)
    const external = clearinghouses.map((name) => [name, value(name, 50)] as const).filter(([, id]) => id)
    const aliases = value('aliases', 2000)
      .split('|')
      .map((alias) => alias.trim())
    return {
      code,
      name: value('name', 200, true),
      aliases: [...new Set(aliases)].filter(Boolean),
      org_address: {
        first_line: value('first_line', 200, true),
        second_line: value('second_line', 200),
        city: value('city', 200, true),
        state: state ?? '',
        zip: value('zip', 20, true),
        country: country instanceof RuleError ? '' : country,
        access_notes: null,
      },
      payer_id: value('payer_id', 50) || null,
      external_codes: Object.fromEntries(external),
      program: program || null,
      state: program ? program_state : null,
    }
  })
}

/** Maximum length of a description; the longest existing one has 228 characters. */
const DESCRIPTION_MAX = 400
/** `icd10cm-order-YYYY.txt`: number, code, whether it is billable, short and long description, in fixed columns. */
const ORDER_LINE = /^\d{5} ([A-Z0-9]{3,7})\s+([01]) /
const LONG_FROM = 77
const ORDER_SIZE_MAX = 64 * 1024 * 1024

/**
 * Parses diagnoses of a file: the order file of CMS, or CSV with `code,description` and optionally `billable` (1 or 0). Throws
 * InvalidFileError.
 */
export const icdRows = (text: string): IcdRow[] => (ORDER_LINE.test(text) ? orderRows(text) : csvIcdRows(text))

/** Adds a diagnosis to the rows, or reports its error. */
function collect(rows: Map<string, IcdRow>, codeText: string, description: string, fault: (text: string) => void): void {
  const code = toStoredCode(codeText)
  if (!code) fault('the code is malformed')
  else if (rows.has(code)) fault(`duplicate ${code}`)
  else if (!description || description.length > DESCRIPTION_MAX || /[\n\r\t\0]/.test(description))
    fault(`the description must have 1 to ${DESCRIPTION_MAX} characters in one line`)
  else rows.set(code, { code, description, is_secondary: isSecondary(description) })
}

function csvIcdRows(text: string): IcdRow[] {
  const rows = new Map<string, IcdRow>()
  readRows(text, ['code', 'description'], ['billable'], (line, fault) => {
    const billable = (line.billable ?? '').trim() || '1'
    if (billable !== '0' && billable !== '1') fault('billable must be 1 or 0')
    else if (billable === '1') collect(rows, line.code!, line.description!.trim(), fault)
  })
  return acceptRows(rows)
}

function orderRows(text: string): IcdRow[] {
  if (text.length > ORDER_SIZE_MAX) throw new InvalidFileError([`The file is longer than ${ORDER_SIZE_MAX} characters.`])
  const rows = new Map<string, IcdRow>()
  const faults: string[] = []
  text.split(/\r?\n/).forEach((line, i) => {
    if (!line) return
    const fail = (message: string) => void faults.push(`line ${i + 1}: ${message}`)
    const match = ORDER_LINE.exec(line)
    if (!line.isWellFormed()) fail(NOT_UTF8)
    else if (!match) fail('the line is not in the order-file format')
    else if (match[2] === '1') collect(rows, match[1]!, line.slice(LONG_FROM).trim(), fail)
  })
  if (faults.length) throw new InvalidFileError(faults)
  return acceptRows(rows)
}

function acceptRows(rows: Map<string, IcdRow>): IcdRow[] {
  if (!rows.size) throw new InvalidFileError(['The file has no billable code.'])
  return [...rows.values()]
}

/** Parses exclusions of a CSV file, `code,excluded,type`; codes may be prefixes. Throws InvalidFileError. */
export function exclusionRows(text: string): ExclusionRow[] {
  const pairs = new Set<string>()
  return readRows(text, ['code', 'excluded', 'type'], [], (line, fault) => {
    const [code, excluded] = [toStoredCode(line.code!), toStoredCode(line.excluded!)]
    if (!code || !excluded) fault('the code is malformed')
    if (pairs.has(`${code} ${excluded}`)) fault('duplicate pair')
    pairs.add(`${code} ${excluded}`)
    if (!/^excludes[12]$/.test(line.type!)) fault('type must be excludes1 or excludes2')
    return { code: code ?? '', excluded_code: excluded ?? '', type: line.type! }
  })
}
