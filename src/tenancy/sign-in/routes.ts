import {
  managementOperation,
  multiTransactionOperation,
  sessionOperation,
  StatusReply,
  type Operation,
} from '../../platform/http/operation.ts'
import { notFound } from '../../platform/http/errors.ts'
import { version } from '../../platform/runtime/version.ts'
import { endOfSession } from './browser-requests.ts'
import { signInBrowser, signOut, type SignInDependencies } from './browser-sign-in.ts'
import { findDemoMember } from './demo-member.ts'
import { changePassword, inspectLink, requestReset, signInWithPassword, useLink } from './password-sign-in.ts'
import { addPasskey, listPasskeys, removePasskey, signInWithPasskey, startPasskey, startPasskeySignIn } from './passkeys.ts'
import { OrgParams } from '../organizations/management-shapes.ts'
import * as shapes from './schema.ts'
import { readSignInSettings } from './sign-in-settings.ts'
import { endSession, endSessions, listSessions } from './sessions.ts'
import { readSignedInMember } from './signed-in-member.ts'

const entry = { logsAccess: false, method: 'POST', auth: 'none' } as const

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
        methods: { password: true, passkey: true, oidc: dependencies.openId ? { label: dependencies.openId.label } : null },
      }),
  }),
  multiTransactionOperation({
    ...entry,
    id: 'sign_in_to_demo',
    path: '/console/api/sign-in/demo',
    summary: 'Sign in as the administrator of the demo organization',
    description: 'On servers with demo data alone; 404 elsewhere.',
    reply: shapes.Nothing,
    run: async ({ address, headers }) => {
      const member = dependencies.demo ? await dependencies.cells.control.plainTx(findDemoMember) : undefined
      if (!member) throw notFound('This server has no demo data')
      const { id: member_id, org_id } = member
      return signInBrowser(dependencies, { headers, address }, { member_id, org_id, method: 'demo' }, {})
    },
  }),
]

const EXAMPLE_EMAIL = 'testa@example.com'
const EXAMPLE_PASSWORD = 'seven fictional tulips'

/** Passwords, and links to set them. */
const passwordRoutes = (dependencies: SignInDependencies): Operation[] => [
  multiTransactionOperation({
    ...entry,
    id: 'sign_in_with_password',
    path: '/console/api/sign-in/password',
    summary: 'Sign in with email and password',
    description: 'Every refusal is 401 with the same text.',
    body: shapes.PasswordSignIn,
    reply: shapes.SignInResult,
    example: { email: EXAMPLE_EMAIL, password: EXAMPLE_PASSWORD },
    run: (request, { body }) => signInWithPassword(dependencies, request, body),
  }),
  multiTransactionOperation({
    ...entry,
    id: 'inspect_one_time_link',
    path: '/console/api/one-time-links/inspect',
    reads: true,
    summary: 'Read whom a one-time link is for',
    body: shapes.InspectLink,
    reply: shapes.LinkOwner,
    example: { token: 'inv_of-the-mail' },
    run: ({ address }, { body }) => inspectLink(dependencies, address, body.token),
  }),
  multiTransactionOperation({
    ...entry,
    id: 'use_one_time_link',
    path: '/console/api/one-time-links/use',
    summary: 'Set a password with a one-time link, and sign in',
    description: 'All earlier sessions of the member end.',
    body: shapes.UseLink,
    reply: shapes.SignInResult,
    example: { token: 'inv_of-the-mail', name: 'Testa Fictional', password: EXAMPLE_PASSWORD },
    run: (request, { body }) => useLink(dependencies, request, body),
  }),
  multiTransactionOperation({
    ...entry,
    id: 'request_password_reset',
    path: '/console/api/password-reset',
    summary: 'Ask for a mail to set a password',
    description: 'The answer does not tell whether there is a member with this address.',
    body: shapes.RequestReset,
    reply: shapes.Nothing,
    example: { email: EXAMPLE_EMAIL },
    run: ({ address }, { body }) => {
      requestReset(dependencies, address, body.email)
      return Promise.resolve({})
    },
  }),
  multiTransactionOperation({
    id: 'change_password',
    logsAccess: false,
    method: 'PUT',
    path: '/console/api/password',
    auth: 'session',
    summary: 'Change the password of the member',
    description: 'All other sessions of the member end.',
    body: shapes.ChangePassword,
    reply: shapes.Nothing,
    example: { current_password: EXAMPLE_PASSWORD, password: 'nine fictional gardens' },
    run: async (_context, { session, body }) => {
      await changePassword(dependencies, session!, body)
      return {}
    },
  }),
]

