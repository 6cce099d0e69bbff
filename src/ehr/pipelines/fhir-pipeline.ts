// The FHIR pipeline of a team, for what sends to it.
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { encryptionContext } from './pipelines.ts'

const Row = T.Object({
  base_url: T.String(),
  authentication: T.Record(T.String(), T.String()),
  secret: Nullable(T.String()),
  allowed_mappers: Nullable(T.Array(T.String())),
})

/** The secret is encrypted; `context` decrypts it. */
export type FhirPipeline = Static<typeof Row> & { context: string }

/** The key of a team's cached pipeline. */
export const FHIR_PIPELINE = 'FHIR pipeline'

/** Where a team's Observations are sent; undefined if nowhere. */
export async function fhirPipeline(tx: Tx): Promise<FhirPipeline | undefined> {
  const row = await tx.maybe(
    Row,
    sql`select base_url, authentication, secret, allowed_mappers from ehr_pipeline where team_id = ${tx.team} and ehr_type = 'fhir'`,
  )
  return row && { ...row, context: encryptionContext(tx.team, 'fhir') }
}
