// Teams as their organization manages them: the control plane's record, and their settings in each cell of their region. A change of both
// is one transaction of the control plane with the cells' transactions inside it: every team that the control plane has is complete. If a
// crash leaves a row in a cell only, no request can see it and the next attempt overwrites it. Source: management-auth.md 7.
import type { CellName } from '../../settings/cells.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import type { ManagementPrincipal } from '../../platform/http/operation.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { T } from '../../platform/schema/schema.ts'
import { joinConditions, join, sql, type Sql } from '../../platform/db/sql.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Forgets } from './teams.ts'
import { teamDeleted, teamPlaced } from './team-hooks.ts'
import { applyUpdate, toWire, type Settings } from './environment-settings.ts'
import { lockOrg } from '../organizations/organizations.ts'
import { TeamItem, type CreateTeam, type OrgTeam, type TeamListQuery, type UpdateTeam } from './schema.ts'
import { cellsOfRegion, initialSettings, markDeleted, updateTeamInCell, type Region } from './teams.ts'

const environments = ['sandbox', 'production'] as const
type Environment = (typeof environments)[number]

/** The dependencies of managing teams. */
export interface TeamDependencies {
  cells: Cells
  /** Contact address shown to patients of teams without an address of their own. */
  support_email: string
  /** The caches of teams, and of organizations' management keys. */
  teams: Forgets
  orgs: Forgets
}

const selectItem = sql`select id, name, created_at as created_on, region, integration_team_id from team`

const accessCondition = (manager: ManagementPrincipal): Sql =>
  manager.teams
    ? sql`org_id = ${manager.org} and deleted_at is null and id = any (${[...manager.teams]}::uuid[])`
    : sql`org_id = ${manager.org} and deleted_at is null`

/** Teams that the key may access, newest first, 50 per page. 400: a cursor of another list. */
export async function listTeams(tx: PlainTx, manager: ManagementPrincipal, query: TeamListQuery) {
  const list = `teams ${manager.org} ${JSON.stringify([query.team_id, query.region, query.search_query])}`
  const pages = new Pages(list, query, byCreation())
  const conditions = [accessCondition(manager), pages.afterCursor]
  if (query.team_id !== undefined) conditions.push(sql`id = ${query.team_id}`)
  if (query.region?.length) conditions.push(sql`region = any (${query.region})`)
  if (query.search_query)
    conditions.push(
      sql`(position(lower(${query.search_query}::text) in lower(name)) > 0 or id::text = lower(${query.search_query}::text))`,
    )
  const rows = await tx.many(TeamItem, sql`${selectItem} where ${joinConditions(conditions)} ${pages.order}`)
  const { page, next_cursor } = pages.cut(rows, ({ created_on, id }) => [created_on, id])
  return { teams: page, next_cursor }
}

/** Reads a team that the key may access, with its settings in some environments or in all. 404: there is none. */
export async function getTeam(
  tx: PlainTx,
  dependencies: TeamDependencies,
  manager: ManagementPrincipal,
  team_id: string,
  names: readonly string[] = [],
): Promise<OrgTeam> {
  return withSettings(dependencies, await findItem(tx, manager, sql`id = ${team_id}`), names)
}

/** Reads the team with the caller's own reference. 404: none that the key may access. */
export async function resolveTeam(
  tx: PlainTx,
  dependencies: TeamDependencies,
  manager: ManagementPrincipal,
  reference: string,
): Promise<OrgTeam> {
  return withSettings(dependencies, await findItem(tx, manager, sql`integration_team_id = ${reference}`))
}

async function findItem(tx: PlainTx, manager: ManagementPrincipal, condition: Sql): Promise<TeamItem> {
  const item = await tx.maybe(TeamItem, sql`${selectItem} where ${accessCondition(manager)} and ${condition}`)
  if (!item) throw notFound('Team not found')
  return item
}

async function withSettings(dependencies: TeamDependencies, item: TeamItem, names: readonly string[] = []): Promise<OrgTeam> {
  const found = await Promise.all(
    environments.map(
      async (environment) => [environment, await readSettings(dependencies, toCellName(item, environment), item.id)] as const,
    ),
  )
  const settings = Object.fromEntries(found)
  const readItem = (environment: Environment) =>
    settings[environment] && (names.length === 0 || names.includes(environment))
      ? toWire(settings[environment], dependencies.support_email)
      : null
  return {
    ...item,
    environments: environments.filter((environment) => settings[environment]),
    sandbox: readItem('sandbox'),
    production: readItem('production'),
  }
}

const toCellName = (team: { region: string }, environment: Environment) => `${environment}-${team.region}` as CellName

const SettingsRow = T.Object({ settings: T.Record(T.String(), T.Unknown()) })

/** Undefined if the team has no row, or the cell is served elsewhere. */
async function readSettings(dependencies: TeamDependencies, cell: CellName, team_id: string): Promise<Settings | undefined> {
  if (!dependencies.cells.has(cell)) return undefined
  const row = await dependencies.cells
    .db(cell)
    .queries.maybe(SettingsRow, sql`select settings from team where id = ${team_id} and deleted_at is null`)
  return row?.settings
}

