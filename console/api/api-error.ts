// An error response of the API, as pages show it.

/** One entry of a 422 response. */
export interface FieldError {
  /** Where the value is, for example `body.email`. */
  field: string
  message: string
}

/** A response with a status of 400 or more, or no response at all (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** What the server says, without the fields. */
  readonly detail: string
  readonly fields: readonly FieldError[]
  /** For the log of the server; undefined without a response. */
  readonly request_id: string | undefined
  /** Method and path pattern of the operation, without ids. */
  readonly operation: string
  readonly occurred_at: Date = new Date()

  constructor(fields: Pick<ApiError, 'status' | 'detail' | 'fields' | 'request_id' | 'operation'>) {
    super(`${fields.operation}: ${fields.status} ${fields.detail}`)
    this.status = fields.status
    this.detail = fields.detail
    this.fields = fields.fields
    this.request_id = fields.request_id
    this.operation = fields.operation
  }
}

/** What the API says about a value of a form; `body.url` also stands for what is in it. Undefined: nothing. */
export const fieldError = (error: Error | null | undefined, field: string): string | undefined =>
  error instanceof ApiError
    ? error.fields.find((fault) => fault.field === field || fault.field.startsWith(`${field}.`))?.message
    : undefined

/** The error of a response that is not a success. */
export async function readError(response: Response, operation: string): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined)
  const detail = isRecord(body) ? body.detail : undefined
  const fields = Array.isArray(detail) ? detail.flatMap(toFieldError) : []
  return new ApiError({
    status: response.status,
    detail: typeof detail === 'string' ? detail : fields.length ? 'Some values are not valid' : response.statusText || 'Request failed',
    fields,
    request_id: response.headers.get('x-request-id') ?? undefined,
    operation,
  })
}

/** What a 422 response says about a field, for example `body.email`; undefined if it says nothing, and for other errors. */
export const fieldMessage = (error: Error | null, field: string): string | undefined =>
  error instanceof ApiError ? error.fields.find((fault) => fault.field === field)?.message : undefined

/** The error of a request that got no response: the server is not reachable, or the browser is offline. */
export const unreachableError = (operation: string): ApiError =>
  new ApiError({ status: 0, detail: 'The server cannot be reached', fields: [], request_id: undefined, operation })

function toFieldError(entry: unknown): FieldError[] {
  if (!isRecord(entry) || typeof entry.msg !== 'string') return []
  const field = Array.isArray(entry.loc) ? entry.loc.join('.') : ''
  return [{ field, message: entry.msg }]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
