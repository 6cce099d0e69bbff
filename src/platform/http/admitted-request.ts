// A request that was let in, and what is answered to it.
import type { Db } from '../db/database.ts'
import type { FileReply, ManagementPrincipal } from './operation.ts'
import type { Tenant } from '../db/transaction.ts'

/** A request whose caller is known, and whose path has been read. */
export interface AuthorizedRequest {
  id: string
  /** The address it comes from. */
  ip: string
  headers: Record<string, string | string[] | undefined>
  query: unknown
  /** The bytes of the body; undefined when there is none. */
  body: unknown
  /** Of the path. */
  values: unknown
  tenant: Tenant | undefined
  manager: ManagementPrincipal | undefined
  key_id: string | undefined
  /** Where a management operation runs. */
  rows: Db | undefined
  /** Query and body as they were read, once they were: what is refused is written down with whom they name. */
  asked: Asked | undefined
}

export interface Asked {
  query: unknown
  body: unknown
}

/** JSON, or a file; without either there is no body (204). */
export type Answer = { status: number; text: string } | { file?: FileReply }
