// What is wrong with a value that somebody sent.
/** One fault of a request, in the vocabulary of management-auth.md 20.3. */
export interface Fault {
  loc: (string | number)[]
  msg: string
  type: string
  ctx?: Record<string, unknown>
  input?: unknown
}
