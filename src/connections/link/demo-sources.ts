// Demo providers on the link page of a sandbox: their data is made up, and no provider is asked. Source: users-wearables.md 2.2, 2.4.
import { lockUser } from '../../people/users/connected-sources.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import type { UserCredential } from '../../platform/http/operation.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { hasOther } from '../connections/demo.ts'
import type { OnConnected } from './callback.ts'
import { consumeSession } from './oauth.ts'
import type { LinkError } from './schema.ts'
import { isNamed } from './offered.ts'
import { lockSession, reasonAgainst, recordFailure, type LinkSession } from './link-sessions.ts'

/** The generator of made-up data, which is above this module. */
export interface DemoSources {
  /** What each demo provider of a team records; empty outside of sandboxes. */
  resourcesByProvider(tenant: Tenant): ReadonlyMap<string, readonly Resource[]>
  /** Connects a user. Errors: 400 the user has other connections; 404 unknown user, or no sandbox. */
  connect(tx: Tx, user_id: string, provider: string): Promise<unknown>
}

export interface DemoAccess {
  cells: Cells
  demoSources: DemoSources
}

/** The demo providers that a session may connect; none if its user has a connection that is not a demo. */
export async function offeredDemos(tx: Tx, { demoSources }: DemoAccess, session: LinkSession): Promise<string[]> {
  const names = [...demoSources.resourcesByProvider(tx.tenant).keys()].filter((name) => isNamed(session, name))
  return names.length && (await hasOther(tx, session.user_id, true)) ? [] : names
}

/**
 * Connects the user of a session to a demo provider. Writes link_session, and what `DemoSources.connect` writes. Emits
 * provider.connection.created if a connection begins.
 * @returns why the user is not connected; undefined if the user is
 */
export async function connectDemoSource(
  access: DemoAccess,
  tenant: Tenant,
  user: UserCredential,
  provider: string,
  onConnected: OnConnected,
): Promise<LinkError | undefined> {
  const error = await connect(access, tenant, user, provider, onConnected)
  if (error) {
    const { user_id, session_id: id } = user
    await access.cells.db(tenant.cell).tx(tenant, (tx) => recordFailure(tx, { user_id, id }, error))
  }
  return error
}

async function connect(
  { cells, demoSources }: DemoAccess,
  tenant: Tenant,
  user: UserCredential,
  provider: string,
  onConnected: OnConnected,
): Promise<LinkError | undefined> {
  try {
    return await cells.db(tenant.cell).tx(tenant, async (tx) => {
      if (!(await lockUser(tx, user.user_id))) return 'invalid_token'
      const session = await lockSession(tx, user)
      const reason = reasonAgainst(session)
      if (reason) return reason
      if (!demoSources.resourcesByProvider(tenant).has(provider) || !isNamed(session!, provider)) return 'provider_api_error'
      await demoSources.connect(tx, user.user_id, provider)
      await consumeSession(tx, session!, provider)
      onConnected(tx)
      return undefined
    })
  } catch (error) {
    // The user has a connection that is not a demo.
    if (error instanceof Problem && error.status === 400) return 'provider_api_error'
    throw error
  }
}
