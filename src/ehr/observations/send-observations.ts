// Sends results to the FHIR server of a team's EHR pipeline, as Observations. Source: management-auth.md 14. Unsourced: when, and the mapper.
import { defineHook, type Hook } from '../../platform/db/hooks.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { defineHandler, defineJob, enqueue, type Handler, type JobContext } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { collectionZone, UNKNOWN_ZONE } from '../../lab/orders/collection-zone.ts'
import { resultReceived } from '../../lab/results/result-hooks.ts'
import { readResult } from '../../lab/results/results.ts'
import type { ResultDocument } from '../../lab/results/schema.ts'
import { getUser } from '../../people/users/users.ts'
import { hasPipeline, pipelineFor, sendTo, type ObservationDependencies } from './fhir-server.ts'
import { observationsOfResult } from './observation.ts'

/** The name of these Observations in `allowed_mappers`. */
const MAPPER = 'lab_results'
const sendObservations = defineJob('ehr.send_observations', T.Object({ order_id: T.String() }), {
  timeout_s: 300,
})

/** Queues the results of an order when a report brings them, a partial one too, if the team has a pipeline for them. Writes job. */
export const resultsHook: Hook = defineHook(resultReceived, async (tx, { order }) => {
  if (await hasPipeline(tx, [MAPPER])) enqueue(tx, sendObservations, { order_id: order.id })
})

/** What a job sends; undefined if there is nothing to send any more. */
async function readPipelineResult(context: JobContext, order_id: string) {
  try {
    return await context.tx(async (tx) => {
      const pipeline = await pipelineFor(tx, [MAPPER])
      if (!pipeline) return undefined
      const { order, document, withdrawnResults } = await readResult(tx, order_id)
      const subject = await getUser(tx, order.user_id)
      const zone = await collectionZone(tx, order)
      const time_zone = zone === UNKNOWN_ZONE ? null : zone
      return { pipeline, sent: { order, document: JSON.parse(document) as ResultDocument, withdrawnResults, subject, time_zone } }
    })
  } catch (error) {
    // The user or the result was deleted.
    if (error instanceof Problem && error.status === 404) return undefined
    throw error
  }
}

export const sendHandler = (dependencies: ObservationDependencies): Handler =>
  defineHandler(sendObservations, async (context, { order_id }) => {
    const found = await readPipelineResult(context, order_id)
    if (!found) return
    await sendTo(dependencies, context.tenant.cell, found.pipeline, observationsOfResult(found.sent))
  })
