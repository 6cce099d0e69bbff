// Organizations, teams and keys by command: the first steps of a new installation, and the way to regain access if every key is lost.
import type { Typed } from '../command-tree.ts'
import { seedStandardTests } from '../../lab/catalog/lab-tests.ts'
import { createOrgKey, createTeamKey, listOrgKeys, listTeamKeys, revokeKey } from '../../tenancy/keys/keys.ts'
import { createOrg, findOrg, setExpiry, setPlan } from '../../tenancy/organizations/organizations.ts'
import {
  cellsOfRegion,
  createTeam,
  findTeam,
  loadTenant,
  placeTeam,
  switchFeature,
  switchOption,
  type Region,
} from '../../tenancy/teams/teams.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { iso } from '../../platform/runtime/clock.ts'
import { cellNames, type CellName } from '../../platform/db/cell-names.ts'
import { parseTimestamp } from '../../platform/schema/formats.ts'
import { plans } from '../../platform/http/operation.ts'
import { UsageError } from '../usage-error.ts'
import { featureNames, features as allFeatures, optionNames, options as allOptions } from '../../tenancy/teams/features.ts'

export { UsageError }

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Runs `org create`, `org plan`, `org expire`, `team create`, `team feature`, `key create`, `key list` or `key revoke`.
 * @returns what to print; the text of a new key appears only there
 */
export async function runOrgCommand(
  cells: Cells,
  { positionals, values }: Typed<{ org?: string; team?: string; region?: string; cell?: string; label?: string }>,
): Promise<string> {
  switch (positionals.slice(0, 2).join(' ')) {
    case 'org create':
      return createOrganization(cells, requireText(positionals[2], 'org create requires a name'))
    case 'org plan':
      return changePlan(cells, requireId(positionals[2], 'The organization'), positionals[3])
    case 'org expire':
      return changeExpiry(cells, requireId(positionals[2], 'The organization'), positionals[3])
    case 'team create':
      return createOrgTeam(
        cells,
        requireId(values.org, '--org'),
        requireText(positionals[2], 'team create requires a name'),
        requireRegion(values.region),
      )
    case 'team feature':
      return features(cells, requireId(positionals[2], 'The team'), positionals[3], positionals[4])
    case 'key create':
      return values.org === undefined
        ? createKeyOfTeam(cells, requireId(values.team, '--team'), requireCell(values.cell), values.label ?? 'command line')
        : createKeyOfOrg(cells, requireId(values.org, '--org'), values.label ?? 'command line')
    case 'key list':
      return values.org === undefined
        ? listKeysOfTeam(cells, requireId(values.team, '--team'))
        : listKeysOfOrg(cells, requireId(values.org, '--org'))
    case 'key revoke':
      return revoke(cells, requireText(positionals[2], 'key revoke requires a key id or a key'))
    default:
      throw new UsageError(
        'Usage: bin/drawbridge org create | org plan | org expire | team create | team feature | key create | key list | key revoke. See "bin/drawbridge help".',
      )
  }
}

export function requireText(word: string | undefined, otherwise: string): string {
  const text = word?.trim()
  if (!text || text.length > 100) throw new UsageError(`${otherwise} (1 to 100 characters).`)
  return text
}

export function requireId(word: string | undefined, option: string): string {
  if (word === undefined || !UUID.test(word)) throw new UsageError(`${option} must be an id.`)
  return word.toLowerCase()
}

export function requireRegion(word: string | undefined): Region {
  if (word !== 'us' && word !== 'eu') throw new UsageError('--region must be us or eu.')
  return word
}

export function requireCell(word: string | undefined): CellName {
  if (!cellNames.includes(word as CellName)) throw new UsageError(`--cell must be one of ${cellNames.join(', ')}.`)
  return word as CellName
}

/** The same name twice means one organization; each call creates a new key. */
async function createOrganization(cells: Cells, name: string): Promise<string> {
  return cells.control.plainTx(async (tx) => {
    const org_id = (await findOrg(tx, name)) ?? (await createOrg(tx, name))
    const key = await createOrgKey(tx, { org_id, label: 'command line' })
    return `organization    ${org_id}\nmanagement key  ${key}\n`
  })
}

async function changePlan(cells: Cells, org_id: string, plan: string | undefined): Promise<string> {
  const chosen = plans.find((known) => known === plan)
  if (!chosen) throw new UsageError(`The plan must be one of ${plans.join(', ')}.`)
  const found = await cells.control.plainTx((tx) => setPlan(tx, org_id, chosen))
  if (!found) throw new Error('Organization not found.')
  return `Plan set to ${chosen}.\n`
}

/** A calendar day begins at midnight UTC. */
async function changeExpiry(cells: Cells, org_id: string, when: string | undefined): Promise<string> {
  const expiresAt = when === undefined || when === 'never' ? undefined : parseTimestamp(when)
  if (when !== 'never' && !expiresAt) throw new UsageError('org expire requires a date such as 2030-01-31, or "never".')
  const found = await cells.control.plainTx((tx) => setExpiry(tx, org_id, expiresAt?.at ?? null))
  if (!found) throw new Error('Organization not found.')
  return expiresAt ? `The organization is read-only from ${iso(expiresAt.at)}.\n` : 'The organization does not expire.\n'
}

