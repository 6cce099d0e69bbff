// Organizations, teams and keys by command: the first steps of a new installation, and the way to regain access if every key is lost.
import type { Feature, Option } from '../../platform/http/feature-flags.ts'
import { UsageError, type Call } from '../command-tree.ts'
import { cellWord, requireFound, optionalId, requireId, requireChoice, requireText } from '../command-input.ts'
import { printJson, printCreated, printRows } from '../command-output.ts'
import { seedStandardTests } from '../../lab/catalog/lab-tests.ts'
import { createOrgKey, createTeamKey, isMember, listOrgKeys, listTeamKeys, revokeKey } from '../../tenancy/keys/keys.ts'
import { createOrg, findOrg, listOrgs, setExpiry, setPlan } from '../../tenancy/organizations/organizations.ts'
import {
  cellsOfRegion,
  createTeam,
  findTeam,
  listTeams,
  loadTenant,
  placeTeam,
  switchFeature,
  switchOption,
  type Region,
} from '../../tenancy/teams/teams.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { iso } from '../../platform/runtime/clock.ts'
import { cellNames, type CellName } from '../../settings/cells.ts'
import { parseTimestamp } from '../../platform/schema/formats.ts'
import { plans } from '../../tenancy/organizations/plans.ts'

type Options = { org?: string; team?: string; region?: string; cell?: string; label?: string; member?: string; json?: boolean }

const NO_ORG = 'Organization not found.'
const NO_MEMBER = 'Member not found.'
const NO_TEAM = 'Team not found.'
const LABEL = 'command line'

/** `org create`: the same name twice means one organization; each call creates a new key. */
export async function createOrganization({ cells, args, values }: Call<Options>): Promise<string> {
  const name = requireText(args[0], 'org create requires a name')
  return cells.control.plainTx(async (tx) => {
    const org_id = (await findOrg(tx, name)) ?? (await createOrg(tx, name))
    const management_key_id = tx.uuid()
    const management_key = await createOrgKey(tx, { id: management_key_id, org_id, label: LABEL })
    const made = { org_id, name, management_key_id, management_key }
    return printCreated(values.json, made, { organization: org_id, 'management key': management_key })
  })
}

/** `org list`. */
export async function listOrganizations({ cells, values }: Call<Options>): Promise<string> {
  return printRows(
    values.json,
    await listOrgs(cells.control.queries),
    ({ id, plan, created_at, expires_at, teams, name }) =>
      `${id}  ${plan.padEnd(6)}  ${created_at}  ${expires_at === null ? '' : `read-only from ${expires_at}  `}${teams} teams  ${name}`,
    'No organizations.',
  )
}

/** `org plan`. */
export async function changePlan({ cells, args }: Call): Promise<string> {
  const org_id = requireId(args[0], 'The organization')
  const plan = requireChoice(plans, args[1], 'The plan')
  requireFound(await cells.control.plainTx((tx) => setPlan(tx, org_id, plan)), NO_ORG)
  return `Plan set to ${plan}.\n`
}

/** `org expire`. A calendar day begins at midnight UTC. */
export async function changeExpiry({ cells, args: [org, when] }: Call): Promise<string> {
  const org_id = requireId(org, 'The organization')
  const expiresAt = when === 'never' ? undefined : parseTimestamp(when!)
  if (when !== 'never' && !expiresAt) throw new UsageError('org expire requires a date such as 2030-01-31, or "never".')
  requireFound(await cells.control.plainTx((tx) => setExpiry(tx, org_id, expiresAt?.instant ?? null)), NO_ORG)
  return expiresAt ? `The organization is read-only from ${iso(expiresAt.instant)}.\n` : 'The organization does not expire.\n'
}

/** `team create`, in both cells of a region; in the sandbox with the four standard lab tests. */
export async function createOrgTeam({ cells, args, values }: Call<Options>): Promise<string> {
  const org_id = requireId(values.org, '--org')
  const name = requireText(args[0], 'team create requires a name')
  const { region } = values
  if (region !== 'us' && region !== 'eu') throw new UsageError('--region must be us or eu.')
  const places = requireCells(cells, region)
  const id = await cells.control.plainTx(async (tx) => {
    requireFound(await findOrg(tx, org_id), NO_ORG)
    return createTeam(tx, { org_id, name, region })
  })
  for (const cell of places) {
    await cells.db(cell).plainTx((tx) => placeTeam(tx, cell, { id, org_id }))
    if (cell.startsWith('sandbox')) await cells.db(cell).tx((await loadTenant(cells, cell, id))!, seedStandardTests)
  }
  return printCreated(values.json, { team_id: id, org_id, name, region, cells: places }, { team: id })
}

/** `team list`, of one organization or of all. */
export async function listAllTeams({ cells, values }: Call<Options>): Promise<string> {
  const org_id = values.org === undefined ? null : requireId(values.org, '--org')
  if (org_id !== null) requireFound(await cells.control.plainTx((tx) => findOrg(tx, org_id)), NO_ORG)
  return printRows(
    values.json,
    await listTeams(cells.control.queries, org_id),
    ({ id, org_id: owner, region, created_at, name }) => `${id}  ${owner}  ${region}  ${created_at}  ${name}`,
    'No teams.',
  )
}

