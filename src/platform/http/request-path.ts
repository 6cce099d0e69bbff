// The path of a request: the form that the router sees, its parameters, and the operations that it has.
import createRouter from 'find-my-way'
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

/** Finds the one of `METHOD /path` that a request means; undefined if it means none. */
export function unimplementedFinder(paths: readonly string[]): (method: string, url: string) => string | undefined {
  const patterns = paths.map((path) => [path, new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)] as const)
  return (method, url) => {
    const request = `${method} ${url
      .split('?', 1)[0]!
      .replace(/\/{2,}/g, '/')
      .replace(/\/$/, '')}`
    return patterns.find(([, pattern]) => pattern.test(request))?.[0]
  }
}

interface RouterOptions {
  ignoreTrailingSlash: boolean
  ignoreDuplicateSlashes: boolean
  maxParamLength: number
}

/** The paths of operations, whatever the method: for requests with a method that no operation has at their path. */
export class KnownPaths {
  readonly #routes: ReadonlyMap<string, Operation[]>
  readonly #options: RouterOptions
  #segments: [segments: string[], methods: string[]][] | undefined
  #router: ReturnType<typeof createRouter> | undefined

  /** @param routes the operations of each path, by the path as the router takes it; complete before the first call */
  constructor(routes: ReadonlyMap<string, Operation[]>, options: RouterOptions) {
    this.#routes = routes
    this.#options = options
  }

  /**
   * The first operation of the path that a request has, the methods of all of them in order, and the parameters; undefined if no operation
   * has the path.
   */
  find(url: string): { operation: Operation; methods: string[]; params: unknown; url: string } | undefined {
    // Made when first needed: most processes reject no such request.
    this.#router ??= this.#allPaths()
    const found = this.#router.find('GET', url)
    const operations = found?.store as Operation[] | undefined
    return operations && { operation: operations[0]!, methods: methodsOf(operations).toSorted(), params: found!.params, url }
  }

  /**
   * The methods with which another path takes some requests that have this path, because no operation of this one has the method. Where
   * two paths match, the one with a fixed segment counts.
   */
  shadowedMethods(route: string): string[] {
    this.#segments ??= [...this.#routes].map(([other, operations]) => [other.split('/'), methodsOf(operations)])
    const segments = route.split('/')
    const found = new Set<string>()
    for (const [others, methods] of this.#segments) if (overlap(segments, others)) for (const method of methods) found.add(method)
    for (const method of methodsOf(this.#routes.get(route)!)) found.delete(method)
    return [...found]
  }

  #allPaths(): ReturnType<typeof createRouter> {
    const router = createRouter(this.#options)
    for (const [route, operations] of this.#routes) router.on('GET', route, () => {}, operations)
    return router
  }
}

const methodsOf = (operations: Operation[]): string[] => operations.map(({ method }) => method)

/** Whether there are paths that both routes match. */
function overlap(segments: readonly string[], others: readonly string[]): boolean {
  const length = Math.min(segments.length, others.length)
  for (let i = 0; i < length; i++) {
    const [one, other] = [segments[i]!, others[i]!]
    if (one === '*' || other === '*') return true
    if (one !== other && !one.startsWith(':') && !other.startsWith(':')) return false
  }
  return segments.length === others.length
}
