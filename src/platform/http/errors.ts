// The errors that operations throw.
import { Problem } from '../runtime/problem.ts'
import { missingFault, valueFault, type Fault, type Loc } from '../schema/fault.ts'

/** The response for a team without a feature: it is no failure, even with an error status. */
export class SwitchedOff extends Problem {
  override name = 'SwitchedOff'
}

type Detail = string | Record<string, unknown>

export const badRequest = (detail: Detail) => new Problem(400, { detail })
export const unauthorized = (detail: string, headers: Record<string, string> = {}) => new Problem(401, { detail }, headers)
export const forbidden = (detail: string) => new Problem(403, { detail })
export const notFound = (detail: string) => new Problem(404, { detail })
export const conflict = (detail: Detail) => new Problem(409, { detail })
/** @param retry_after_s sent as whole seconds, at least one */
export const tooManyRequests = (detail: string, retry_after_s: number) =>
  new Problem(429, { detail }, { 'retry-after': String(Math.max(1, Math.ceil(retry_after_s))) })
export const payloadTooLarge = (detail: string) => new Problem(413, { detail })

/** 422 with all validation errors. */
export const unprocessable = (faults: Fault[]) => new Problem(422, { detail: faults })

/** 422 with one error of a rule that a schema cannot express. */
export const invalidField = (loc: Loc, text: string) => unprocessable([valueFault(loc, text)])

/** 422 with one error: a field that other fields require is absent. */
export const missingField = (loc: Loc) => unprocessable([missingFault(loc)])
