// Launch URLs: a member, a team in one environment, and a feature, authorized in advance and valid for one use within five minutes. Source:
// management-auth.md 16.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { CellName } from '../../settings/cells.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { PlainTx, Tenant, Tx } from '../../platform/db/transaction.ts'
import { badRequest, forbidden, unprocessable, notFound } from '../../platform/http/errors.ts'
import { valueFault, type Fault } from '../../platform/schema/fault.ts'
import { T } from '../../platform/schema/schema.ts'
import { hashKey, generateKey } from '../../platform/crypto/api-keys.ts'
import { sql } from '../../platform/db/sql.ts'
import { getEmbeddedMember, resolveEmbeddedMember } from './embedded-members.ts'
import { findEmbeddingConfig } from './embedding.ts'
import type { Launch } from './schema.ts'
import { findHostOfOrg, type DomainTarget } from '../domains/domains.ts'

const LIFETIME_S = 300

/** The constraints of the table and the responses when statements violate them. */
export const launchConstraints = {
  dashboard_session__member: () => notFound('Member not found'),
}

/** The dependencies of launch URLs on the process. */
export interface LaunchDependencies extends DomainTarget {
  cells: Cells
  /** The current tenant of a team; undefined if the team is deleted. */
  findTenant: (cell: CellName, team_id: string) => Promise<Tenant | undefined>
  /** The base URL for browsers, without a final slash. */
  publicUrl: () => string
  /** Whether the team has such a user or order. */
  has: Record<'user' | 'order', (tx: Tx, id: string) => Promise<boolean>>
}

/** Rejects contradictions in a launch: it must name the member and the team in exactly one way each. */
export function validateLaunch(launch: Launch, part: 'body' | 'query'): Fault[] {
  const pairs = [
    ['member_id', 'integration_member_id'],
    ['team_id', 'integration_team_id'],
  ] as const
  return pairs
    .filter(([one, other]) => (launch[one] === undefined) === (launch[other] === undefined))
    .map(([one, other]) => valueFault([part, one], `exactly one of ${one} and ${other} must be given`))
}

/**
 * Creates a launch URL. Writes dashboard_session. 400: the modality is not enabled. 403: the member is not bound to the team. 404: no such
 * member or team, a cell that is not served here, or a user or order of the feature that the team does not have in that environment. 422:
 * member or team not named in exactly one way.
 */
export async function createLaunch(
  tx: PlainTx,
  dependencies: LaunchDependencies,
  org_id: string,
  launch: Launch,
): Promise<{ url: string; expires_in: number }> {
  const faults = validateLaunch(launch, 'body')
  if (faults.length) throw unprocessable(faults)
  const { member_id, integration_member_id, feature, modality, environment } = launch
  const member =
    member_id === undefined
      ? await resolveEmbeddedMember(tx, org_id, integration_member_id!)
      : await getEmbeddedMember(tx, org_id, member_id)
  const team = await findTeam(tx, org_id, launch)
  if (!(await findEmbeddingConfig(tx, org_id))?.modalities.includes(modality))
    throw badRequest(`The modality ${modality} is not enabled`)
  if (member.team_role_bindings && !member.team_role_bindings.some(({ team_id }) => team_id === team.id))
    throw forbidden('The member is not bound to this team')
  await assertFeature(dependencies, `${environment}-${team.region}` as CellName, team.id, feature)
  const token = generateKey('dl_')
  await tx.run(sql`
    insert into dashboard_session (id, member_id, team_id, environment, feature, modality, launch_token_hash, expires_at)
    values (${tx.uuid()}, ${member.id}, ${team.id}, ${environment}, ${feature}, ${modality}, ${hashKey(token)},
            ${addSeconds(tx.now, LIFETIME_S)})`)
  return { url: `${await baseUrl(tx, dependencies, org_id)}/auth/launch?token=${token}`, expires_in: LIFETIME_S }
}

/** The base URL of an organization's pages: its own host, or that of the server. */
async function baseUrl(tx: PlainTx, dependencies: LaunchDependencies, org_id: string): Promise<string> {
  const host = await findHostOfOrg(tx, dependencies, org_id)
  return host === undefined ? dependencies.publicUrl() : `https://${host}${basePath(dependencies.publicUrl)}`
}

/** The path prefix of the pages, without a final slash. */
export const basePath = (publicUrl: () => string): string => new URL(publicUrl()).pathname.replace(/\/+$/, '')

const Team = T.Object({ id: T.String(), region: T.String() })

async function findTeam(tx: PlainTx, org_id: string, { team_id, integration_team_id }: Launch) {
  const which = team_id === undefined ? sql`integration_team_id = ${integration_team_id!}` : sql`id = ${team_id}`
  const team = await tx.maybe(Team, sql`select id, region from team where org_id = ${org_id} and deleted_at is null and ${which}`)
  if (!team) throw notFound('Team not found')
  return team
}

/** 404: the feature names a user or order that the team does not have in this cell, or the cell is not served here. */
export async function assertFeature(
  dependencies: LaunchDependencies,
  cell: CellName,
  team_id: string,
  feature: string,
): Promise<void> {
  if (!dependencies.cells.has(cell)) throw notFound('This server does not serve this cell')
  const tenant = await dependencies.findTenant(cell, team_id)
  if (!tenant) throw notFound('Team not found')
  const [about, id] = feature.split(':')
  if (id === undefined) return
  const kind = about === 'order' ? 'order' : 'user'
  if (!(await dependencies.cells.db(cell).read(tenant, (tx) => dependencies.has[kind](tx, id))))
    throw notFound(kind === 'order' ? 'Order not found' : 'User not found')
}