/** Passkeys: to sign in, and to add and remove them. */
const passkeyRoutes = (dependencies: SignInDependencies): Operation[] => [
  multiTransactionOperation({
    ...entry,
    id: 'get_passkey_sign_in_options',
    path: '/console/api/sign-in/passkey/options',
    summary: 'Start to sign in with a passkey',
    reply: shapes.PasskeyOptions,
    run: async (request) => {
      const { options, cookie } = await startPasskeySignIn(dependencies, request, null)
      return new StatusReply(200, options, { 'set-cookie': cookie })
    },
  }),
  multiTransactionOperation({
    ...entry,
    id: 'sign_in_with_passkey',
    path: '/console/api/sign-in/passkey',
    summary: 'Sign in with a passkey, alone or after the password',
    body: shapes.PasskeySignIn,
    reply: shapes.SignInResult,
    example: { response: { id: 'of-the-browser' } },
    run: (request, { body }) => signInWithPasskey(dependencies, request, body),
  }),
  sessionOperation({
    id: 'list_passkeys',
    method: 'GET',
    path: '/console/api/passkeys',
    summary: 'List the passkeys of the member, newest first',
    reply: shapes.PasskeyList,
    run: async (tx, { session }) => ({ passkeys: await listPasskeys(tx, session) }),
  }),
  multiTransactionOperation({
    id: 'get_new_passkey_options',
    logsAccess: false,
    method: 'POST',
    path: '/console/api/passkeys/options',
    auth: 'session',
    summary: 'Start to add a passkey',
    reply: shapes.PasskeyOptions,
    run: async (request, { session }) => {
      const { options, cookie } = await startPasskey(dependencies, request, session!)
      return new StatusReply(200, options, { 'set-cookie': cookie })
    },
  }),
  multiTransactionOperation({
    id: 'add_passkey',
    logsAccess: false,
    method: 'POST',
    path: '/console/api/passkeys',
    auth: 'session',
    summary: 'Add a passkey',
    description: 'From then on the member needs a passkey after the password. At most 20.',
    body: shapes.AddPasskey,
    reply: shapes.Passkey,
    example: { name: 'Laptop', response: { id: 'of-the-browser' } },
    run: (request, { session, body }) => addPasskey(dependencies, request, session!, body),
  }),
  sessionOperation({
    id: 'remove_passkey',
    method: 'DELETE',
    path: '/console/api/passkeys/{passkey_id}',
    summary: 'Remove a passkey',
    params: shapes.PasskeyParams,
    reply: shapes.Nothing,
    run: async (tx, { session, params }) => {
      await removePasskey(tx, session, params.passkey_id)
      return {}
    },
  }),
]

/** With a session. */
const sessionRoutes = (dependencies: SignInDependencies): Operation[] => [
  sessionOperation({
    id: 'get_session',
    method: 'GET',
    path: '/console/api/session',
    summary: 'Read the member who has signed in, with teams, roles and permissions',
    reply: shapes.SignedInMember,
    run: (tx, { session }) =>
      readSignedInMember(tx, session, {
        cells: dependencies.cells.names,
        demo: dependencies.demo,
        operations: dependencies.operations(),
      }),
  }),
  multiTransactionOperation({
    id: 'sign_out',
    logsAccess: false,
    method: 'POST',
    path: '/console/api/sign-out',
    auth: 'session',
    summary: 'End the session of the request',
    description: 'After a sign-in through an OpenID issuer the answer names the page of the issuer that ends its own session.',
    reply: shapes.SignedOut,
    run: async (_context, { session }) =>
      new StatusReply(200, { logout_url: (await signOut(dependencies, session!)) ?? null }, endOfSession()),
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
      tx.afterCommit(() => dependencies.sessions.invalidateMember(session.member_id))
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
      tx.afterCommit(() => dependencies.sessions.invalidateMember(session.member_id))
      return new StatusReply(200, {}, keepsCurrent ? {} : endOfSession())
    },
  }),
]

/** With a key or a session of an administrator. */
const settingsRoutes = (dependencies: SignInDependencies): Operation[] => [
  managementOperation({
    id: 'get_sign_in_settings',
    logsAccess: false,
    method: 'GET',
    path: '/v1/org/{org_id}/sign_in',
    scope: 'control',
    keyScope: 'org',
    summary: 'Read the settings of signing in to the console',
    params: OrgParams,
    reply: shapes.SignInSettings,
    run: () => Promise.resolve(readSignInSettings(dependencies)),
  }),
]

export const signInRoutes = (dependencies: SignInDependencies): Operation[] => [
  ...settingsRoutes(dependencies),
  ...entryRoutes(dependencies),
  ...passwordRoutes(dependencies),
  ...passkeyRoutes(dependencies),
  ...sessionRoutes(dependencies),
]
