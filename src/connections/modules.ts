// The modules of connections, from the bottom up.
import type { ServiceAccount } from '../settings/service-account.ts'
import type { Module } from '../platform/module/module.ts'
import { bulk } from './bulk/module.ts'
import { userConnections } from './connections/module.ts'
import { credentials } from './credentials/module.ts'
import type { CredentialDependencies } from './credentials/routes.ts'
import { fileImports } from './file-imports/module.ts'
import { grants } from './grants/module.ts'
import { introspectionRoutes } from './introspection/routes.ts'
import type { DemoAccess } from './link/demo-sources.ts'
import { link } from './link/module.ts'
import type { LinkDependencies } from './link/routes.ts'
import { mobileSdk } from './mobile-sdk/module.ts'
import { pulls } from './pulls/module.ts'
import { eraseTables } from '../platform/db/erasure.ts'
import { pullPreferencesRoutes } from './pull-preferences/routes.ts'
import { phoneSignIn } from './sign-in/module.ts'
import type { SignInDependencies } from './sign-in/token-exchange.ts'
import type { VendorAccess } from './grants/access.ts'

type Dependencies = CredentialDependencies &
  SignInDependencies &
  LinkDependencies &
  DemoAccess &
  VendorAccess & {
    /** A connection without a notification for so long is polled, and so often. */
    poll_s: () => number
    googleAccount: () => ServiceAccount | undefined
    settings: { wrong_keys_per_min: number }
  }

export const connections = (dependencies: Dependencies): Module[] => [
  credentials(dependencies),
  {
    name: 'connections/pull-preferences',
    about: 'days of history to pull',
    tag: 'connections',
    tables: { others: ['data_pull_preference'] },
    operations: pullPreferencesRoutes(dependencies),
    erasers: { team: eraseTables('data_pull_preference') },
  },
  {
    name: 'connections/connectors',
    about: "protocols of vendors' clouds",
  },
  userConnections,
  grants(dependencies),
  pulls({ ...dependencies, access: dependencies }),
  mobileSdk,
  fileImports(dependencies),
  {
    name: 'connections/introspection',
    about: 'reports about received data',
    tag: 'introspection',
    operations: introspectionRoutes,
  },
  phoneSignIn(dependencies),
  link(dependencies),
  bulk(dependencies),
]
