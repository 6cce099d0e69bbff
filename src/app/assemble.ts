// Assembles a process from its parts: authentication, the modules, their hooks and jobs, and the HTTP server, which does not listen yet.
// The server and the tests use this function.
import type { FastifyInstance } from 'fastify'
import { createGeocoder } from '../visits/geocoding/geocoder.ts'
import { linkGuard } from '../connections/link/link-tokens.ts'
import { isSessionActive } from '../connections/sign-in/phone-sessions.ts'
import { SigningKey } from '../connections/sign-in/signing-key.ts'
import { assertNotDeleted } from '../people/users/users.ts'
import type { AccessLog } from '../platform/access-log/access-log.ts'
import { RequestRecorder } from '../console/request-log/recorder.ts'
import { RecentRequests } from '../sandbox/request-log/recent-requests.ts'
import { createHttp, type HttpOptions } from '../platform/http/server.ts'
import { registerBrowserPages } from '../platform/http/browser-pages.ts'
import type { Module } from '../platform/module/module.ts'
import { coverageOf, type DrawingThreadData } from '../platform/pdf/extra-fonts.ts'
import { JobRunner } from '../platform/queue/job-runner.ts'
import { createWorkerPool, type WorkerPool } from '../platform/runtime/worker-pool.ts'
import { errorFields } from '../platform/telemetry/log.ts'
import { SandboxFaults } from '../sandbox/faults/fault-source.ts'
import { RequestFaults } from '../sandbox/faults/request-faults.ts'
import { ClockMoves } from '../sandbox/clock/clock-lease.ts'
import { isEuropean } from '../settings/cells.ts'
import { createAccess, type Access } from '../tenancy/access/access.ts'
import { compose, type Composition } from './compose.ts'
import { unimplementedPaths } from './contents.ts'
import { modulesOf } from './modules.ts'
import type { Process } from './process.ts'

export interface ProcessOptions
  extends
    Pick<Process, 'cells' | 'vault' | 'log' | 'metrics' | 'settings' | 'targets' | 'product' | 'publicUrl'>,
    Pick<HttpOptions, 'access' | 'base_path' | 'sockets' | 'isDraining' | 'isKnownHost' | 'trusted_proxies' | 'checkReplies'> {
  access: AccessLog
  clocks?: ClockMoves
  /** Additional modules, above all modules of the program. */
  extraModules?: (process: Process) => Module[]
}

export interface AssembledProcess extends Composition {
  guards: Access
  runner: JobRunner
  heavy: WorkerPool
  app: FastifyInstance
}

/** Assembles a process and gives its databases the hooks. Nothing is started. Errors: those of `compose`. */
export function assemble(options: ProcessOptions): AssembledProcess {
  const { cells, vault, log, metrics, settings, access } = options
  const guards = createAccess(cells, vault, settings, {
    isSessionActive: (tenant, user) => isSessionActive(cells.db(tenant.cell), tenant, user),
    publicUrl: options.publicUrl,
  })
  const signingKey = new SigningKey(cells, vault)
  const process: Process = {
    ...options,
    guards,
    signingKey,
    heavy: createWorkerPool({
      idle_ms: settings.thread_idle_ms,
      data: { document_fonts: settings.document_fonts } satisfies DrawingThreadData,
    }),
    covers: coverageOf(settings.document_fonts),
    eventTypes: () => composition.eventTypes,
    runner: () => runner,
    clocks: options.clocks ?? new ClockMoves(),
    faults: new SandboxFaults(cells),
    operationIds: () => operationIds,
    operations: () => operations,
    requests: new RecentRequests(),
    recorder: new RequestRecorder(cells, log),
    locate: createGeocoder({
      url: () => settings.geocoder_url,
      onFailure: (reason) => log.warn({ reason }, 'geocoder request failed'),
    }),
  }
  const composition: Composition = compose([...modulesOf(process), ...(options.extraModules?.(process) ?? [])])
  const { operations, pages, handlers, hooks, constraints } = composition
  const operationIds = new Set(operations.map(({ id }) => id))
  const runner = new JobRunner({ handlers, tenantOf: guards.teams.tenant, log, metrics })
  for (const name of ['control', ...cells.names] as const) {
    const db = name === 'control' ? cells.control : cells.db(name)
    db.hooks = hooks
    db.onError = (error) => log.error({ cell: name, causes: errorFields(error) }, 'call after commit failed')
  }
  const app = createHttp({
    ...options,
    operations,
    guards: {
      team: guards.teams.authenticate,
      management: guards.orgs,
      link: linkGuard({ signingKey, guards }),
      sessions: guards.sessions,
    },
    constraints,
    onEnd(call, response) {
      process.requests.record(call, response)
      if (settings.request_log_days > 0) process.recorder.record(call, response)
    },
    intercept: new RequestFaults(process.faults).intercept,
    bodyMode: ({ cell }) => (isEuropean(cell) ? 'abroad' : 'json'),
    assertShown: assertNotDeleted,
    unimplementedPaths,
  })
  registerBrowserPages(app, pages, { cells, access })
  return { ...composition, guards, runner, heavy: process.heavy, app }
}
