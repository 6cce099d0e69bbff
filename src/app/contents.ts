// The contents of the program, for code that describes it or looks something up and runs none of it.
import { compose, type Composition } from './compose.ts'
import { modulesOf } from './modules.ts'
import type { ModuleSettings, Process } from './process.ts'

/** A placeholder for a dependency of a process: code may pass it on; calling it throws an error. */
const absent: never = new Proxy(() => {}, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => Number.NaN : absent),
  apply() {
    throw new Error('this is part of a process, and none is running')
  },
}) as never

type Known = Partial<Omit<Process, 'settings'>> & { settings?: Partial<ModuleSettings> }

/** The contents of the program, created with the known dependencies of a process; code that needs more of them fails when it runs. */
export function contentsWith(dependencies: Known): Composition {
  const given: Known = { eventTypes: () => composition.eventTypes, ...dependencies }
  const process = new Proxy(given, { get: (target, name) => Reflect.get(target, name) ?? absent }) as Process
  const composition: Composition = compose(modulesOf(process))
  return composition
}

export const contents: Composition = contentsWith({})

/** Operations of the API that this program does not have yet. The tests compare it with the list of the reference. */
export const unimplementedPaths: readonly string[] = []
