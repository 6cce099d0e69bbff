// The header `traceparent` of a request. Source: https://www.w3.org/TR/trace-context/#traceparent-header.

/** What a caller says of its trace: ids in lower-case hexadecimal digits, 32 and 16 of them. */
export interface TraceContext {
  trace_id: string
  span_id: string
  flags: number
}

/** Version, trace, span and flags. Version 00 ends there; later ones may have more, which is ignored. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** The trace of a request; undefined if there is no such header, or it is not well-formed: nothing of it may then reach the log. */
export function parseTraceparent(header: string | string[] | undefined): TraceContext | undefined {
  if (typeof header !== 'string') return undefined
  const [, version, trace_id, span_id, flags, more] = TRACEPARENT.exec(header) ?? []
  if (trace_id === undefined || (version === '00' && more !== undefined)) return undefined
  return { trace_id, span_id: span_id!, flags: Number.parseInt(flags!, 16) }
}
