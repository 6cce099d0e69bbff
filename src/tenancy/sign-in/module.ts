import type { Module } from '../../platform/module/module.ts'
import type { SignInDependencies } from './browser-sign-in.ts'
import { linkCleanup } from './one-time-links.ts'
import { openIdPages } from './openid-pages.ts'
import { passkeyConstraints } from './passkeys.ts'
import { signInRoutes } from './routes.ts'
import { attemptCleanup } from './sign-in-attempts.ts'
import { sessionCleanup } from './sessions.ts'

export const signIn = (dependencies: SignInDependencies): Module => ({
  name: 'tenancy/sign-in',
  about: 'sign-in of members to the console, and their sessions',
  tag: 'console',
  tables: { others: ['console_session', 'member_identity', 'member_password', 'one_time_link', 'passkey', 'sign_in_attempt'] },
  constraints: passkeyConstraints,
  operations: signInRoutes(dependencies),
  pages: openIdPages(dependencies),
  periodicTasks: [sessionCleanup, linkCleanup, attemptCleanup],
})
