// Data pull preferences of teams: the number of historical days. Owns `data_pull_preference`, which stores only differences from the
// defaults. Source: management-auth.md 14.
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalidField } from '../../platform/http/errors.ts'
import type { CellParams } from '../../tenancy/organizations/management-shapes.ts'
import { teamAccessCondition } from '../../tenancy/teams/team-access.ts'
import type { RecordAuditSubject, ManagementPrincipal } from '../../platform/http/operation.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { DAYS_MAX, pulledProviders, defaultPull, type PulledProvider } from './pull-defaults.ts'
import { PAGE, type Pull, type PullQuery, type PullWithLimit, type RevertPullsQuery, type UpsertPulls } from './schema.ts'
import { lockTeams } from '../../tenancy/teams/teams.ts'

const Team = T.Object({ id: T.String(), created_at: T.String() })

const Row = T.Object({
  team_id: T.String(),
  provider: T.String(),
  days: T.Integer(),
  resource_overrides: Nullable(T.Record(T.String(), T.Integer())),
})
type Row = Static<typeof Row>

const withLimit = (days: number, limit: number) => ({ historical_days_to_pull: days, historical_days_to_pull_limit: limit })

/** Returns the effective preference for a provider: the team's, otherwise the default; fixed values override both. */
function effectivePull(provider: PulledProvider, row: Row | undefined): PullWithLimit {
  const { days, fixed, resources = {} } = defaultPull(provider)
  const limit = fixed ? days : DAYS_MAX
  const overrides = [
    ...Object.entries(row?.resource_overrides ?? {}).map(([name, set]) => [name, withLimit(set, limit)] as const),
    ...Object.entries(resources).map(([name, set]) => [name, withLimit(set, set)] as const),
  ]
  return {
    default: withLimit(row?.days ?? days, limit),
    resource_overrides: overrides.length ? Object.fromEntries(overrides) : null,
  }
}

async function selectPreferences(tx: PlainTx, team_ids: string[], providers: readonly PulledProvider[]) {
  const rows = await tx.many(
    Row,
    sql`select team_id, provider, days, resource_overrides from data_pull_preference where team_id = any (${team_ids}::uuid[])`,
  )
  const set = new Map(rows.map((row) => [`${row.team_id} ${row.provider}`, row]))
  return team_ids.map((team_id) => ({
    team_id,
    providers: Object.fromEntries(providers.map((name) => [name, effectivePull(name, set.get(`${team_id} ${name}`))])),
  }))
}

/** The effective preference of the transaction's team for a provider. */
export async function pullOfTeam(tx: Tx, provider: PulledProvider): Promise<PullWithLimit> {
  const row = await tx.maybe(
    Row,
    sql`
    select team_id, provider, days, resource_overrides from data_pull_preference
    where team_id = ${tx.team} and provider = ${provider}`,
  )
  return effectivePull(provider, row)
}

/**
 * Lists the effective preferences of the accessible teams in this cell, newest teams first. Errors: 400 a cursor of another list.
 * @param query.limit number of teams
 */
