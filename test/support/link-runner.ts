// Carries links in tests as a worker process does, with short pauses.
import { after } from 'node:test'
import { ActiveLinks } from '../../src/lab/link-transports/active-links.ts'
import { LinkRunner, type LinkRunnerOptions } from '../../src/lab/link-transports/link-runner.ts'
import { LinkTroubles } from '../../src/lab/link-transports/link-troubles.ts'
import { MessageReceiver } from '../../src/lab/link-transports/message-receiver.ts'
import { TargetPolicy } from '../../src/platform/net/outbound-targets.ts'
import { createLog } from '../../src/platform/telemetry/log.ts'
import { cells, guard, metrics, vault } from './server.ts'

const log = createLog(process.env.TEST_LOG_LEVEL ?? 'silent')

/** A policy that allows this machine, as an operator can. */
export const localTargets = new TargetPolicy({ allow: ['127.0.0.0/8'], resolve: async () => ['127.0.0.1'] })

/** Starts to carry the links of this file. Ends with the file unless it is stopped before. */
export function startLinkRunner(options: Partial<LinkRunnerOptions> = {}): LinkRunner {
  const links = new ActiveLinks(cells)
  const runner = new LinkRunner({
    cells,
    vault,
    findTenant: guard.tenant,
    links,
    receiver: new MessageReceiver(links, guard.tenant),
    troubles: new LinkTroubles(log, metrics),
    targets: localTargets,
    settings: { lab_folder: undefined },
    log,
    pauses: { first_ms: 50, last_ms: 400 },
    poll_ms: 20,
    ...options,
  })
  runner.start()
  after(() => runner.stop())
  return runner
}
