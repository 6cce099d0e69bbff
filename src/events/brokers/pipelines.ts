// Pipelines: the brokers of a team's events. Owns `pipeline`. Sends nothing. Source: events.md 8.1; management-auth.md 14.
import type { Cells } from '../../platform/db/cells.ts'
import { teamAccessCondition, authorizedTeamsInRegion, authorizedTeam } from '../../tenancy/teams/team-access.ts'
import type { CellParams } from '../../tenancy/organizations/management-shapes.ts'
import { findTeam } from '../../tenancy/teams/teams.ts'
import type { CellName } from '../../settings/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import { hookPoint } from '../../platform/db/hooks.ts'
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import { badRequest, unprocessable, notFound } from '../../platform/http/errors.ts'
import type { RecordAuditSubject, ManagementPrincipal } from '../../platform/http/operation.ts'
import { subscribeTeam } from '../../platform/queue/outbox.ts'
import { instantKey, Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import { joinConditions, sql } from '../../platform/db/sql.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { readable } from '../endpoints/signing-secrets.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { validatePipeline } from './request-checks.ts'
import { mergeDestinations, redactDestinations } from './redaction.ts'
import type { Broker, Configured, Destination, Pipeline, UpsertPipelines } from './schema.ts'

/** The pipeline of a team was created, changed or deleted: the enabled brokers, and the ones that keep the order of a user's events. */
export const pipelineChanged = hookPoint<[team_id: string, enabled: Broker[], ordered: Broker[]], PlainTx>('pipeline.changed')

const orderedBrokers = ({ cloud_pubsub }: Configured): Broker[] =>
  cloud_pubsub?.message_ordering ? ['azure_amqp', 'cloud_pubsub'] : ['azure_amqp']

/** The dependencies of operations on pipelines. */
export interface PipelineDependencies {
  cells: Cells
  vault: Vault
  targets: TargetPolicy
  pubsub_projects: PubSubProjects
}

const Row = T.Object({
  team_id: T.String(),
  push_historical_data: T.Boolean(),
  provider_raw_data: T.Boolean(),
  preferred: T.String(),
  enabled: T.Array(T.String()),
  event_type_prefixes: Nullable(T.Array(T.String())),
  destinations: T.String(),
  created_at: T.String(),
})
type Row = Static<typeof Row>

const pipelineColumns = sql`
  p.team_id, p.push_historical_data, p.provider_raw_data, p.preferred, p.enabled, p.event_type_prefixes, p.destinations, p.created_at`

const contextOf = (team_id: string): string => `destinations of ${team_id}`

export const encryptedDestinationsColumn: EncryptedColumn = {
  plane: 'cell',
  table: 'pipeline',
  column: 'destinations',
  of: ['team_id'],
  context: contextOf,
}

/** The brokers of a team with their secrets. Throws VaultError. */
export const decryptDestinations = (
  vault: Vault,
  { team_id, destinations }: { team_id: string; destinations: string },
): Configured => JSON.parse(vault.decrypt(destinations, contextOf(team_id))) as Configured

/** Undefined: they cannot be decrypted here. */
const tryToOpen = (vault: Vault, row: Row): Configured | undefined => readable(() => decryptDestinations(vault, row))

const NOTHING: Configured = { cloud_pubsub: null, rabbitmq: null, svix: null, azure_amqp: null }
const UNREADABLE = 'The credentials of the destinations cannot be decrypted'
const NO_PROJECT = 'The operator does not allow this organization to publish to the project'

/** @param mayPublishTo whether the organization may publish to a project */
function toWire(row: Row, settings: Configured | undefined, mayPublishTo: (project: string) => boolean): Pipeline {
  const { team_id, push_historical_data, provider_raw_data, event_type_prefixes } = row
  const preferences = { preferred: row.preferred as Destination, enabled: row.enabled as Destination[] }
  return {
    team_id,
    push_historical_data,
    provider_raw_data,
    preferences,
    ...redactDestinations(settings ?? NOTHING),
    event_type_prefixes,
    delivery_error: settings ? (isBarred(row.enabled, settings, mayPublishTo) ? NO_PROJECT : null) : UNREADABLE,
  }
}

/** Whether destinations include a project that the organization may not publish to. */
const isBarred = (enabled: string[], { cloud_pubsub }: Configured, mayPublishTo: (project: string) => boolean): boolean =>
  enabled.includes('cloud_pubsub') && cloud_pubsub !== null && !mayPublishTo(cloud_pubsub.project)

const projectFilter =
  ({ pubsub_projects }: PipelineDependencies, { org }: ManagementPrincipal) =>
  (project: string): boolean =>
    mayPublish(pubsub_projects, org, project)

/** 404: this process does not serve the cell. */
function findCell({ cells }: PipelineDependencies, { env, region }: CellParams): Db {
  const name: CellName = `${env}-${region}`
  if (!cells.has(name)) throw notFound('This server does not serve this cell')
  return cells.db(name)
}

/**
 * Pipelines of one cell, newest first, 50 a page, without their secrets.
 * 400: a cursor of another list. 403, 404: a team that the key does not reach. 404: a cell that is not served here.
 */
export async function listPipelines(
  tx: PlainTx,
  dependencies: PipelineDependencies,
  manager: ManagementPrincipal,
  place: CellParams,
  query: { team_id?: string; next_cursor?: string },
) {
  const cell = findCell(dependencies, place)
  if (query.team_id !== undefined) await authorizedTeam(tx, manager, query.team_id)
  const list = `pipelines ${manager.org} ${place.env} ${place.region} ${query.team_id ?? ''}`
  const pages = new Pages(list, query, [instantKey(sql`p.created_at`), uuidKey(sql`p.team_id`)])
  const conditions = [teamAccessCondition(manager), pages.afterCursor]
  if (query.team_id !== undefined) conditions.push(sql`p.team_id = ${query.team_id}`)
  const rows = await cell.queries.many(
    Row,
    sql`
    select ${pipelineColumns} from pipeline p join team t on t.id = p.team_id
    where ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_at, team_id }) => [created_at, team_id])
  return {
    pipelines: page.map((row) => toWire(row, tryToOpen(dependencies.vault, row), projectFilter(dependencies, manager))),
    next_cursor,
  }
}

/**
 * Creates or changes the pipelines of teams, all or none. Absent fields stay, except destinations that cannot be decrypted,
 * which are lost. Writes pipeline, event_subscribed_team, and what
 * hooks on `pipelineChanged` write.
 * 400: a team of another region; missing preferences of a new pipeline; a preferred destination that is not enabled; an enabled
 * one that is not configured, or whose project is not allowed any more; a redacted text that matches no stored secret. 403,
 * 404: a team that the key does not reach. 404: a cell that is not served here. 422: a forbidden address, a project that the
 * operator does not allow the organization, an expression that is not valid RE2.
 */
export async function upsertPipelines(
  tx: PlainTx,
  dependencies: PipelineDependencies,
  manager: ManagementPrincipal,
  place: CellParams,
  body: UpsertPipelines,
  recordAuditSubject: RecordAuditSubject,
) {
  const cell = findCell(dependencies, place)
  const mayPublishTo = projectFilter(dependencies, manager)
  const faults = await validatePipeline(body, { targets: dependencies.targets, sandbox: place.env === 'sandbox', mayPublishTo })
  if (faults.length) throw unprocessable(faults)
  const ids = await authorizedTeamsInRegion(tx, manager, place.region, body.team_ids ?? [])
  const pipelines = await cell.plainTx(async (cellTx) => {
    const done: Pipeline[] = []
    // All requests use the same order, so that two requests do not deadlock on each other's teams.
    for (const team_id of ids.toSorted()) done.push(await upsert(cellTx, dependencies.vault, team_id, body, mayPublishTo))
    return done.sort((a, b) => ids.indexOf(a.team_id) - ids.indexOf(b.team_id))
  })
  for (const id of ids) recordAuditSubject(id)
  return pipelines
}

async function upsert(
  tx: PlainTx,
  vault: Vault,
  team_id: string,
  body: UpsertPipelines,
  mayPublishTo: (project: string) => boolean,
): Promise<Pipeline> {
  const placed = await tx.locking.run(sql`select id from team where id = ${team_id} for no key update`)
  if (!placed) throw notFound('Team not found')
  await subscribeTeam(tx, team_id)
  const before = await tx.locking.maybe(
    Row,
    sql`select ${pipelineColumns} from pipeline p where p.team_id = ${team_id} for no key update`,
  )
  const known = mergeDestinations(before && tryToOpen(vault, before), body)
  const { preferred, enabled } = mergePreferences(before, body, known)
  if (isBarred(enabled, known, mayPublishTo)) throw badRequest(NO_PROJECT)
  const encrypted = vault.encrypt(JSON.stringify(known), contextOf(team_id))
  const flags = {
    push: body.push_historical_data ?? before?.push_historical_data ?? false,
    raw: body.provider_raw_data ?? before?.provider_raw_data ?? false,
    prefixes: body.event_type_prefixes ?? before?.event_type_prefixes ?? null,
  }
  const row = await tx.one(
    Row,
    sql`
    insert into pipeline as p (team_id, push_historical_data, provider_raw_data, preferred, enabled, event_type_prefixes, destinations, created_at, updated_at)
    values (${team_id}, ${flags.push}, ${flags.raw}, ${preferred}, ${enabled}::text[], ${flags.prefixes}::text[], ${encrypted}, ${tx.now}, ${tx.now})
    on conflict (team_id) do update set push_historical_data = excluded.push_historical_data, provider_raw_data = excluded.provider_raw_data,
      preferred = excluded.preferred, enabled = excluded.enabled, event_type_prefixes = excluded.event_type_prefixes,
      destinations = excluded.destinations, updated_at = excluded.updated_at
    returning ${pipelineColumns}`,
  )
  await tx.notify(
    pipelineChanged,
    team_id,
    enabled.filter((name) => name !== 'svix'),
    orderedBrokers(known),
  )
  return toWire(row, known, mayPublishTo)
}

const TakesRaw = T.Object({ takes_raw: T.Boolean() })

/** Whether the team has a pipeline that asks for raw events; cached for seconds. */
export const takesRawEvents = async (tx: Tx): Promise<boolean> => {
  const known = await tx.readCached('raw events', () =>
    tx.one(TakesRaw, sql`select exists (select from pipeline where team_id = ${tx.team} and provider_raw_data) as takes_raw`),
  )
  return known?.takes_raw === true
}

function mergePreferences(row: Row | undefined, body: UpsertPipelines, settings: Configured) {
  const { preferred, enabled } = body.preferences ?? { preferred: row?.preferred, enabled: row?.enabled ?? [] }
  if (preferred === undefined) throw badRequest('A new pipeline requires preferences')
  const enabledDestinations = [...new Set(enabled)] as Destination[]
  if (!enabledDestinations.includes(preferred as Destination)) throw badRequest('The preferred destination must be enabled')
  // `svix`, the endpoints of the team, requires no configuration.
  const missing = enabledDestinations.filter((name) => name !== 'svix' && settings[name] === null)
  if (missing.length) throw badRequest(`Enabled but not configured: ${missing.join(', ')}`)
  return { preferred, enabled: enabledDestinations }
}

/**
 * Deletes pipelines; waiting events are not sent to their brokers any more. Writes pipeline.
 * 400: a team of another region. 404: a cell that is not served here.
 * @returns the deleted pipelines, without teams that have none, are unknown or that the key does not reach
 */
export async function deletePipelines(
  tx: PlainTx,
  dependencies: PipelineDependencies,
  manager: ManagementPrincipal,
  place: CellParams,
  ids: string[],
  recordAuditSubject: RecordAuditSubject,
): Promise<Pipeline[]> {
  const cell = findCell(dependencies, place)
  const requestedIds = [...new Set(ids)]
  const found = await Promise.all(requestedIds.map((id) => findTeam(tx, id)))
  const own = found.flatMap((team) =>
    team && team.org_id === manager.org && (!manager.teams || manager.teams.has(team.id)) ? team : [],
  )
  const elsewhere = own.find(({ region }) => region !== place.region)
  if (elsewhere) throw badRequest(`Team ${elsewhere.id} is in region ${elsewhere.region}`)
  const rows = await cell.plainTx(async (cellTx) => {
    const ids = sql`${own.map(({ id }) => id)}::uuid[]`
    const deleted = await cellTx.many(
      Row,
      sql`delete from pipeline p where p.team_id = any (${ids}) returning ${pipelineColumns}`,
    )
    for (const { team_id } of deleted) await cellTx.notify(pipelineChanged, team_id, [], [])
    return deleted
  })
  for (const { team_id } of rows) recordAuditSubject(team_id)
  rows.sort((a, b) => requestedIds.indexOf(a.team_id) - requestedIds.indexOf(b.team_id))
  return rows.map((row) => toWire(row, tryToOpen(dependencies.vault, row), projectFilter(dependencies, manager)))
}

/**
 * The Google Cloud projects to which teams may publish, by organization or `*` for each of them. They publish with the credentials of the
 * operator, who lists the projects in PUBSUB_PROJECTS; all others are rejected.
 */
export type PubSubProjects = ReadonlyMap<string, ReadonlySet<string>>

export const mayPublish = (projects: PubSubProjects, org_id: string, project: string): boolean =>
  (projects.get(org_id)?.has(project) ?? false) || (projects.get('*')?.has(project) ?? false)
