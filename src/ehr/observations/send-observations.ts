// Sends results to the FHIR server of a team's EHR pipeline, as Observations. Source: management-auth.md 14. Unsourced: when, and the mapper.
import { on, type Hook } from '../../platform/db/hooks.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { defineHandler, defineJob, enqueue, type Handler, type JobContext } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { orderStepped } from '../../lab/orders/order-hooks.ts'
import { readResult } from '../../lab/results/results.ts'
import type { ResultDocument } from '../../lab/results/schema.ts'
import { getUser } from '../../people/users/users.ts'
import { FHIR_PIPELINE, fhirPipeline, type FhirPipeline } from '../pipelines/fhir-pipeline.ts'
import { EhrError, type EhrClient } from './ehr-client.ts'
import { bundlesOf } from './observation.ts'

/** The name of these Observations in `allowed_mappers`. */
const MAPPER = 'lab_results'
/** The statuses of an order that come with a new result. */
const REPORTED = new Set(['partial_results', 'completed', 'corrected'])

const sendObservations = defineJob('ehr.send_observations', T.Object({ order_id: T.String() }), {
  timeout_s: 300,
})

const isSent = ({ authentication, allowed_mappers }: FhirPipeline): boolean =>
  authentication.type !== 'google_iam' && (allowed_mappers === null || allowed_mappers.includes(MAPPER))

/** Queues the results of an order when they are there, if the team has a pipeline for them. Writes job. */
export const resultsHook: Hook = on(orderStepped, (tx, { order }, low) => {
  if (!REPORTED.has(low)) return
  return tx
    .cached(FHIR_PIPELINE, async () => ({ pipeline: await fhirPipeline(tx) }))
    .then((known) => {
      if (known?.pipeline && isSent(known.pipeline)) enqueue(tx, sendObservations, { order_id: order.id })
    })
})

export interface ObservationDependencies {
  vault: Vault
  client: EhrClient
}

const FHIR_JSON = 'application/fhir+json'

/** The header that authenticates us. Errors: EhrError the token endpoint does not give a token. */
async function authorization(
  client: EhrClient,
  sandbox: boolean,
  { authentication: how, secret }: FhirPipeline & { secret: string },
) {
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
  })
  return `Bearer ${accessToken(answer)}`
}

function accessToken(text: string): string {
  try {
    const { access_token } = JSON.parse(text) as { access_token?: unknown }
    if (typeof access_token === 'string' && /^[\x21-\x7e]+$/.test(access_token)) return access_token
  } catch {
    // As an answer without a token.
  }
  throw new EhrError('no_token')
}

/** What a job sends; undefined if there is nothing to send any more. */
async function read(context: JobContext, order_id: string) {
  try {
    return await context.tx(async (tx) => {
      const pipeline = await fhirPipeline(tx)
      if (!pipeline || !isSent(pipeline) || pipeline.secret === null) return undefined
      const { order, document } = await readResult(tx, order_id)
      const user = await getUser(tx, order.user_id)
      return { pipeline: { ...pipeline, secret: pipeline.secret }, order, document: JSON.parse(document) as ResultDocument, user }
    })
  } catch (error) {
    // The user or the result was deleted.
    if (error instanceof Problem && error.status === 404) return undefined
    throw error
  }
}

export const sendHandler = ({ vault, client }: ObservationDependencies): Handler =>
  defineHandler(sendObservations, async (context, { order_id }) => {
    const found = await read(context, order_id)
    if (!found) return
    const { pipeline, order, document, user } = found
    const sandbox = context.tenant.cell.startsWith('sandbox')
    const secret = vault.decrypt(pipeline.secret, pipeline.context)
    const header = await authorization(client, sandbox, { ...pipeline, secret })
    for (const bundle of bundlesOf(order, document, user))
      await client.post(sandbox, {
        url: pipeline.base_url,
        headers: { authorization: header, 'content-type': FHIR_JSON, accept: FHIR_JSON, prefer: 'return=minimal' },
        body: JSON.stringify(bundle),
      })
  })
