// What the program consists of, for those who describe it or look something up and run none of it.
import { compose, type Composition } from './compose.ts'
import { modulesOf } from './modules.ts'
import type { ModuleSettings, Process } from './process.ts'

/** Stands for what a process would have: it may be handed on; whoever calls it gets an error. */
const absent: never = new Proxy(() => {}, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => Number.NaN : absent),
  apply() {
    throw new Error('this is part of a process, and none is running')
  },
}) as never

type Known = Partial<Omit<Process, 'settings'>> & { settings?: Partial<ModuleSettings> }

/** The contents of the program, made with what is known of a process; what needs more of it fails when it is run. */
export const contentsWith = (known: Known): Composition =>
  compose(modulesOf(new Proxy(known, { get: (of, name) => Reflect.get(of, name) ?? absent }) as Process))

export const contents: Composition = contentsWith({})