/** The cells of a region; all of them must be served here. */
function requireCells(cells: Cells, region: Region): CellName[] {
  const missing = cellsOfRegion(region).filter((cell) => !cells.has(cell))
  if (missing.length) throw new Error(`A team of this region requires ${missing.join(', ')}, which CELLS does not list.`)
  return cellsOfRegion(region)
}

/** `team feature`: sets a feature of a team in all cells of its region, or lists the features. */
export async function changeFeature({ cells, args: [id, name, to], values }: Call<Options>): Promise<string> {
  const team_id = requireId(id, 'The team')
  const team = requireFound(await findTeam(cells.control.queries, team_id), NO_TEAM)
  const places = requireCells(cells, team.region)
  if (name === 'list') return listFeatures(cells, places, team_id, values.json)
  const { features, options } = await loadFeatures()
  const names = [...features, ...options].map((feature) => feature.name)
  const known = names.find((featureName) => featureName === name)
  if (!known) throw new UsageError(`The feature must be one of ${names.join(', ')}, or "list".`)
  if (to !== 'on' && to !== 'off') throw new UsageError('The value must be "on" or "off".')
  const change = options.some((option) => option.name === known) ? switchOption : switchFeature
  for (const cell of places) await cells.db(cell).plainTx((tx) => change(tx, team_id, known, to === 'on'))
  return `${known} is ${to}. Takes effect in every process within 5 s.\n`
}

/** The features and options of all modules, by name. Loaded when needed: the modules of the program take a second to load. */
async function loadFeatures(): Promise<{ features: Feature[]; options: Option[] }> {
  const { contents } = await import('../../app/contents.ts')
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
  return { features: contents.features.toSorted(byName), options: contents.options.toSorted(byName) }
}

async function listFeatures(cells: Cells, places: CellName[], team_id: string, json?: boolean): Promise<string> {
  const tenants = await Promise.all(places.map((cellName) => loadTenant(cells, cellName, team_id)))
  const { features, options } = await loadFeatures()
  const off = new Set(tenants.flatMap((tenant) => tenant?.disabled_features ?? []))
  const on = new Set(tenants.flatMap((tenant) => tenant?.options_on ?? []))
  const states = [
    ...features.map(({ name, about }) => ({ name, about, is_on: !off.has(name) })),
    ...options.map(({ name, about }) => ({ name, about, is_on: on.has(name) })),
  ]
  if (json) return printJson(states)
  return states.map(({ name, about, is_on }) => `${is_on ? 'on ' : 'off'}  ${name.padEnd(26)}  ${about}\n`).join('')
}

/** `key create`, of a team or of an organization. The text of the key appears only in the output. */
export async function createKey(call: Call<Options>): Promise<string> {
  const { cells, values } = call
  const { org, team, member, label = LABEL } = values
  const member_id = optionalId(member, '--member')
  if (org !== undefined) {
    const org_id = requireId(org, '--org')
    return cells.control.plainTx(async (tx) => {
      requireFound(await findOrg(tx, org_id), NO_ORG)
      requireFound((await isMember(tx, org_id, member_id)) || undefined, NO_MEMBER)
      const key_id = tx.uuid()
      const management_key = await createOrgKey(tx, { id: key_id, org_id, label, member_id })
      return printCreated(values.json, { key_id, management_key, org_id, label }, { 'management key': management_key })
    })
  }
  const team_id = requireId(team, '--team')
  const cell = requireChoice(cellNames, cellWord(call), '--cell')
  return cells.control.plainTx(async (tx) => {
    const { region, org_id } = requireFound(await findTeam(tx, team_id), NO_TEAM)
    if (!cellsOfRegion(region).includes(cell)) throw new UsageError(`Cell ${cell} is not in the team's region (${region}).`)
    requireFound((await isMember(tx, org_id, member_id)) || undefined, NO_MEMBER)
    const key_id = tx.uuid()
    const api_key = await createTeamKey(tx, { id: key_id, team_id, cell, label, member_id })
    return printCreated(values.json, { key_id, api_key, team_id, cell, label }, { 'api key': api_key })
  })
}

/** `key list`, of a team or of an organization. */
export async function listKeys({ cells, values: { org, team, json } }: Call<Options>): Promise<string> {
  const { queries } = cells.control
  return org === undefined
    ? printRows(json, await listTeamKeys(queries, requireId(team, '--team')), (key) => line(key, key.cell), 'No API keys.')
    : printRows(json, await listOrgKeys(queries, requireId(org, '--org')), (key) => line(key, key.role), 'No management keys.')
}

type ListedKey = Omit<Awaited<ReturnType<typeof listTeamKeys>>[number], 'cell'>

function line(key: ListedKey, kind: string): string {
  const used = key.last_used_at ? `used ${key.last_used_at} from ${key.last_used_ip}` : 'not used'
  const member = key.member_id === null ? '' : `  for member ${key.member_id}`
  return `${key.id}  ${kind.padEnd(13)}  …${key.last_four}  ${key.created_at}  ${used}  ${key.label}${member}`
}

/** `key revoke`. */
export async function revoke({ cells, args }: Call): Promise<string> {
  const key = requireText(args[0], 'key revoke requires a key id or a key')
  requireFound(await cells.control.plainTx((tx) => revokeKey(tx, key)), 'Key not found.')
  return 'Key revoked. It stops working in every process within 5 s.\n'
}
