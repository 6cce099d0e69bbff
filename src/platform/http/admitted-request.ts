// An authorized request and its response.
import type { Db } from '../db/database.ts'
import type { FileReply, ManagementPrincipal, UserCredential } from './operation.ts'
import type { Tenant } from '../db/transaction.ts'

/** A request whose caller is authenticated, and whose path has been parsed. */
export interface AuthorizedRequest {
  id: string
  /** Client address. */
  ip: string
  headers: Record<string, string | string[] | undefined>
  query: unknown
  /** The bytes of the body; undefined if there is none. */
  body: unknown
  /** Path parameters. */
  values: unknown
  tenant: Tenant | undefined
  manager: ManagementPrincipal | undefined
  /** The only user whom it may concern. */
  user: UserCredential | undefined
  key_id: string | undefined
  /** The member of the organization who uses the key. */
  member_id: string | undefined
  /** The scope in which a management operation runs. */
  rows: Db | undefined
  /** Query and body after parsing: the access log entry of a rejected request names the users in them. */
  asked: Asked | undefined
}

export interface Asked {
  query: unknown
  body: unknown
}

/** JSON, JSON in parts that is not searched for users, or a file; without any of these there is no body (204). */
export type Answer = { status: number; text: string } | { status: number; parts: readonly string[] } | { file?: FileReply }
