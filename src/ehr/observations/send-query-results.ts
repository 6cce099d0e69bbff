// Sends results of continuous queries to the FHIR server of a team's EHR pipeline. Source: management-auth.md 14, 15. Unsourced: when.
import { defineHook, type Hook } from '../../platform/db/hooks.ts'
import { defineHandler, defineJob, enqueue, type Handler } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { readObservations, resultChanged } from '../../wearables/queries/export-results.ts'
import { hasPipeline, pipelineFor, sendTo, type ObservationDependencies } from './fhir-server.ts'

/** Observations that one job sends, unless a single group has more: ten transactions. */
const OBSERVATIONS_MAX = 2000

/** The groups of a result from one local time to another, both included. */
const sendQueryResult = defineJob(
  'ehr.send_query_result',
  T.Object({ user_id: T.String(), query_id: T.String(), from: T.String(), to: T.String() }),
  { timeout_s: 300 },
)

/** Queues the groups of a result that changed, if the team has a pipeline for them. Writes job. */
export const queryResultsHook: Hook = defineHook(resultChanged, async (tx, { mappers, ...changed }) => {
  if (await hasPipeline(tx, mappers)) enqueue(tx, sendQueryResult, changed)
})

export const sendQueryResultHandler = (dependencies: ObservationDependencies): Handler =>
  defineHandler(sendQueryResult, async (context, payload) => {
    const found = await context.tx(async (tx) => {
      const part = await readObservations(tx, payload, OBSERVATIONS_MAX)
      const pipeline = part && (await pipelineFor(tx, part.mappers))
      return pipeline && { pipeline, ...part }
    })
    if (!found) return
    const { pipeline, observations, next } = found
    const { allowed_mappers } = pipeline
    const sent = observations.filter(({ mapper }) => allowed_mappers === null || allowed_mappers.includes(mapper))
    if (sent.length)
      await sendTo(
        dependencies,
        context.tenant.cell,
        pipeline,
        sent.map(({ observation }) => observation),
      )
    if (next !== null) await context.tx(async (tx) => enqueue(tx, sendQueryResult, { ...payload, from: next }))
  })
