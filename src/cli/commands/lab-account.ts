// Lab accounts by command: the operator has the contracts with laboratories, so accounts are created and changed here and not over HTTP.
// Source: management-auth.md 12.
import { UsageError, type Call } from '../command-tree.ts'
import {
  requireFound,
  optionalId,
  optionalOrg,
  requireCell,
  requireId,
  requireChoice,
  runReportingProblems,
} from '../command-input.ts'
import { printJson, printCreated, printRows } from '../command-output.ts'
import { createAccount, findAccount, listForOperator, updateAccount, type AccountChange } from '../../lab/accounts/accounts.ts'
import { accountStatuses, delegatedFlows, TEAMS_MAX, type AllowedBilling } from '../../lab/accounts/schema.ts'
import { billingTypes } from '../../lab/catalog/enums.ts'
import { usStates } from '../../people/person/countries.ts'

interface Options {
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
  json?: boolean
}

/** `lab-account create`. */
export async function create(call: Call<Options>): Promise<string> {
  const { values } = call
  const { name: cell, db } = requireCell(call)
  const lab = optionalText(values.lab, '--lab', 100)?.toLowerCase()
  if (lab === undefined) throw new UsageError('--lab is required: the slug of a lab of the cell.')
  const provider_account_id = optionalText(values.account, '--account', 100)
  if (provider_account_id === undefined) throw new UsageError('--account is required: the account number at the lab.')
  const org_id = await optionalOrg(call)
  const change = changeOf({ billing: ['client_bill=all'], ...values })
  const accountId = await runReportingProblems(db, (tx) => createAccount(tx, { ...change, lab, provider_account_id, org_id }))
  return printCreated(values.json, { lab_account_id: accountId, cell, lab, provider_account_id }, { 'lab account': accountId })
}

/** `lab-account update`. */
export async function update(call: Call<Options>): Promise<string> {
  const { args, values } = call
  const { db } = requireCell(call)
  const account = requireId(args[0], 'The lab account')
  const change = changeOf(values)
  if (Object.keys(change).length === 0) throw new UsageError('At least one change is required.')
  await runReportingProblems(db, (tx) => updateAccount(tx, account, change))
  return 'Lab account updated. Takes effect in every process within 5 s.\n'
}

/** `lab-account show`. */
export async function printAccount(call: Call<Options>): Promise<string> {
  const { db } = requireCell(call)
  const account = await findAccount(db.queries, requireId(call.args[0], 'The lab account'))
  return printJson(requireFound(account, 'Lab account not found in this cell.'))
}

/** `lab-account list`. */
export async function printAccounts(call: Call<Options>): Promise<string> {
  const { values } = call
  const { db } = requireCell(call)
  return printRows(
    values.json,
    await listForOperator(db.queries, optionalId(values.org, '--org')),
    ({ id, lab, status, org_id, team_id_allowlist: teams, provider_account_id }) => {
      const owner = (org_id ?? 'platform').padEnd(36)
      return `${id}  ${lab.padEnd(12)}  ${status.padEnd(15)}  ${owner}  ${org_id ? teams.length : 'all'} teams  ${provider_account_id}`
    },
    'No lab accounts.',
  )
}

const CLEAR_ALL = 'none'

/** The values of the options; omitted options change nothing. */
function changeOf(values: Options): AccountChange {
  const status = values.status?.toLowerCase()
  const number = optionalText(values.account, '--account', 100)
  const [name, notes] = [optionalText(values.name, '--name', 200), optionalText(values.notes, '--notes', 1000)]
  const units = readMany(values.unit, '--unit', 50)
  const teams = readMany(values.team, '--team', TEAMS_MAX)
  return {
    ...(status !== undefined && { status: requireChoice(accountStatuses, status, '--status') }),
    ...(values.flow !== undefined && { delegated_flow: requireChoice(delegatedFlows, values.flow, '--flow') }),
    ...(number !== undefined && { provider_account_id: number }),
    ...(name !== undefined && { account_name: name === CLEAR_ALL ? null : name }),
    ...(notes !== undefined && { default_clinical_notes: notes === CLEAR_ALL ? null : notes }),
    ...(units && { business_units: units.length ? units.map((unit) => optionalText(unit, '--unit', 100)!) : null }),
    ...(values.billing && { allowed_billing: billing(readMany(values.billing, '--billing', 50)!) }),
    ...(teams && { team_ids: teams.map((team) => requireId(team, '--team')) }),
  }
}

function optionalText(word: string | undefined, option: string, length_max: number): string | undefined {
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
    const known = requireChoice(billingTypes, type, 'The type in --billing')
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
