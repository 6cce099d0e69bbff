// The errors that operations throw.
import type { Sql } from '../db/sql.ts'
import type { Queries } from '../db/transaction.ts'
import { Problem } from '../runtime/problem.ts'
import { type Fault, type Loc, missingFault, valueFault } from '../schema/fault.ts'
import { T } from '../schema/schema.ts'

/** A response that is not a failure of this server, even with status 500 or 503: a disabled feature, a fault that a test asked for. */
export class IntendedProblem extends Problem {
  override name = 'IntendedProblem'
}

/** Closes the connection without a response. */
export class DroppedConnection extends Error {
  override name = 'DroppedConnection'
}

type Detail = string | Record<string, unknown>

export const badRequest = (detail: Detail) => new Problem(400, { detail })
export const unauthorized = (detail: string, headers: Record<string, string> = {}) => new Problem(401, { detail }, headers)
export const forbidden = (detail: string) => new Problem(403, { detail })
export const notFound = (detail: string) => new Problem(404, { detail })
export const conflict = (detail: Detail) => new Problem(409, { detail })
/** @param retry_after_s sent as whole seconds, at least one */
export const tooManyRequests = (detail: string, retry_after_s: number, headers: Record<string, string> = {}) =>
  new Problem(429, { detail }, { ...headers, 'retry-after': String(Math.max(1, Math.ceil(retry_after_s))) })
export const payloadTooLarge = (detail: string) => new Problem(413, { detail })

const JSON_TYPE = 'application/json'

/**
 * Which format of a response the header `Accept` prefers; JSON without the header, and where it admits everything.
 * Errors: 406 it admits none.
 * @param formats media types in addition to JSON
 */
export function acceptedFormat(accept: string | string[] | undefined, formats: readonly string[]): string {
  if (accept === undefined) return JSON_TYPE
  const ranges = String(accept)
    .split(',')
    .map((range) => {
      const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
      const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
      return { name: name === '*/*' || name === 'application/*' ? JSON_TYPE : name, weight }
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
  const known = [JSON_TYPE, ...formats]
  const chosen = ranges.find(({ name }) => known.includes(name))?.name
  if (chosen === undefined) throw new Problem(406, { detail: `The response is available as: ${known.join(', ')}` })
  return chosen
}

/** 422 with all validation errors. */
export const unprocessable = (faults: Fault[]) => new Problem(422, { detail: faults })

/** 422 with one error of a rule that a schema cannot express. */
export const invalidField = (loc: Loc, text: string) => unprocessable([valueFault(loc, text)])

/** 422 with one error: a field that other fields require is absent. */
export const missingField = (loc: Loc) => unprocessable([missingFault(loc)])

const Count = T.Object({ n: T.Integer() })

/**
 * 400: the owner has as many as it may have. The caller holds a lock, so that two concurrent creations cannot both pass.
 * @param count a statement that returns the present number as `n`
 */
export async function assertBelowLimit(
  tx: Pick<Queries, 'one'>,
  count: Sql,
  max: number,
  owner: string,
  things: string,
): Promise<void> {
  const { n } = await tx.one(Count, count)
  if (n >= max) throw badRequest(`${owner} has at most ${max} ${things}`)
}
