// The task of a worker thread: reads what a vendor answers to one pull, and sends what comes of it to the process in parts. Only threads
// import it.
import type { MessagePort } from 'node:worker_threads'
import { askProcess, Unanswered } from '../../platform/runtime/port-calls.ts'
import { VendorError, type PullRequest, type VendorApp, type VendorFailure, type VendorHttp } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import { smallParts } from './small-parts.ts'

/** An answer of a vendor as threads exchange it. */
export interface SentAnswer {
  status: number
  headers: [string, string][]
  text: string
}

/** What the thread asks of the process: a request to the vendor, or that a part is stored. */
export type PullQuestion = { send: Parameters<VendorHttp>[0] } | { store: unknown }

export interface ReadInput {
  port: MessagePort
  provider: string
  app: VendorApp
  access_token: string
  request: PullRequest
  /** The first answers, which the process has: the same requests lead to them. */
  answers: SentAnswer[]
  /** Parts that the process has stored already. */
  storedCount: number
}

/** How the pull ended; null: everything was read. */
export type ReadEnd = { failure: VendorFailure; retry_after_ms: number | null } | null

export default async function readParts({
  port,
  provider,
  app,
  access_token,
  request,
  answers,
  storedCount,
}: ReadInput): Promise<ReadEnd> {
  const known = [...answers]
  const http: VendorHttp = async (request) => {
    const answer = known.shift() ?? ((await askProcess(port, { send: request } satisfies PullQuestion)) as SentAnswer)
    return { ...answer, headers: new Headers(answer.headers) }
  }
  let count = 0
  try {
    for await (const part of connectorOf(provider)!.pull(http, app, access_token, request))
      for (const small of smallParts(part))
        if (++count > storedCount) await askProcess(port, { store: small } satisfies PullQuestion)
    return null
  } catch (error) {
    if (error instanceof Unanswered) return null
    if (!(error instanceof VendorError)) throw error
    return { failure: error.failure, retry_after_ms: error.retry_after_ms }
  } finally {
    port.close()
  }
}