async function createOrgTeam(cells: Cells, org_id: string, name: string, place: Region): Promise<string> {
  requireServedCells(cells, place)
  const id = await cells.control.plainTx(async (tx) => {
    if (!(await findOrg(tx, org_id))) throw new Error('Organization not found.')
    return createTeam(tx, { org_id, name, region: place })
  })
  for (const cellName of cellsOfRegion(place)) await createTeamInCell(cells, cellName, { id, org_id })
  return `team  ${id}\n`
}

/** The cells of a region; all of them must be served here. */
function requireServedCells(cells: Cells, place: Region): CellName[] {
  const missing = cellsOfRegion(place).filter((cellName) => !cells.has(cellName))
  if (missing.length) throw new Error(`A team of this region requires ${missing.join(', ')}, which CELLS does not list.`)
  return cellsOfRegion(place)
}

/** Creates a team's row in a cell; in the sandbox with the four standard lab tests. */
async function createTeamInCell(cells: Cells, cellName: CellName, team: { id: string; org_id: string }): Promise<void> {
  await cells.of(cellName).plainTx((tx) => placeTeam(tx, cellName, team))
  if (!cellName.startsWith('sandbox')) return
  const tenant = await loadTenant(cells, cellName, team.id)
  await cells.of(cellName).tx(tenant!, seedStandardTests)
}

/** Sets a feature of a team in all cells of its region, or lists the features. */
async function features(cells: Cells, team_id: string, name: string | undefined, to: string | undefined): Promise<string> {
  const team = await findTeam(cells.control.queries, team_id)
  if (!team) throw new Error('Team not found.')
  const places = requireServedCells(cells, team.region)
  if (name === 'list') return listFeatures(cells, places, team_id)
  const known = [...featureNames, ...optionNames].find((each) => each === name)
  if (!known) throw new UsageError(`The feature must be one of ${[...featureNames, ...optionNames].join(', ')}, or "list".`)
  if (to !== 'on' && to !== 'off') throw new UsageError('The value must be "on" or "off".')
  const change = Object.hasOwn(allOptions, known) ? switchOption : switchFeature
  for (const cellName of places) await cells.of(cellName).plainTx((tx) => change(tx, team_id, known, to === 'on'))
  return `${known} is ${to}. Takes effect in every process within 5 s.\n`
}

async function listFeatures(cells: Cells, places: CellName[], team_id: string): Promise<string> {
  const tenants = await Promise.all(places.map((cellName) => loadTenant(cells, cellName, team_id)))
  const off = new Set(tenants.flatMap((tenant) => tenant?.features_off ?? []))
  const on = new Set(tenants.flatMap((tenant) => tenant?.options_on ?? []))
  const line = (isOn: boolean, { name, about }: { name: string; about: string }) =>
    `${isOn ? 'on ' : 'off'}  ${name.padEnd(26)}  ${about}\n`
  return [
    ...featureNames.map((name) => line(!off.has(name), allFeatures[name])),
    ...optionNames.map((name) => line(on.has(name), allOptions[name])),
  ].join('')
}

async function createKeyOfTeam(cells: Cells, team_id: string, cellName: CellName, label: string): Promise<string> {
  return cells.control.plainTx(async (tx) => {
    const team = await findTeam(tx, team_id)
    if (!team) throw new Error('Team not found.')
    if (!cellsOfRegion(team.region).includes(cellName))
      throw new UsageError(`Cell ${cellName} is not in the team's region (${team.region}).`)
    return `api key  ${await createTeamKey(tx, { team_id, cell: cellName, label })}\n`
  })
}

async function createKeyOfOrg(cells: Cells, org_id: string, label: string): Promise<string> {
  return cells.control.plainTx(async (tx) => {
    if (!(await findOrg(tx, org_id))) throw new Error('Organization not found.')
    return `management key  ${await createOrgKey(tx, { org_id, label })}\n`
  })
}

async function listKeysOfTeam(cells: Cells, team_id: string): Promise<string> {
  const keys = await listTeamKeys(cells.control.queries, team_id)
  return keys.map((key) => line(key, key.cell)).join('') || 'No API keys.\n'
}

async function listKeysOfOrg(cells: Cells, org_id: string): Promise<string> {
  const keys = await listOrgKeys(cells.control.queries, org_id)
  return keys.map((key) => line(key, key.role)).join('') || 'No management keys.\n'
}

type ListedKey = Omit<Awaited<ReturnType<typeof listTeamKeys>>[number], 'cell'>

function line(key: ListedKey, kind: string): string {
  const used = key.last_used_at ? `used ${key.last_used_at} from ${key.last_used_from}` : 'not used'
  return `${key.id}  ${kind.padEnd(13)}  …${key.hint}  ${key.created_at}  ${used}  ${key.label}\n`
}

async function revoke(cells: Cells, key: string): Promise<string> {
  const revoked = await cells.control.plainTx((tx) => revokeKey(tx, key))
  if (!revoked) throw new Error('Key not found.')
  return 'Key revoked. It stops working in every process within 5 s.\n'
}
