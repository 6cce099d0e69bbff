// All that a connector yields of a resource, for tests of single connectors.
import type { Connector, Pulled, PullRequest } from '../../../src/connections/connectors/connector.ts'
import type { VendorGrants } from './grants.ts'
import { collectAll, plainHttp, REDIRECT, type VendorServer } from './vendor-server.ts'

const RANGE = { from_ms: Date.parse('2026-01-30T00:00:00Z'), to_ms: Date.parse('2026-02-01T00:00:00Z'), time_zone: 'UTC' }

/** What a connector yields of a range of two days, 30 and 31 January 2026, for a user who has just agreed. */
export async function pullResource(
  connector: Connector,
  peer: VendorServer & { grants: VendorGrants },
  account: string,
  resource: PullRequest['resource'],
  scopes: readonly string[] = connector.scopes,
): Promise<Pulled[]> {
  const app = peer.app()
  const code = peer.grants.agree(account, [...scopes], REDIRECT)
  const grant = await connector.exchange(plainHttp, app, { code, redirect_uri: REDIRECT, code_verifier: '', now_ms: peer.now_ms })
  return collectAll(connector.pull(plainHttp, app, grant.access_token, { ...RANGE, resource }))
}

/** The streams in what a pull yields. */
export const streamsOf = (parts: Pulled[]) => parts.flatMap((part) => ('streams' in part ? part.streams : []))
/** What a part is about, so that a test sees the order. */
export const nameOf = (part: Pulled) => ('streams' in part ? 'stream' : 'kind' in part ? part.kind : part.resource)
