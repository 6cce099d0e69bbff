// Validation errors of values in a request, in the vocabulary of management-auth.md 20.3.

/** Where a value is: the part of the request, then names of fields and positions in lists. */
export type Loc = (string | number)[]

export interface Fault {
  loc: Loc
  msg: string
  type: string
  ctx?: Record<string, unknown>
  input?: unknown
}

/** The error of a value that breaks a rule beyond its schema. `text` follows the name of the field: "must be in the future". */
export const valueFault = (loc: Loc, text: string): Fault => ({
  loc,
  msg: `Value error, ${text}`,
  type: 'value_error',
  ctx: { error: {} },
})

/** The error of a required field that is absent. */
export const missingFault = (loc: Loc): Fault => ({ loc, msg: 'Field required', type: 'missing' })
