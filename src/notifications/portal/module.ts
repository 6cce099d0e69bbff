import { userDeleted } from '../../people/users/users.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { portalPages, type PortalDependencies } from './portal-pages.ts'
import { erasePortalLinks } from './portal-links.ts'
import { portalRoutes } from './routes.ts'

/** For so long an expired link is distinguished from an unknown one. */
const LINK_KEPT_S = 14 * 86_400

export const portal = (dependencies: PortalDependencies): Module => ({
  name: 'notifications/portal',
  about: 'pages for patients',
  tag: 'users',
  tables: { ofTeams: ['portal_link'] },
  operations: portalRoutes(dependencies),
  pages: portalPages(dependencies),
  hooks: [defineHook(userDeleted, erasePortalLinks)],
  periodicTasks: [cleanup({ table: 'portal_link', column: 'expires_at', retention_s: LINK_KEPT_S })],
  erasers: { user: erasePortalLinks, team: eraseTables('portal_link') },
})
