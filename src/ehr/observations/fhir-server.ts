// The FHIR server of a team: whether it takes Observations of a mapping, and sending them with its credentials.
// Source: management-auth.md 14; RFC 6749 2.3.1, 4.4.
import type { Vault } from '../../platform/crypto/vault.ts'
import { readOutsideJson } from '../../platform/net/outside-json.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { FHIR_PIPELINE, fhirPipeline, type FhirPipeline } from '../pipelines/pipelines.ts'
import { EhrError, type EhrClient } from './ehr-client.ts'
import { transactionsOf, type Observation } from './transactions.ts'

export interface ObservationDependencies {
  vault: Vault
  client: EhrClient
}

/** A pipeline that something can be sent to. */
export type SendingPipeline = FhirPipeline & { secret: string }

const takes = ({ authentication, allowed_mappers }: FhirPipeline, mappers: readonly string[]): boolean =>
  authentication.type !== 'google_iam' && (allowed_mappers === null || mappers.some((mapper) => allowed_mappers.includes(mapper)))

/** Whether the team has a pipeline for one of the mappings; cached for seconds. */
export const hasPipeline = async (tx: Tx, mappers: readonly string[]): Promise<boolean> => {
  const known = await tx.readCached(FHIR_PIPELINE, async () => ({ pipeline: await fhirPipeline(tx) }))
  return known?.pipeline !== undefined && takes(known.pipeline, mappers)
}

/** The team's pipeline, if it takes one of the mappings and has credentials. */
export async function pipelineFor(tx: Tx, mappers: readonly string[]): Promise<SendingPipeline | undefined> {
  const pipeline = await fhirPipeline(tx)
  if (!pipeline || !takes(pipeline, mappers) || pipeline.secret === null) return undefined
  return { ...pipeline, secret: pipeline.secret }
}

const FHIR_JSON = 'application/fhir+json'

/**
 * Sends Observations in transactions, one after the other. Errors: EhrError a transaction was not taken, or there was no token; what was sent
 * before stays.
 */
export async function sendTo(
  { vault, client }: ObservationDependencies,
  cell: string,
  pipeline: SendingPipeline,
  observations: readonly Observation[],
): Promise<void> {
  const sandbox = cell.startsWith('sandbox')
  const secret = vault.decrypt(pipeline.secret, pipeline.context)
  const header = await authorization(client, sandbox, { ...pipeline, secret })
  for (const bundle of transactionsOf(observations))
    await client.post(sandbox, {
      url: pipeline.base_url,
      headers: { authorization: header, 'content-type': FHIR_JSON, accept: FHIR_JSON, prefer: 'return=minimal' },
      body: JSON.stringify(bundle),
    })
}

const TOKEN_BYTES_MAX = 65_536

/** The header that authenticates us. Errors: EhrError the token endpoint does not give a token. */
async function authorization(client: EhrClient, sandbox: boolean, { authentication: how, secret }: SendingPipeline) {
  if (how.type === 'api_key') return `Bearer ${secret}`
  const encoded = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')
  const answer = await client.post(sandbox, {
    url: how.token_url!,
    headers: {
      authorization: `Basic ${Buffer.from(`${encoded(how.client_id!)}:${encoded(secret)}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: 'grant_type=client_credentials',
    answer_bytes_max: TOKEN_BYTES_MAX,
  })
  return `Bearer ${accessToken(answer)}`
}

function accessToken(text: string): string {
  try {
    const { access_token } = readOutsideJson(text) as { access_token?: unknown }
    if (typeof access_token === 'string' && /^[\x21-\x7e]+$/.test(access_token)) return access_token
  } catch {
    // As an answer without a token.
  }
  throw new EhrError('no_token')
}
