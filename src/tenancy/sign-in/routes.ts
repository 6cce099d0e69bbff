import { multiTransactionOperation, sessionOperation, StatusReply, type Operation } from '../../platform/http/operation.ts'
import { notFound } from '../../platform/http/errors.ts'
import { version } from '../../platform/runtime/version.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { assertCookieIsSafe, endOfSession, ownOrigin, sessionCookie } from './browser-requests.ts'
import { findDemoMember } from './demo-member.ts'
import * as shapes from './schema.ts'
import { endSession, endSessions, listSessions, startSession, type SessionLimits, type SignIn } from './sessions.ts'
import { readSignedInMember } from './signed-in-member.ts'

export interface SignInDependencies {
  cells: Cells
  /** The guard, which caches sessions. */
  sessions: { invalidateMember(member_id: string): void }
  limits: SessionLimits
  /** Whether the server has demo data. */
  demo: boolean
  publicUrl: () => string
  /** The operations of all modules. */
  operations: () => readonly Operation[]
}

type Headers = Record<string, string | string[] | undefined>

/** The reply that puts a new session into the browser. Writes console_session, audit_log. 403: the cookie would not be safe. */
async function signIn<R>(
  { cells, limits, publicUrl }: Pick<SignInDependencies, 'cells' | 'limits' | 'publicUrl'>,
  headers: Headers,
  member: Omit<SignIn, 'user_agent'>,
  body: R,
): Promise<StatusReply<R>> {
  const origin = ownOrigin(headers, publicUrl())
  assertCookieIsSafe(origin)
  const token = await cells.control.plainTx((tx) => startSession(tx, { ...member, user_agent: headers['user-agent'] }, limits))
  return new StatusReply(200, body, { 'set-cookie': sessionCookie(origin, token, limits.total_s) })
}

/** Without a session. */
const entryRoutes = (dependencies: SignInDependencies): Operation[] => [
  multiTransactionOperation({
    id: 'get_sign_in_options',
    logsAccess: false,
    method: 'GET',
    path: '/console/api/sign-in',
    auth: 'none',
    summary: 'Read how members sign in to the console',
    reply: shapes.SignInOptions,
    run: () =>
      Promise.resolve({
        version,
        demo: dependencies.demo,
        cells: dependencies.cells.names,
        methods: { password: false, passkey: false, oidc: null },
      }),
  }),
  multiTransactionOperation({
    id: 'sign_in_to_demo',
    logsAccess: false,
    method: 'POST',
    path: '/console/api/sign-in/demo',
    auth: 'none',
    summary: 'Sign in as the administrator of the demo organization',
    description: 'On servers with demo data alone; 404 elsewhere.',
    reply: shapes.Nothing,
    run: async ({ address, headers }) => {
      const member = dependencies.demo ? await dependencies.cells.control.plainTx(findDemoMember) : undefined
      if (!member) throw notFound('This server has no demo data')
      return signIn(dependencies, headers, { member_id: member.id, org_id: member.org_id, method: 'demo', address }, {})
    },
  }),
]

/** With a session. */
const sessionRoutes = ({ cells, sessions, demo, operations }: SignInDependencies): Operation[] => [
  sessionOperation({
    id: 'get_session',
    method: 'GET',
    path: '/console/api/session',
    summary: 'Read the member who has signed in, with teams, roles and permissions',
    reply: shapes.SignedInMember,
    run: (tx, { session }) => readSignedInMember(tx, session, { cells: cells.names, demo, operations: operations() }),
  }),
  sessionOperation({
    id: 'sign_out',
    method: 'POST',
    path: '/console/api/sign-out',
    summary: 'End the session of the request',
    reply: shapes.Nothing,
    run: async (tx, { session }) => {
      await endSession(tx, session.member_id, session.session_id)
      tx.afterCommit(() => sessions.invalidateMember(session.member_id))
      return new StatusReply(200, {}, endOfSession())
    },
  }),
  sessionOperation({
    id: 'list_sessions',
    method: 'GET',
    path: '/console/api/sessions',
    summary: 'List the sessions of the member, newest first',
    description: 'At most 20: a further sign-in ends the session that was not used for longest.',
    reply: shapes.SessionList,
    run: async (tx, { session }) => ({ sessions: await listSessions(tx, session) }),
  }),
  sessionOperation({
    id: 'end_session',
    method: 'DELETE',
    path: '/console/api/sessions/{session_id}',
    summary: 'End a session of the member',
    params: shapes.SessionParams,
    reply: shapes.Nothing,
    run: async (tx, { session, params }) => {
      await endSession(tx, session.member_id, params.session_id)
      tx.afterCommit(() => sessions.invalidateMember(session.member_id))
      return new StatusReply(200, {}, params.session_id === session.session_id ? endOfSession() : {})
    },
  }),
  sessionOperation({
    id: 'end_sessions',
    method: 'DELETE',
    path: '/console/api/sessions',
    summary: 'End all sessions of the member',
    query: shapes.EndSessionsQuery,
    reply: shapes.Nothing,
    run: async (tx, { session, query }) => {
      const keepsCurrent = query.keep_current ?? false
      await endSessions(tx, session.member_id, keepsCurrent ? session.session_id : undefined)
      tx.afterCommit(() => sessions.invalidateMember(session.member_id))
      return new StatusReply(200, {}, keepsCurrent ? {} : endOfSession())
    },
  }),
]

export const signInRoutes = (dependencies: SignInDependencies): Operation[] => [
  ...entryRoutes(dependencies),
  ...sessionRoutes(dependencies),
]
