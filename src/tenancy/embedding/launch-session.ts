// The session of a launched page as the principal of its requests, and what the page shows of it.
import type { Call } from '../../platform/http/call.ts'
import type { LaunchScope, MemberSession } from '../../platform/http/operation.ts'
import { forbidden, notFound, unauthorized } from '../../platform/http/errors.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import type { Plan } from '../organizations/plans.ts'
import { permissionsByRole, type ServerFacts } from '../sign-in/signed-in-member.ts'
import { SESSION_ENDED } from '../sign-in/sessions.ts'
import { endSession, findSession, findSessionById, type DashboardSession } from './dashboard-sessions.ts'
import { hasOperation, isOfFeature, isOfOwnSession } from './features.ts'
import { isSessionToken, readLaunchTokens } from './launch-cookies.ts'
import type { LaunchSession } from './schema.ts'

/** A member whom the organization's own backend manages is an administrator of the team of the launch. */
const ROLE = 'administrator'
const REFUSAL = 'The launch URL of this session does not permit this'

/** The session of a launched page, with the plan of its organization. */
export interface LaunchedSession extends MemberSession {
  plan: Plan
  launch: LaunchScope
}

/** The texts in the cookies of a browser that may be tokens of launched sessions. */
export const launchTokens = (headers: Call['headers']): string[] => readLaunchTokens(headers).filter(isSessionToken)

/** The open session with an id, if one of the tokens is its own. */
export async function findLaunchedSession(
  control: Queries,
  tokens: readonly string[],
  session_id: string,
  now: Date,
): Promise<LaunchedSession | undefined> {
  for (const token of tokens) {
    const found = await findSession(control, token, now)
    if (found?.id === session_id) return toPrincipal(found)
  }
  return undefined
}

function toPrincipal(session: DashboardSession): LaunchedSession {
  const { id, member_id, org_id, team_id, plan, org_expires_at, environment, region, feature, modality } = session
  return {
    session_id: id,
    key_id: `launch:${id}`,
    member_id,
    org: org_id,
    role: 'team_admin',
    teams: new Map([[team_id, ROLE]]),
    plan: plan as Plan,
    expires_at: org_expires_at,
    launch: {
      environment: environment as LaunchScope['environment'],
      region,
      feature,
      isLocked: modality === 'feature_embed',
    },
  }
}

/** 403: the request is not of the environment of the launch; of an embedded session, it is not of its feature. */
export function assertInLaunch(launch: LaunchScope, call: Call): void {
  const { operation, tenant, params } = call
  if (isOfOwnSession(operation.id)) return
  const {
    env = launch.environment,
    environment = env,
    region = launch.region,
  } = (params ?? {}) as Record<string, string | undefined>
  const cell = `${launch.environment}-${launch.region}`
  const isElsewhere =
    operation.auth === 'session' || `${environment}-${region}` !== cell || (tenant !== undefined && tenant.cell !== cell)
  if (isElsewhere || changesElsewhere(launch, call) || (launch.isLocked && !isOfFeature(launch, call))) throw forbidden(REFUSAL)
}

/** Whether a change of the team's settings concerns the environment that the launch does not name. */
function changesElsewhere({ environment }: LaunchScope, { operation, body }: Call): boolean {
  const other = environment === 'sandbox' ? 'production' : 'sandbox'
  return operation.id === 'update_team_in_org' && (body as Record<string, unknown> | undefined)?.[other] !== undefined
}

/** Reads the session of a launched page: the member, the team, and what is permitted. 401: it has ended. 404: the session is another kind. */
export async function readLaunchSession(
  tx: PlainTx,
  { session_id, launch }: MemberSession,
  facts: ServerFacts,
): Promise<LaunchSession> {
  if (!launch) throw notAfterLaunch()
  const found = await findSessionById(tx, session_id, tx.now)
  // It ended a moment ago.
  if (!found) throw unauthorized(SESSION_ENDED)
  const operations = facts.operations.filter(({ id }) => !launch.isLocked || hasOperation(launch.feature, id))
  const permitted = permissionsByRole(new Set([ROLE]), operations)[ROLE]!
  return {
    session_id,
    member: { id: found.member_id, name: found.member_name, email: found.member_email },
    org: { id: found.org_id, name: found.org_name },
    role: 'team_admin',
    teams: [{ id: found.team_id, name: found.team_name, region: found.region, role: ROLE }],
    cells: [`${launch.environment}-${launch.region}`],
    demo: facts.demo,
    permissions: { [ROLE]: { sandbox: [], production: [], [launch.environment]: permitted[launch.environment] } },
    org_permissions: [],
    expires_at: found.expires_at,
    idle_expires_at: found.expires_at,
    feature: found.feature,
    modality: found.modality as LaunchSession['modality'],
    origins: found.origins.map(({ origin }) => origin),
  }
}

/** Ends the session of a launched page. Writes dashboard_session. 401: it has ended. 404: the session is another kind. */
export async function endLaunchSession(tx: PlainTx, { session_id, launch }: MemberSession): Promise<{ modality: string }> {
  if (!launch) throw notAfterLaunch()
  const ended = await endSession(tx, session_id)
  if (!ended) throw unauthorized(SESSION_ENDED)
  return ended
}

const notAfterLaunch = () => notFound('A launch URL has not opened this session')