export async function listPulls(tx: PlainTx, manager: ManagementPrincipal, place: CellParams, query: PullQuery) {
  const list = `pulls ${manager.org} ${place.env} ${place.region} ${query.team_id?.join() ?? ''}`
  const pages = new Pages(list, query, byCreation('t'), { limit: PAGE })
  const teams = await tx.many(
    Team,
    sql`
    select t.id, t.created_at from team t
    where ${teamAccessCondition(manager, query.team_id)} and ${pages.afterCursor} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(teams, ({ created_at, id }) => [created_at, id])
  const requestedProviders = query.provider?.length
    ? pulledProviders.filter((name) => query.provider!.includes(name))
    : pulledProviders
  const data_pull_preferences = await selectPreferences(
    tx,
    page.map(({ id }) => id),
    requestedProviders,
  )
  return { data_pull_preferences, next_cursor }
}

/** For how many days the history of a resource is asked for when a user connects a provider. */
export async function daysToPull(tx: Tx, provider: string): Promise<(resource: string) => number> {
  if (!pulledProviders.includes(provider as PulledProvider)) return () => 0
  const { default: all, resource_overrides } = await pullOfTeam(tx, provider as PulledProvider)
  return (resource) => (resource_overrides?.[resource] ?? all).historical_days_to_pull
}

/** Errors: 400 a value that differs from a fixed one. */
function assertConfigurable(provider: PulledProvider, changedProviders: Pull): void {
  const { days, fixed, resources = {} } = defaultPull(provider)
  const overrides = Object.entries(changedProviders.resource_overrides ?? {})
  const all = [
    changedProviders.default.historical_days_to_pull,
    ...overrides.map(([, { historical_days_to_pull }]) => historical_days_to_pull),
  ]
  if (fixed && all.some((number) => number !== days))
    throw badRequest(`${provider} always gives ${days} ${days === 1 ? 'day' : 'days'} of history; this number is fixed`)
  const set: Partial<Record<string, number>> = resources
  for (const [name, { historical_days_to_pull }] of overrides)
    if (set[name] !== undefined && set[name] !== historical_days_to_pull)
      throw badRequest(`${provider} always gives ${set[name]} days of ${name}; this number is fixed`)
}

/**
 * Sets preferences of providers for teams and replaces their earlier ones; other providers keep theirs. The caller checks access to the
 * teams. Writes data_pull_preference. Errors: 400 a value that differs from a fixed one.
 * @returns all effective preferences of these teams
 */
export async function upsertPulls(tx: PlainTx, body: UpsertPulls, recordSubject: RecordAuditSubject) {
  const changedProviders = pulledProviders.filter((name) => body.providers[name])
  for (const name of changedProviders) assertConfigurable(name, body.providers[name]!)
  const team_ids = [...new Set(body.team_ids)]
  await lockTeams(tx, team_ids)
  for (const name of changedProviders) {
    const { default: defaultPull, resource_overrides } = body.providers[name]!
    const overrides = Object.entries(resource_overrides ?? {}).map(([resource, days]) => [resource, days.historical_days_to_pull])
    await tx.run(sql`
      insert into data_pull_preference (team_id, provider, days, resource_overrides, updated_at)
      select t.id, ${name}, ${defaultPull.historical_days_to_pull},
             ${overrides.length ? JSON.stringify(Object.fromEntries(overrides)) : null}::jsonb, ${tx.now}
      from team t where t.id = any (${team_ids}::uuid[])
      on conflict (team_id, provider) do update set days = excluded.days, resource_overrides = excluded.resource_overrides,
        updated_at = excluded.updated_at`)
  }
  for (const team_id of team_ids) recordSubject(team_id)
  return { data_pull_preferences: await selectPreferences(tx, team_ids, pulledProviders), next_cursor: null }
}

const Reverted = T.Object({ team_id: T.String() })

/**
 * Resets to the defaults: these providers or all, for these teams or all accessible ones; inaccessible teams are skipped. Writes
 * data_pull_preference. Errors: 422 neither teams nor providers are given.
 */
export async function resetPulls(
  tx: PlainTx,
  manager: ManagementPrincipal,
  query: RevertPullsQuery,
  recordSubject: RecordAuditSubject,
): Promise<void> {
  const { team_id, provider } = query
  if (!team_id?.length && !provider?.length)
    throw invalidField(['query', 'team_id'], 'at least one of team_ids and providers is required')
  const ofThese = provider?.length ? sql`p.provider = any (${provider}::text[])` : sql`true`
  const reverted = await tx.many(
    Reverted,
    sql`
    delete from data_pull_preference where (team_id, provider) in (
      select p.team_id, p.provider from data_pull_preference p join team t on t.id = p.team_id
      where ${teamAccessCondition(manager, team_id)} and ${ofThese})
    returning team_id`,
  )
  for (const id of new Set(reverted.map((row) => row.team_id))) recordSubject(id)
}
