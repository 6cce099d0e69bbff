import { userDeleted } from '../../people/users/users.ts'
import { eraseTables, eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { legacyRoutes } from './legacy-routes.ts'
import { oauthRoutes } from './oauth-routes.ts'
import { linkPages, type LinkPageDependencies } from './link-page.ts'
import { linkRoutes } from './routes.ts'

/** For so long an expired link token is distinguished from an unknown one. */
const SESSION_KEPT_S = 86_400

export function link(dependencies: LinkPageDependencies): Module {
  const forget = eraseTablesOfUser('link_session', 'link_code')
  return {
    name: 'connections/link',
    about: 'link tokens, link codes, link page',
    tag: 'link',
    tables: { ofTeams: ['link_session', 'link_code'] },
    operations: [...linkRoutes(dependencies), ...oauthRoutes(dependencies), ...legacyRoutes(dependencies)],
    pages: linkPages(dependencies),
    hooks: [defineHook(userDeleted, forget)],
    periodicTasks: [
      cleanup({ table: 'link_session', column: 'expires_at', retention_s: SESSION_KEPT_S }),
      cleanup({ table: 'link_code', column: 'expires_at' }),
    ],
    erasers: { user: forget, team: eraseTables('link_session', 'link_code') },
  }
}
