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
  readonly #options: RouterOptions
  readonly #operations = new Map<string, Operation[]>()
  #router: ReturnType<typeof createRouter> | undefined

  constructor(operations: readonly Operation[], options: RouterOptions) {
    this.#options = options
    for (const operation of operations)
      for (const route of this.routesOf(operation))
        this.#operations.set(route, [...(this.#operations.get(route) ?? []), operation])
  }

  /** The paths of an operation as the router takes them. */
  routesOf({ path, aliases = [] }: Operation): string[] {
    return [path, ...aliases].map((route) => route.replace(/\{(\w+)\.\.\.\}/, '*').replace(/\{(\w+)\}/g, ':$1'))
  }

  /** The operations of the path that a request has, and its parameters; undefined if no operation has the path. */
  find(url: string): { operations: readonly Operation[]; params: unknown; url: string } | undefined {
    // Created when it is first needed: many processes serve no requests.
    this.#router ??= this.#createRouter()
    const route = this.#router.find('GET', url)
    return route ? { operations: route.store as Operation[], params: route.params, url } : undefined
  }

  /**
   * Whether a request that was routed to an operation has its path. Where the paths of several operations match, whatever their methods, the
   * one with a fixed segment counts; a router that knows the method finds the other one.
   */
  has(operation: Operation, url: string): boolean {
    return !operation.path.includes('{') || this.find(url)?.operations.includes(operation) === true
  }

  #createRouter(): ReturnType<typeof createRouter> {
    const router = createRouter(this.#options)
    for (const [route, operations] of this.#operations) router.on('GET', route, () => {}, operations)
    return router
  }
}
