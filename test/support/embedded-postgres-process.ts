/**
 * A process that opens the bundled PostgreSQL, for tests that kill it: says on standard output, one JSON line each, what happens;
 * ends with `stop()` when its standard input ends, so it never outlives the test. `process.argv[2]`: the options as JSON.
 */
import { openEmbedded, type Embedded, type EmbeddedOptions } from '../../src/platform/embedded-postgres/embedded-postgres.ts'

type Options = Omit<EmbeddedOptions, 'log'> & { platform?: string }

export type FixtureMessage =
  | ({ is: 'ready'; pid: number; took_ms: number } & Pick<Embedded, 'connection' | 'owner'>)
  | { is: 'failed'; name: string; message: string }
  | { is: 'lost'; message: string }
  | { is: 'log'; message: string }

const send = (message: FixtureMessage) => process.stdout.write(`${JSON.stringify(message)}\n`)
// A test that was killed reads no more, and what it opened has to be stopped all the same.
process.stdout.on('error', () => {})
const { platform, ...options } = JSON.parse(process.argv[2] ?? '{}') as Options
if (platform) Object.defineProperty(process, 'platform', { value: platform })

try {
  const start = performance.now()
  const { connection, owner, stop, connectionLost } = await openEmbedded({
    ...options,
    log: (message) => send({ is: 'log', message }),
  })
  send({ is: 'ready', pid: process.pid, took_ms: Math.round(performance.now() - start), connection, owner })
  void connectionLost.then((message) => send({ is: 'lost', message }))
  process.stdin.resume().once('end', () => void stop().then(() => process.exit(0)))
} catch (error) {
  const { name, message } = error as Error
  send({ is: 'failed', name, message })
  process.exitCode = 1
}