/**
 * Creates a team in both cells of a region; its sandbox starts with the standard lab tests. Writes team, in the cells too. 400: a cell of
 * the region is served elsewhere. 409: the id, by a team or an organization, or the caller's reference is in use. 422: a brand without
 * logo.
 */
export async function createTeam(
  tx: PlainTx,
  dependencies: TeamDependencies,
  manager: ManagementPrincipal,
  body: CreateTeam,
): Promise<OrgTeam> {
  const { id = tx.uuid(), name, region, integration_team_id, ...change } = body
  const settings = applyUpdate({}, change, ['body'])
  assertServed(dependencies, region)
  await lockOrg(tx, manager.org)
  await assertFree(tx, manager, integration_team_id)
  const insertedCount = await tx.run(sql`
    insert into team (id, org_id, name, region, integration_team_id, created_at)
    select ${id}::uuid, ${manager.org}, ${name}, ${region}, ${integration_team_id ?? null}, ${tx.now}
    where not exists (select from org where id = ${id}::uuid)
    on conflict (id) do nothing`)
  if (!insertedCount) throw conflictError(id)
  for (const cell of cellsOfRegion(region)) {
    const tenant = { team: id, org: manager.org, cell, clock_offset_s: 0, settings: {} }
    await dependencies.cells.db(cell).tx(tenant, async (inCell) => {
      await updateTeamInCell(inCell, { id, org_id: manager.org }, { ...initialSettings(cell), ...settings })
      await inCell.notify(teamPlaced)
    })
  }
  return getTeam(tx, dependencies, manager, id)
}

/** F5: the existing team, at the top level. Source: management-auth.md 20.1. */
const conflictError = (team_id: string): Problem =>
  new Problem(409, { team_id, detail: 'A team with this id or reference already exists' })

const Found = T.Object({ id: T.String() })

async function assertFree(
  tx: PlainTx,
  manager: ManagementPrincipal,
  reference: string | null | undefined,
  exceptTeamId?: string,
): Promise<void> {
  if (reference == null) return
  const team = await tx.maybe(
    Found,
    sql`
    select id from team
    where org_id = ${manager.org} and integration_team_id = ${reference} and deleted_at is null`,
  )
  if (team && team.id !== exceptTeamId) throw conflictError(team.id)
}

function assertServed(dependencies: TeamDependencies, region: Region): void {
  if (!cellsOfRegion(region).every((cell) => dependencies.cells.has(cell)))
    throw badRequest('This server does not serve both environments of the region')
}

/**
 * Changes a team's name, reference, and settings in each environment: absent leaves, null clears. Writes team, in the cells too. 404: a
 * cell that is served elsewhere. 409: the reference is in use. 422: a brand without logo.
 */
export async function updateTeam(
  tx: PlainTx,
  dependencies: TeamDependencies,
  manager: ManagementPrincipal,
  team_id: string,
  body: UpdateTeam,
): Promise<OrgTeam> {
  await lockOrg(tx, manager.org)
  const team = await findItem(tx, manager, sql`id = ${team_id}`)
  await assertFree(tx, manager, body.integration_team_id, team_id)
  const next = new Map<CellName, Settings>()
  for (const environment of environments) {
    const change = body[environment]
    if (!change) continue
    const cell = toCellName(team, environment)
    const settings = await readSettings(dependencies, cell, team_id)
    if (!settings) throw notFound('This server does not serve this cell')
    next.set(cell, applyUpdate(settings, change, ['body', environment]))
  }
  const changes: Sql[] = []
  if (body.name !== undefined) changes.push(sql`name = ${body.name}`)
  if (body.integration_team_id !== undefined) changes.push(sql`integration_team_id = ${body.integration_team_id}`)
  if (changes.length) await tx.run(sql`update team set ${join(changes, ', ')} where id = ${team_id}`)
  for (const [cell, settings] of next)
    await dependencies.cells
      .db(cell)
      .plainTx((inCell) => updateTeamInCell(inCell, { id: team_id, org_id: manager.org }, settings))
  tx.afterCommit(() => dependencies.teams.invalidate(team_id))
  return getTeam(tx, dependencies, manager, team_id)
}

/**
 * Deletes a team: its keys and tokens stop working, its jobs end, it is hidden. Writes team, in the cells too, and the tables of hooks on
 * `teamDeleted`. 400: a cell of the region is served elsewhere. 404: no such team.
 */
export async function deleteTeam(
  tx: PlainTx,
  dependencies: TeamDependencies,
  manager: ManagementPrincipal,
  team_id: string,
): Promise<void> {
  await lockOrg(tx, manager.org)
  const { region } = await findItem(tx, manager, sql`id = ${team_id}`)
  assertServed(dependencies, region)
  await tx.run(sql`update team set deleted_at = ${tx.now} where id = ${team_id}`)
  await tx.notify(teamDeleted, team_id)
  for (const cell of cellsOfRegion(region)) await dependencies.cells.db(cell).plainTx((inCell) => markDeleted(inCell, team_id))
  tx.afterCommit(() => {
    dependencies.teams.invalidate(team_id)
    dependencies.orgs.invalidate(manager.org)
  })
}
