// The configuration of an organization's embedded dashboard: its slug, the modalities, and the URLs of its own pages. Source:
// management-auth.md 16.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { conflict, notFound } from '../../platform/http/errors.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { Embedding, type PutEmbedding } from './schema.ts'

/** The constraints of the table and the responses when statements violate them. */
export const embeddingConstraints = {
  dashboard_embedding__slug: () => conflict('This slug is in use'),
}

const findEmbedding = (tx: PlainTx, condition: Sql): Promise<Embedding | undefined> =>
  tx.maybe(
    Embedding,
    sql`select slug, to_json(modalities) as modalities, origins as origin_configs from dashboard_embedding where ${condition}`,
  )

/** The configuration of an organization that may have none. */
export const findEmbeddingConfig = (tx: PlainTx, org_id: string): Promise<Embedding | undefined> =>
  findEmbedding(tx, sql`org_id = ${org_id}`)

/** Reads the configuration. 404: there is none yet. */
export async function getEmbedding(tx: PlainTx, org_id: string): Promise<Embedding> {
  const found = await findEmbeddingConfig(tx, org_id)
  if (!found) throw notFound('The dashboard is not configured for embedding')
  return found
}

/** Creates or replaces the configuration. Writes dashboard_embedding. 409: another organization has the slug. */
export async function putEmbedding(tx: PlainTx, org_id: string, body: PutEmbedding): Promise<Embedding> {
  const origins = body.origin_configs.map(({ origin, session_continuation_url = null }) => ({ origin, session_continuation_url }))
  await tx.run(sql`
    insert into dashboard_embedding (org_id, slug, modalities, origins)
    values (${org_id}, ${body.slug}, ${body.modalities}, ${JSON.stringify(origins)})
    on conflict (org_id) do update set slug = excluded.slug, modalities = excluded.modalities, origins = excluded.origins`)
  return getEmbedding(tx, org_id)
}
