// Laboratories of a cell by command: whether they can take orders, and the identity that documents print.
import { UsageError, type Call } from '../command-tree.ts'
import { requireFound, requireCell, runReportingProblems, type Place } from '../command-input.ts'
import { printJson, printRows } from '../command-output.ts'
import { listLabStates } from '../../lab/accounts/lab-states.ts'
import { findIdentity } from '../../lab/catalog/lab-identity.ts'
import type { LabIdentity } from '../../lab/catalog/labs.ts'
import { setLabIdentity } from '../../lab/catalog/set-lab-identity.ts'
import { countryCode, knownCountry } from '../../people/person/countries.ts'

interface Options {
  cell?: string
  name?: string
  address?: string
  city?: string
  state?: string
  zip?: string
  country?: string
  clia?: string
  accreditation?: string
  director?: string
  json?: boolean
}

/** `lab list`. */
export async function printLabs(call: Call<Options>): Promise<string> {
  const { name, db } = requireCell(call)
  return printRows(
    call.values.json,
    await listLabStates(db.queries, name),
    ({ slug, identity, accounts, name: shown }) =>
      `${slug.padEnd(13)} ${`identity ${identity}`.padEnd(18)} ${`${accounts} accounts`.padEnd(12)} ${shown}`,
  )
}

/** `lab identity set`. */
export async function setIdentity(call: Call<Options>): Promise<string> {
  const {
    args: [slug],
    values,
  } = call
  const place = requireProductionCell(requireCell(call))
  const change = changeOf(values)
  if (Object.keys(change).length === 0) throw new UsageError('At least one part of the identity is required.')
  const identity = await runReportingProblems(place.db, (tx) => setLabIdentity(tx, slug!, change))
  return `${identity.name}: identity set. Takes effect in every process within 5 s.\n`
}

/** `lab identity show`. */
export async function showIdentity(call: Call<Options>): Promise<string> {
  const identity = await requireCell(call).db.plainTx((tx) => findIdentity(tx, call.args[0]!))
  return printJson(requireFound(identity, NO_LAB))
}

function requireProductionCell(place: Place): Place {
  if (place.name.startsWith('production')) return place
  throw new UsageError('Laboratories of a sandbox are fictional; --cell must be a production cell.')
}

const NO_LAB = 'Lab not found in this cell.'
const CLEAR = 'none'
const CLIA = /^\d{2}D\d{7}$/

/** The values of the options; omitted options change nothing. */
function changeOf(values: Options): Partial<LabIdentity> {
  const texts: [keyof LabIdentity, keyof Options, length_max: number][] = [
    ['name', 'name', 200],
    ['first_line_address', 'address', 200],
    ['city', 'city', 200],
    ['state', 'state', 200],
    ['zipcode', 'zip', 20],
    ['clia', 'clia', 50],
    ['accreditation', 'accreditation', 200],
    ['medical_director', 'director', 200],
  ]
  const change: Record<string, string | null> = {}
  for (const [field, option, length_max] of texts) {
    const given = optionalLine(values[option] as string | undefined, `--${option}`, length_max)
    if (given !== undefined) change[field] = given
  }
  for (const field of ['clia', 'accreditation']) if (change[field] === CLEAR) change[field] = null
  if (change.state === CLEAR) change.state = ''
  if (change.clia) change.clia = cliaOf(change.clia)
  const country = optionalLine(values.country, '--country', 80)
  if (country !== undefined) change.country = countryOf(country)
  return change
}

function cliaOf(number: string): string {
  if (!CLIA.test(number.toUpperCase())) throw new UsageError('--clia must be a CLIA number, such as 99D0000001.')
  return number.toUpperCase()
}

function countryOf(country: string): string {
  if (countryCode(country) === undefined)
    throw new UsageError('--country must be a two-letter code or the English name of a country.')
  return knownCountry(country) as string
}

function optionalLine(word: string | undefined, option: string, length_max: number): string | undefined {
  const trimmed = word?.trim()
  if (trimmed === undefined) return undefined
  // oxlint-disable-next-line no-control-regex -- a document prints it on one line
  if (!trimmed || trimmed.length > length_max || !trimmed.isWellFormed() || /[\u0000-\u001f]/.test(trimmed))
    throw new UsageError(`${option} must be 1 to ${length_max} characters long, in one line.`)
  return trimmed
}
