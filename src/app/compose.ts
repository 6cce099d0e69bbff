// Combines the records of modules. They are listed from the bottom of the architecture up: hooks and reference data run in that order, jobs
// and erasers in the reverse.
import { eraseHandler } from '../people/users/user-erasure.ts'
import type { EncryptedColumn } from '../platform/crypto/encrypted-columns.ts'
import type { ConstraintErrors, Db } from '../platform/db/database.ts'
import type { TeamEraser } from '../platform/db/erasure.ts'
import { Hooks, type Hook } from '../platform/db/hooks.ts'
import type { Feature, Option } from '../platform/http/feature-flags.ts'
import type { Operation } from '../platform/http/operation.ts'
import type { BrowserPage } from '../platform/http/browser-pages.ts'
import type { Module, Service } from '../platform/module/module.ts'
import type { EventType } from '../platform/queue/event-type.ts'
import type { Handler } from '../platform/queue/outbox.ts'
import type { Cleanup } from '../platform/queue/retention.ts'
import { teamCleanup } from '../tenancy/teams/team-erasure.ts'

/** The combined contributions of a process's modules. */
export interface Composition {
  modules: readonly Module[]
  operations: Operation[]
  eventTypes: EventType[]
  features: Feature[]
  options: Option[]
  pages: BrowserPage[]
  handlers: Handler[]
  hooks: Hooks
  constraints: ConstraintErrors
  encryptedColumns: EncryptedColumn[]
  teamErasers: TeamEraser[]
  periodicTasks: Cleanup[]
  services: Service[]
  workers: (() => Service)[]
  loadReferenceData: (db: Db, offers: boolean) => Promise<void>
}

/**
 * Combines modules.
 * @throws Error if two have the same name, operation, event type, feature, option, job, constraint or table, or if a name that one refers to is missing
 */
export function compose(modules: readonly Module[]): Composition {
  assertNoneTwice('module', modules, ({ name }) => [name])
  assertNoneTwice('table', modules, ({ tables }) => [
    ...(tables?.ofTeams ?? []),
    ...(tables?.views ?? []),
    ...(tables?.others ?? []),
  ])
  assertNoneTwice('operation', modules, ({ operations = [] }) => operations.map(({ id }) => id))
  assertNoneTwice('event type', modules, ({ eventTypes = [] }) => eventTypes.map(({ name }) => name))
  assertNoneTwice('feature or option', modules, ({ features = [], options = [] }) =>
    [...features, ...options].map(({ name }) => name),
  )
  assertNoneTwice('job', modules, ({ jobs = [] }) => jobs.map(({ job }) => job.name))
  assertNoneTwice('constraint', modules, ({ constraints = {} }) => Object.keys(constraints))
  const fromTop = modules.toReversed()
  const teamErasers = fromTop.flatMap(({ erasers }) => erasers?.team ?? [])
  return {
    modules,
    operations: modules.flatMap(operationsOf),
    eventTypes: modules.flatMap(({ eventTypes = [] }) => eventTypes),
    features: modules.flatMap(({ features = [] }) => features),
    options: modules.flatMap(({ options = [] }) => options),
    pages: modules.flatMap(({ pages = [] }) => pages),
    handlers: [
      ...fromTop.flatMap(({ jobs = [] }) => jobs),
      ...fromTop.flatMap(({ erasers }) => (erasers?.user ? [eraseHandler(erasers.user)] : [])),
    ],
    hooks: new Hooks(inOrder(modules)),
    constraints: Object.assign({}, ...modules.map(({ constraints }) => constraints)),
    encryptedColumns: modules.flatMap(({ encryptedColumns = [] }) => encryptedColumns),
    teamErasers,
    periodicTasks: [...modules.flatMap(({ periodicTasks = [] }) => periodicTasks), teamCleanup(teamErasers)],
    services: modules.flatMap(({ services = [] }) => services),
    workers: modules.flatMap(({ workers = [] }) => workers),
    async loadReferenceData(db, offers) {
      for (const { referenceData } of modules) await referenceData?.(db, offers)
    },
  }
}

function operationsOf({ name, tag, operations = [] }: Module): Operation[] {
  if (operations.length && tag === undefined) throw new Error(`${name} has operations and no tag`)
  return operations.map((operation) => ({ ...operation, module: tag! }))
}

/** Hooks from the bottom up; a hook that names a module comes after the hooks of that module. */
function inOrder(modules: readonly Module[]): Hook[] {
  const late = modules.flatMap(({ hooks = [] }) => hooks.filter(({ runsAfter }) => runsAfter !== undefined))
  const names = new Set(modules.map(({ name }) => name))
  for (const { point, runsAfter } of late)
    if (!names.has(runsAfter!)) throw new Error(`a hook on ${point.name} runs after those of ${runsAfter}, which is not a module`)
  return modules.flatMap(({ name, hooks = [] }) => [
    ...hooks.filter(({ runsAfter }) => runsAfter === undefined),
    ...late.filter(({ runsAfter }) => runsAfter === name),
  ])
}

function assertNoneTwice(kind: string, modules: readonly Module[], namesOf: (module: Module) => string[]): void {
  const seen = new Map<string, string>()
  for (const module of modules)
    for (const name of namesOf(module)) {
      const other = seen.get(name)
      if (other !== undefined) throw new Error(`${other} and ${module.name} both have the ${kind} ${name}`)
      seen.set(name, module.name)
    }
}
