// Teams: the control plane's record of them, and their row in each of their cells (clock, settings).
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName, KnownCell } from '../../settings/cells.ts'
import type { PlainTx, Queries, Tenant, Tx } from '../../platform/db/transaction.ts'
import { isSubscribed, rescheduleJobs } from '../../platform/queue/outbox.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { notFound } from '../../platform/http/errors.ts'

export type Region = 'us' | 'eu'

/** The cells in which a team of a region exists. */
export const cellsOfRegion = (region: Region): KnownCell[] => [`sandbox-${region}`, `production-${region}`]

const FoundTeam = T.Object({
  id: T.String(),
  org_id: T.String(),
  expires_at: Nullable(T.String()),
  region: T.Union([T.Literal('us'), T.Literal('eu')]),
})

/** A team of the control plane; undefined if there is none with this id, or it was deleted. */
export const findTeam = (tx: Queries, id: string) =>
  tx.maybe(
    FoundTeam,
    sql`
    select t.id, t.org_id, t.region, o.expires_at from team t join org o on o.id = t.org_id
    where t.id = ${id} and t.deleted_at is null`,
  )

const ListedTeam = T.Object({ id: T.String(), org_id: T.String(), name: T.String(), region: T.String(), created_at: T.String() })

/** The teams of an organization, or of all with null, newest first, without deleted ones. At most 1,000. */
export const listTeams = (control: Queries, org_id: string | null) =>
  control.many(
    ListedTeam,
    sql`
    select id, org_id, name, region, created_at from team
    where deleted_at is null and (${org_id}::uuid is null or org_id = ${org_id}::uuid)
    order by created_at desc, id desc limit 1000`,
  )

const NamedTeam = T.Object({ name: T.String() })

/** The name of a team of the control plane; undefined if there is none with this id, or it was deleted. */
export const findTeamName = async (tx: Queries, id: string): Promise<string | undefined> =>
  (await tx.maybe(NamedTeam, sql`select name from team where id = ${id} and deleted_at is null`))?.name

/** Records a team in the control plane. Writes team. */
export async function createTeam(tx: PlainTx, team: { org_id: string; name: string; region: Region }): Promise<string> {
  const id = tx.uuid()
  await tx.run(sql`
    insert into team (id, org_id, name, region, created_at) values (${id}, ${team.org_id}, ${team.name}, ${team.region}, ${tx.now})`)
  return id
}

/** Initial settings of a team. Orders for minors are allowed in the sandbox only. Source: lab-testing.md 5.1. */
export const initialSettings = (cell: CellName): Record<string, unknown> => ({
  minor_ordering_enabled: cell.startsWith('sandbox'),
  partial_webhooks_enabled: false,
})

/** Creates a team's row in a cell; does nothing if it exists. Writes team. */
export async function placeTeam(tx: PlainTx, cell: CellName, team: { id: string; org_id: string }): Promise<void> {
  await tx.run(sql`
    insert into team (id, org_id, settings, created_at)
    values (${team.id}, ${team.org_id}, ${JSON.stringify(initialSettings(cell))}, ${tx.now})
    on conflict (id) do nothing`)
}

/** Creates or replaces a team's row and settings in a cell. Writes team. */
export const updateTeamInCell = (
  tx: PlainTx,
  team: { id: string; org_id: string },
  settings: Readonly<Record<string, unknown>>,
): Promise<number> =>
  tx.run(sql`
    insert into team (id, org_id, settings, created_at)
    values (${team.id}, ${team.org_id}, ${JSON.stringify(settings)}, ${tx.now})
    on conflict (id) do update set org_id = excluded.org_id, settings = excluded.settings`)

/** Marks a team as deleted in a cell: it has no principals and no jobs any more. Writes team. */
export const markDeleted = (tx: PlainTx, team_id: string): Promise<number> =>
  tx.run(sql`update team set deleted_at = ${tx.now} where id = ${team_id} and deleted_at is null`)

const TeamRow = T.Object({
  org_id: T.String(),
  clock_offset_s: T.Integer(),
  settings: T.Record(T.String(), T.Unknown()),
  disabled_features: T.Array(T.String()),
  enabled_options: T.Array(T.String()),
  has_subscribed: T.Boolean(),
})

/** A team as it is in a cell now; undefined if it is not there, or was deleted. */
export async function loadTenant(cells: Cells, cell: CellName, team: string): Promise<Tenant | undefined> {
  const row = await cells.db(cell).queries.maybe(
    TeamRow,
    sql`
      select org_id, clock_offset_s, settings, disabled_features, enabled_options, ${isSubscribed(team)} as has_subscribed
      from team where id = ${team} and deleted_at is null`,
  )
  if (!row) return undefined
  const { org_id: org, clock_offset_s, settings, disabled_features, enabled_options: options_on, has_subscribed } = row
  return { team, org, cell, clock_offset_s, settings, disabled_features, options_on, has_subscribed }
}

/** Enables or disables a feature for a team in a cell. Writes team. @returns whether the team exists */
export async function switchFeature(tx: PlainTx, team_id: string, name: string, isEnabled: boolean): Promise<boolean> {
  const others = sql`array_remove(disabled_features, ${name}::text)`
  const next = isEnabled ? others : sql`array_append(${others}, ${name}::text)`
  return (await tx.run(sql`update team set disabled_features = ${next} where id = ${team_id} and deleted_at is null`)) > 0
}

/** Enables or disables an option for a team in a cell. Writes team. @returns whether the team exists */
export async function switchOption(tx: PlainTx, team_id: string, name: string, isEnabled: boolean): Promise<boolean> {
  const others = sql`array_remove(enabled_options, ${name}::text)`
  const next = isEnabled ? sql`array_append(${others}, ${name}::text)` : others
  return (await tx.run(sql`update team set enabled_options = ${next} where id = ${team_id} and deleted_at is null`)) > 0
}

/**
 * Sets a team's clock to `offset_s` ahead of the system clock; the due times of its waiting jobs change accordingly. Writes team, job. The
 * clock only moves forward: an offset smaller than the current one changes nothing.
 */
export async function setClockOffset(tx: Tx, offset_s: number): Promise<void> {
  const moved = await tx.run(
    sql`update team set clock_offset_s = ${offset_s} where id = ${tx.team} and clock_offset_s < ${offset_s}`,
  )
  if (moved) await rescheduleJobs(tx, offset_s)
}

/** A cache with entries by id that live for a few seconds. `invalidate` is called when the entry's data have changed. */
export interface Forgets {
  invalidate(id: string): void
}

const Locked = T.Object({ id: T.String() })

/** Prevents other transactions from changing a team's rows until the commit. 404: one of the teams is not in this cell. */
export async function lockTeams(tx: PlainTx, team_ids: readonly string[]): Promise<void> {
  const requestedIds = [...new Set(team_ids)]
  const locked = await tx.locking.many(
    Locked,
    sql`select id from team where id = any (${requestedIds}::uuid[]) order by id for no key update`,
  )
  if (locked.length < requestedIds.length) throw notFound('Team not found')
}
