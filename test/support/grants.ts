// Grants of users at clouds of vendors, stored as after their consent.
import type { Grant } from '../../src/connections/connectors/connector.ts'
import { saveGrant, type SavedGrant } from '../../src/connections/grants/grants.ts'
import type { OAuthProvider } from '../../src/people/users/sources.ts'
import { vault, type TestTeam } from './server.ts'

export const fictionalGrant: Grant = {
  access_token: 'fictional-access',
  refresh_token: 'fictional-refresh',
  expires_at_ms: null,
  scopes: null,
  external_user_id: 'fictional-account',
}

/** Stores a grant of a user. */
export const grant = (
  { db, tenant }: TestTeam,
  user_id: string,
  provider: OAuthProvider = 'oura',
  overrides: Partial<Grant> = {},
): Promise<SavedGrant> => db.tx(tenant, (tx) => saveGrant(tx, vault, user_id, provider, { ...fictionalGrant, ...overrides }))
