// Sends results to the FHIR server of a team's EHR pipeline, as Observations. Source: management-auth.md 14. Unsourced: when, and the mapper.
import { on, type Hook } from '../../platform/db/hooks.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { defineHandler, defineJob, enqueue, type Handler, type JobContext } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { orderStepped } from '../../lab/orders/order-hooks.ts'
import { readResult } from '../../lab/results/results.ts'
import type { ResultDocument } from '../../lab/results/schema.ts'
import { getUser } from '../../people/users/users.ts'
import { hasPipeline, pipelineFor, sendTo, type ObservationDependencies } from './fhir-server.ts'
import { observationsOfResult } from './observation.ts'

/** The name of these Observations in `allowed_mappers`. */
const MAPPER = 'lab_results'
/** The statuses of an order that come with a new result. */
const REPORTED = new Set(['partial_results', 'completed', 'corrected'])

const sendObservations = defineJob('ehr.send_observations', T.Object({ order_id: T.String() }), {
  timeout_s: 300,
})

/** Queues the results of an order when they are there, if the team has a pipeline for them. Writes job. */
export const resultsHook: Hook = on(orderStepped, (tx, { order }, low) => {
  if (!REPORTED.has(low)) return
  return hasPipeline(tx, [MAPPER]).then((isSent) => {
    if (isSent) enqueue(tx, sendObservations, { order_id: order.id })
  })
})

/** What a job sends; undefined if there is nothing to send any more. */
async function read(context: JobContext, order_id: string) {
  try {
    return await context.tx(async (tx) => {
      const pipeline = await pipelineFor(tx, [MAPPER])
      if (!pipeline) return undefined
      const { order, document } = await readResult(tx, order_id)
      const user = await getUser(tx, order.user_id)
      return { pipeline, order, document: JSON.parse(document) as ResultDocument, user }
    })
  } catch (error) {
    // The user or the result was deleted.
    if (error instanceof Problem && error.status === 404) return undefined
    throw error
  }
}

export const sendHandler = (dependencies: ObservationDependencies): Handler =>
  defineHandler(sendObservations, async (context, { order_id }) => {
    const found = await read(context, order_id)
    if (!found) return
    const { pipeline, order, document, user } = found
    await sendTo(dependencies, context.tenant.cell, pipeline, observationsOfResult(order, document, user))
  })
