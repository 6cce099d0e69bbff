// The path of a request: the form that the router sees, and its parameters.
import { readParams } from './input.ts'
import type { Operation } from './operation.ts'

/** The Management API is also served below `/management`. Source: management-auth.md E5. */
export const normalizeUrl = (url: string, base: string): string =>
  withoutPrefix(url, base).replace(/^\/+management(?=\/+v1\/)/, '')

function withoutPrefix(url: string, base: string): string {
  if (!base || !url.startsWith(base)) return url
  const rest = url.slice(base.length)
  return rest.startsWith('/') || rest === '' ? rest || '/' : url
}

/** A rest parameter takes the remainder of the path as it was sent: clients put ids there unencoded, slashes included. */
export function pathValues(operation: Operation, request: { params: unknown; url: string }): Record<string, string> {
  const values = request.params as Record<string, string>
  const rest = /\{(\w+)\.\.\.\}$/.exec(operation.path)?.[1]
  if (!rest) return values
  const head = operation.path.slice(0, operation.path.indexOf('{') - 1)
  const before = `${head.slice(head.lastIndexOf('/'))}/`
  const path = request.url.split('?', 1)[0]!
  const raw = path.slice(path.indexOf(before) + before.length).replace(/\/+$/, '')
  try {
    return { [rest]: decodeURIComponent(raw) }
  } catch {
    return { [rest]: raw }
  }
}

/** Whether a path could match the operation's: another operation may have a fixed segment where this one has a parameter. */
export function matchesPath(operation: Operation, request: { params: unknown; url: string }): boolean {
  try {
    if (operation.params) readParams(operation.params, pathValues(operation, request))
    return true
  } catch {
    return false
  }
}
