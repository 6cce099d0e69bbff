// Lab accounts by command: the operator has the contracts with laboratories, so accounts are created and changed here and not over HTTP.
// Source: management-auth.md 12.
import type { Typed } from '../command-tree.ts'
import { requireCell, requireId, UsageError } from './org.ts'
import { createAccount, findAccount, listForOperator, updateAccount, type AccountChange } from '../../lab/accounts/accounts.ts'
import { accountStatuses, delegatedFlows, TEAMS_MAX, type AllowedBilling } from '../../lab/accounts/schema.ts'
import { findOrg } from '../../tenancy/organizations/organizations.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { billingTypes } from '../../lab/catalog/enums.ts'
import { usStates } from '../../people/person/countries.ts'

/**
 * Runs `lab-account create`, `lab-account update`, `lab-account list` or `lab-account show`.
 * @returns what to print
 */
export async function labAccountCommand(cells: Cells, { positionals, values }: Typed<Values>): Promise<string> {
  const [, command, named] = positionals
  if (!['create', 'update', 'list', 'show'].includes(command ?? ''))
    throw new UsageError(
      'Usage: bin/drawbridge lab-account create | lab-account update | lab-account list | lab-account show. See "bin/drawbridge help".',
    )
  const place = requireServedCell(cells, requireCell(values.cell))
  switch (command) {
    case 'create':
      return create(cells, place, values)
    case 'update':
      return update(place, requireId(named, 'The lab account'), values)
    case 'show':
      return show(place, requireId(named, 'The lab account'))
    default:
      return list(place, values.org === undefined ? undefined : requireId(values.org, '--org'))
  }
}

interface Values {
  cell?: string
  lab?: string
  org?: string
  account?: string
  status?: string
  flow?: string
  name?: string
  notes?: string
  unit?: string[]
  billing?: string[]
  team?: string[]
}

/** A cell that this installation serves. */
export function requireServedCell(cells: Cells, name: CellName): Db {
  if (!cells.has(name)) throw new Error(`Cell ${name} is not listed in CELLS.`)
  return cells.of(name)
}

/** Runs `work` in the cell and turns its errors into sentences. */
export async function runReportingErrors<R>(place: Db, work: (tx: PlainTx) => Promise<R>): Promise<R> {
  try {
    return await place.plainTx(work)
  } catch (error) {
    if (error instanceof Problem && typeof error.body.detail === 'string') throw new UsageError(`${error.body.detail}.`)
    throw error
  }
}

async function create(cells: Cells, place: Db, values: Values): Promise<string> {
  const lab = text(values.lab, '--lab', 100)?.toLowerCase()
  if (lab === undefined) throw new UsageError('--lab is required: the slug of a lab of the cell.')
  const provider_account_id = text(values.account, '--account', 100)
  if (provider_account_id === undefined) throw new UsageError('--account is required: the account number at the lab.')
  const org_id = values.org === undefined ? null : requireId(values.org, '--org')
  if (org_id !== null && !(await cells.control.plainTx((tx) => findOrg(tx, org_id)))) throw new Error('Organization not found.')
  const change = changeOf({ billing: ['client_bill=all'], ...values })
  const made = await runReportingErrors(place, (tx) => createAccount(tx, { ...change, lab, provider_account_id, org_id }))
  return `lab account  ${made}\n`
}

async function update(place: Db, account: string, values: Values): Promise<string> {
  const change = changeOf(values)
  if (Object.keys(change).length === 0) throw new UsageError('At least one change is required.')
  await runReportingErrors(place, (tx) => updateAccount(tx, account, change))
  return 'Lab account updated. Takes effect in every process within 5 s.\n'
}

async function show(place: Db, account: string): Promise<string> {
  const found = await findAccount(place.queries, account)
  if (!found) throw new Error('Lab account not found in this cell.')
  return `${JSON.stringify(found, null, 2)}\n`
}

async function list(place: Db, org_id: string | undefined): Promise<string> {
  const accounts = await listForOperator(place.queries, org_id)
  const lines = accounts.map(({ id, lab, status, org_id, team_id_allowlist: teams, provider_account_id }) => {
    const owner = (org_id ?? 'platform').padEnd(36)
    return `${id}  ${lab.padEnd(12)}  ${status.padEnd(15)}  ${owner}  ${org_id ? teams.length : 'all'} teams  ${provider_account_id}\n`
  })
  return lines.join('') || 'No lab accounts.\n'
}

const CLEAR_ALL = 'none'

/** The values of the options; omitted options change nothing. */
function changeOf(values: Values): AccountChange {
  const status = values.status?.toLowerCase()
  const number = text(values.account, '--account', 100)
  const [name, notes] = [text(values.name, '--name', 200), text(values.notes, '--notes', 1000)]
  const units = readMany(values.unit, '--unit', 50)
  const teams = readMany(values.team, '--team', TEAMS_MAX)
  return {
    ...(status !== undefined && { status: readOneOf(accountStatuses, status, '--status') }),
    ...(values.flow !== undefined && { delegated_flow: readOneOf(delegatedFlows, values.flow, '--flow') }),
    ...(number !== undefined && { provider_account_id: number }),
    ...(name !== undefined && { account_name: name === CLEAR_ALL ? null : name }),
    ...(notes !== undefined && { default_clinical_notes: notes === CLEAR_ALL ? null : notes }),
    ...(units && { business_units: units.length ? units.map((unit) => text(unit, '--unit', 100)!) : null }),
    ...(values.billing && { allowed_billing: billing(readMany(values.billing, '--billing', 50)!) }),
    ...(teams && { team_ids: teams.map((team) => requireId(team, '--team')) }),
  }
}

function readOneOf<const V extends string>(allowed: readonly V[], word: string | undefined, option: string): V {
  const found = allowed.find((value) => value === word)
  if (!found) throw new UsageError(`${option} must be one of ${allowed.join(', ')}.`)
  return found
}

function text(word: string | undefined, option: string, length_max: number): string | undefined {
  const trimmed = word?.trim()
  if (trimmed === undefined) return undefined
  if (!trimmed || trimmed.length > length_max || !trimmed.isWellFormed())
    throw new UsageError(`${option} must be 1 to ${length_max} characters long.`)
  return trimmed
}

/** The values of a repeatable option; `none` alone means an empty list. */
function readMany(words: string[] | undefined, option: string, count_max: number): string[] | undefined {
  if (words?.length === 1 && words[0] === CLEAR_ALL) return []
  if (words && words.length > count_max) throw new UsageError(`${option} can be repeated at most ${count_max} times.`)
  return words
}

/** `client_bill=all` or `client_bill=AZ,CA`, each type once. */
function billing(words: string[]): AllowedBilling {
  const result: AllowedBilling = {}
  for (const word of words) {
    const [type, states] = word.split('=')
    const known = readOneOf(billingTypes, type, 'The type in --billing')
    if (result[known]) throw new UsageError(`--billing contains ${known} twice.`)
    result[known] = states === 'all' ? usStates : (states ?? '').toUpperCase().split(',').map(readState)
  }
  return result
}

function readState(code: string): string {
  if (!usStates.includes(code))
    throw new UsageError('The states in --billing must be "all" or codes of US states, such as AZ,CA.')
  return code
}
