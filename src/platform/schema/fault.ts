// A validation error of a value in a request.
/** One validation error of a request, in the vocabulary of management-auth.md 20.3. */
export interface Fault {
  loc: (string | number)[]
  msg: string
  type: string
  ctx?: Record<string, unknown>
  input?: unknown
}
