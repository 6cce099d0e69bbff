import { userDeleted } from '../../people/users/users.ts'
import { eraseTables, eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { Module } from '../../platform/module/module.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { signInRoutes } from './routes.ts'
import { endSessions } from './phone-sessions.ts'
import { encryptedKeyColumn } from './signing-key.ts'
import type { SignInDependencies } from './token-exchange.ts'

export function phoneSignIn(dependencies: SignInDependencies): Module {
  const signOut = async (tx: Tx, user_id: string, session_id?: string): Promise<void> => {
    await endSessions(tx, user_id, session_id)
    tx.afterCommit(() => dependencies.guards.teams.invalidateSessions(tx.team, user_id))
  }
  return {
    name: 'connections/sign-in',
    about: 'sign-in of phones',
    tag: 'mobile-sdk',
    tables: { ofTeams: ['phone_session'], others: ['sign_in_key'] },
    operations: signInRoutes(dependencies, signOut),
    hooks: [defineHook(userDeleted, (tx, user_id) => signOut(tx, user_id))],
    periodicTasks: [cleanup({ table: 'phone_session', column: 'expires_at' })],
    encryptedColumns: [encryptedKeyColumn],
    erasers: { user: eraseTablesOfUser('phone_session'), team: eraseTables('phone_session') },
  }
}
