// The methods of the SDK, read from its classes, and which of them have been called with success.
import type { JunctionClient } from '@junction-api/sdk'

type Call = (...args: unknown[]) => PromiseLike<unknown>
type Area = Record<string, Call>

/** The parts of a client by name, such as `user` and `vitals`. */
function areasOf(sdk: JunctionClient): [name: string, area: Area][] {
  const properties = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(sdk) as object))
  const names = properties.filter(([, { get }]) => get !== undefined).map(([name]) => name)
  return names.map((name) => [name, sdk[name as keyof JunctionClient] as unknown as Area])
}

/** A name with underscores is the second half of the method without them. */
const methodsOf = (area: Area): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(area)).filter((name) => name !== 'constructor' && !name.startsWith('__'))

/** Every method, as `user.create`. */
export const methodNames = (sdk: JunctionClient): string[] =>
  areasOf(sdk).flatMap(([name, area]) => methodsOf(area).map((method) => `${name}.${method}`))

/** Adds the name of each method of the client that is called with success. */
export function recordCalls(sdk: JunctionClient, successes: Set<string>): void {
  for (const [name, area] of areasOf(sdk))
    for (const method of methodsOf(area)) {
      const call = area[method]!.bind(area)
      area[method] = (...args) => {
        const reply = call(...args)
        reply.then(
          () => successes.add(`${name}.${method}`),
          () => {},
        )
        return reply
      }
    }
}
