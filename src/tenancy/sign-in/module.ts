import type { Module } from '../../platform/module/module.ts'
import { signInRoutes, type SignInDependencies } from './routes.ts'
import { sessionCleanup } from './sessions.ts'

export const signIn = (dependencies: SignInDependencies): Module => ({
  name: 'tenancy/sign-in',
  about: 'sign-in of members to the console, and their sessions',
  tag: 'console',
  tables: { others: ['console_session'] },
  operations: signInRoutes(dependencies),
  periodicTasks: [sessionCleanup],
})
